/* Programs (capture/machine.py), which are calls of kernels with all arguments in one piece of memory, and the steps
that programs need besides kernels. One call runs a program. Addresses, sizes and layouts of arrays were checked when
the program was built. Between two runs only the addresses of new arrays change, which come as `base`. */
#include "panels.h"

union argument { int64_t whole; double real; void *place; };

enum { OTHERWISE = 3 };                        /* a step returns this if the program is not valid for the numbers */

/* entries.c: the kernels and steps by their numbers (table.py). */
typedef int64_t (*entry)(const union argument *);
extern const struct replayed { entry run; int64_t count; } replayed[];
extern const int64_t replayed_count;

/* A word of a program that becomes the address of array number `base` plus `offset` bytes. */
struct fix { int64_t word, base, offset; };

/* Runs `calls` calls in words [first, size) of a program. Each call is the number of a kernel, the number of its words
of arguments, and these words. If a call fails, 4 * (number of the call) + (its result) is returned. */
static int64_t replay(int64_t threads, int64_t calls, int64_t first, int64_t size, int64_t fixes, int64_t bases,
                      int64_t *program, const int64_t *fix, const int64_t *base)
{
    const struct fix *f = (const struct fix *)fix;
    int64_t at = first;
    for (int64_t i = 0; i < fixes; i++, f++) {
        if (f->word < 0 || f->word >= size || f->base < 0 || f->base >= bases)
            return OUTSIDE;
        program[f->word] = base[f->base] ? base[f->base] + f->offset : 0;
    }
    for (int64_t i = 0; i < calls; i++) {
        if (at + 3 > size || program[at] < 0 || program[at] >= replayed_count)
            return 4 * i + OUTSIDE;
        const struct replayed *r = replayed + program[at];
        const int64_t count = program[at + 1];
        if (count < 1 || at + 2 + count > size || (r->count >= 0 ? count != r->count : count < -r->count))
            return 4 * i + OUTSIDE;
        program[at + 2] = threads;
        const int64_t failed = r->run((const union argument *)(program + at + 2));
        if (failed)
            return 4 * i + failed;
        at += 2 + count;
    }
    return 0;
}

KERNEL int64_t enter_replay(const union argument *a)
{
    return replay(a[0].whole, a[1].whole, a[2].whole, a[3].whole, a[4].whole, a[5].whole, a[6].place, a[7].place,
                  a[8].place);
}

/* Writes n zero bytes: n, to. */
int64_t step_zero(const union argument *a)
{
    if (a[1].whole > 0)
        memset(a[2].place, 0, a[1].whole);
    return 0;
}

/* Copies a float to a number argument of another call: from, to. */
int64_t step_number(const union argument *a)
{
    *(double *)a[2].place = *(const float *)a[1].place;
    return 0;
}

/* Adds a number to whole numbers: n, addend, from, to. */
int64_t step_count(const union argument *a)
{
    const int64_t *from = a[3].place, by = a[2].whole;
    int64_t *to = a[4].place;
    for (int64_t i = 0; i < a[1].whole; i++)
        to[i] = (int64_t)((uint64_t)from[i] + (uint64_t)by);
    return 0;
}

/* Ends a program that relies on n floats without NaN, if there is one: n, from. */
int64_t step_no_nan(const union argument *a)
{
    const float *x = a[2].place;
    int some = 0;
    TOTAL(|, some)
    for (int64_t i = 0; i < a[1].whole; i++)
        some |= x[i] != x[i];
    return some ? OTHERWISE : 0;
}

struct run_copied { const char *from; char *to; };

static void some_bytes(const void *args, int64_t first, int64_t last)
{
    const struct run_copied *r = args;
    memcpy(r->to + first, r->from + first, last - first);
}

/* Copies n contiguous bytes: n, from, to. */
int64_t step_run(const union argument *a)
{
    const struct run_copied r = {a[2].place, a[3].place};
    if (a[1].whole < 1)
        return 0;
    if (a[1].whole < 1 << 16)
        memmove(a[3].place, a[2].place, a[1].whole);
    else if (r.from != r.to)
        share(a[0].whole, a[1].whole, 1 << 18, some_bytes, &r);
    return 0;
}

/* Copies elements between any layouts: the size of an element in bytes, from, to, the number of dimensions, and for
each dimension its size and its strides in bytes, from and to. */
struct moved { int64_t size, dims; const char *from; char *to; const union argument *d; };

#define MOVED(type)                                                                                                   \
    for (int64_t j = 0; j < inner; j++)                                                                               \
        for (int64_t i = 0; i < n; i++)                                                                               \
            *(type *)(to + j * to_line + i * to_step) = *(const type *)(from + j * from_line + i * from_step);

INLINE void moved_lines(int64_t size, int64_t inner, int64_t n, const char *from, int64_t from_line, int64_t from_step,
                        char *to, int64_t to_line, int64_t to_step)
{
    if (from_step == size && to_step == size && n >= 64) {
        for (int64_t j = 0; j < inner; j++)
            memcpy(to + j * to_line, from + j * from_line, n * size);
    } else if (size == 4) {
        if (from_step == 4 && to_step == 4) {
            MOVED(uint32_t)
        } else if (!from_step && to_step == 4) {
            for (int64_t j = 0; j < inner; j++) {
                const uint32_t one = *(const uint32_t *)(from + j * from_line);
                uint32_t *line = (uint32_t *)(to + j * to_line);
                for (int64_t i = 0; i < n; i++)
                    line[i] = one;
            }
        } else {
            MOVED(uint32_t)
        }
    } else if (size == 8) {
        MOVED(uint64_t)
    } else if (size == 2) {
        MOVED(uint16_t)
    } else {
        MOVED(uint8_t)
    }
}

/* Pieces are numbered over all dimensions except the last two. */
static void some_moved(const void *args, int64_t first, int64_t last)
{
    const struct moved *m = args;
    const union argument *d = m->d;
    const int64_t lines = m->dims - 2;
    for (int64_t k = first; k < last; k++) {
        const char *from = m->from;
        char *to = m->to;
        int64_t rest = k;
        for (int64_t i = lines - 1; i >= 0; i--) {
            const int64_t at = rest % d[3 * i].whole;
            rest /= d[3 * i].whole;
            from += at * d[3 * i + 1].whole;
            to += at * d[3 * i + 2].whole;
        }
        const union argument *e = d + 3 * lines;
        /* Tiles keep the lines of memory that are read or written across in the cache. */
        const int64_t inner = e[0].whole, n = e[3].whole, side = e[4].whole == e[5].whole ? inner : 16;
        for (int64_t j = 0; j < inner; j += side) {
            const int64_t high = inner - j < side ? inner - j : side;
            moved_lines(m->size, high, n, from + j * e[1].whole, e[1].whole, e[4].whole, to + j * e[2].whole, e[2].whole,
                        e[5].whole);
        }
    }
}

int64_t step_move(const union argument *a)
{
    const struct moved m = {a[1].whole, a[4].whole, a[2].place, a[3].place, a + 5};
    int64_t count = 1;
    for (int64_t i = 0; i < m.dims - 2; i++)
        count *= m.d[3 * i].whole;
    const int64_t each = m.d[3 * m.dims - 6].whole * m.d[3 * m.dims - 3].whole;
    share(a[0].whole, count, rows_in_piece(each), some_moved, &m);
    return 0;
}

/* Products that are too small for panels, or have few terms: c (m, n) = a (m, k) @ b (k, n) + bias, where a and b may
be stored transposed: ta tb m n k lda ldb relu a b bias c. With `relu`, negative results become zero. */
struct small { int64_t ta, tb, m, n, k, lda, ldb, relu; const float *a, *b, *bias; float *c; };

#define PACKED 4096                            /* so many numbers of a matrix are transposed first */

INLINE float small_dot(int64_t k, const float *restrict x, int64_t step, const float *restrict y)
{
    float s = 0;
    int64_t l = 0;
    if (step == 1) {
        vec p = {0}, q = {0}, r = {0}, t = {0};
        for (; l + 4 * LANES <= k; l += 4 * LANES) {
            p += load(x + l) * load(y + l);
            q += load(x + l + LANES) * load(y + l + LANES);
            r += load(x + l + 2 * LANES) * load(y + l + 2 * LANES);
            t += load(x + l + 3 * LANES) * load(y + l + 3 * LANES);
        }
        for (; l + LANES <= k; l += LANES)
            p += load(x + l) * load(y + l);
        s = total_of((p + q) + (r + t));
    }
    for (; l < k; l++)
        s += x[l * step] * y[l];
    return s;
}

/* A row of the result, where the rows of b are contiguous. */
INLINE void small_row(int64_t n, int64_t k, const float *restrict x, int64_t step, const float *restrict b, int64_t ldb,
                      const float *restrict bias, float *restrict row)
{
    int64_t l = k % 4;
    if (!l && k)
        l = 4;
    if (l == 4) {
        const float x0 = x[0], x1 = x[step], x2 = x[2 * step], x3 = x[3 * step];
        SPAN
        for (int64_t j = 0; j < n; j++)
            row[j] = x0 * b[j] + x1 * b[ldb + j] + (x2 * b[2 * ldb + j] + x3 * b[3 * ldb + j]);
    } else if (l == 3) {
        const float x0 = x[0], x1 = x[step], x2 = x[2 * step];
        SPAN
        for (int64_t j = 0; j < n; j++)
            row[j] = x0 * b[j] + x1 * b[ldb + j] + x2 * b[2 * ldb + j];
    } else if (l == 2) {
        const float x0 = x[0], x1 = x[step];
        SPAN
        for (int64_t j = 0; j < n; j++)
            row[j] = x0 * b[j] + x1 * b[ldb + j];
    } else if (l == 1) {
        const float x0 = x[0];
        SPAN
        for (int64_t j = 0; j < n; j++)
            row[j] = x0 * b[j];
    } else
        memset(row, 0, n * sizeof(float));
    for (; l + 4 <= k; l += 4) {
        const float *restrict at = b + l * ldb;
        const float x0 = x[l * step], x1 = x[(l + 1) * step], x2 = x[(l + 2) * step], x3 = x[(l + 3) * step];
        SPAN
        for (int64_t j = 0; j < n; j++)
            row[j] = row[j] + (x0 * at[j] + x1 * at[ldb + j] + (x2 * at[2 * ldb + j] + x3 * at[3 * ldb + j]));
    }
    for (int64_t j = 0; j < n && bias; j++)
        row[j] += bias[j];
}

/* A row of the result that has one term: a row of b times a number. All vectors but the first and the last begin at
addresses of whole vectors, because stores across two lines of the cache take twice as long. */
INLINE void scaled_row(int64_t n, float x, const float *restrict b, float *restrict row)
{
    const vec by = x - (vec){0};
    store(row, by * load(b));
    for (int64_t j = (int64_t)(-(intptr_t)row & (sizeof(vec) - 1)) / 4; j + LANES <= n; j += LANES)
        store(row + j, by * load(b + j));
    store(row + n - LANES, by * load(b + n - LANES));
}

/* Rows of the result, where b fits in a few panels. How a number is computed does not depend on the rows, which threads
share. */
static void small_panels(const struct small *s, int64_t by_row, int64_t by_term, int64_t first, int64_t last)
{
    const int64_t span = span_of(s->n), packs = s->tb || s->n % LANES;
    ALIGNED float memory[PACKED];
    for (int64_t j = 0; j < s->n; j += span) {
        const int64_t width = width_of(s->n, j), whole = packed_size(1, width);
        struct panel p = {s->k, width, by_row, by_row, by_term, packs ? whole : s->ldb, s->n, 0, 0, s->a, s->b + j, s->c + j};
        if (packs) {
            p.b = memory;
            if (s->tb)
                pack_columns(s->k, j, width, s->b, s->ldb, 0, s->n, memory);
            else
                pack_rows(s->k, j, width, s->b, s->ldb, memory);
        }
        times_panel(&p, first, last);
    }
}

static void small_rows(const void *args, int64_t first, int64_t last)
{
    const struct small *s = args;
    const int64_t n = s->n, k = s->k, by_row = s->ta ? 1 : s->lda, by_term = s->ta ? s->lda : 1;
    if (k == 1 && n >= 2 * LANES && (!s->tb || s->ldb == 1) && !s->bias && !s->relu) {
        for (int64_t i = first; i < last; i++)
            scaled_row(n, s->a[i * by_row], s->b, s->c + i * n);
        return;
    }
    const int in_panels = packed_size(k, n) <= PACKED && k > 0 && (s->m > 1 || (!s->tb && n % LANES == 0));
    if (in_panels)
        small_panels(s, by_row, by_term, first, last);
    for (int64_t i = first; i < last; i++) {
        const float *restrict x = s->a + i * by_row;
        float *restrict row = s->c + i * n;
        if (in_panels)
            for (int64_t j = 0; j < n && s->bias; j++)
                row[j] += s->bias[j];
        else if (!s->tb)
            small_row(n, k, x, by_term, s->b, s->ldb, s->bias, row);
        else
            for (int64_t j = 0; j < n; j++)
                row[j] = small_dot(k, x, by_term, s->b + j * s->ldb) + (s->bias ? s->bias[j] : 0);
        for (int64_t j = 0; j < n && s->relu; j++)
            row[j] = row[j] < 0 ? 0 : row[j];
    }
}

int64_t step_small(const union argument *a)
{
    const struct small s = {a[1].whole, a[2].whole, a[3].whole, a[4].whole, a[5].whole, a[6].whole, a[7].whole, a[8].whole,
                            a[9].place, a[10].place, a[11].place, a[12].place};
    const int64_t m = a[3].whole, each = s.n * s.k;
    share(a[0].whole, m, each < 1 ? m + 1 : 1 + (1 << 18) / each, small_rows, &s);
    return 0;
}

#if LANES > 1
static const int32_t first_lanes[2 * LANES] = {
    -1, -1, -1, -1,
#if LANES > 4
    -1, -1, -1, -1,
#endif
#if LANES > 8
    -1, -1, -1, -1, -1, -1, -1, -1,
#endif
};

#define TERM(sum, j) sum += load(x + (j) * LANES) * load(y + (j) * LANES);

/* What is the same for rows that begin `ahead` floats before an address of a whole vector: the lanes of a vector that lie
before its first element, and x there, in the first vector and in the one that the last one reaches into. */
struct turn { int64_t ahead; mask lanes; vec first, last; };

/* `ends`: zeros, the first vector of x, the last one, zeros. */
INLINE void turn_by(struct turn *t, int64_t ahead, const float *ends)
{
    t->ahead = ahead;
    memcpy(&t->lanes, first_lanes + ahead, sizeof t->lanes);
    t->first = load(ends + ahead);
    t->last = load(ends + 2 * LANES + ahead);
}

/* The lanes of the sum of x[l] * y[l] over `count` vectors, at least 8. Vector j is added to sum j % 8. Loads across two
lines of the cache take twice as long, so y is read in vectors that begin at addresses of whole vectors, the first of them
before y. These have other lanes: the first elements of one vector and the last ones of the vector before it are together,
and are added to the sum of one or the other. The sums are added in an order that is the same if each of them is the next
one, and `total_of` gives the same for lanes that are turned. So the result does not depend on the address of y, and
`ahead` may be 0 for any address. */
INLINE vec dot_of_vectors(int64_t count, const float *restrict x, const float *restrict y, const struct turn *turn)
{
    vec p, q = {0}, r = {0}, s = {0}, t = {0}, u = {0}, v = {0}, w = {0};
    const int64_t rest = count % 8;
    if (turn->ahead) {
        x += turn->ahead;
        y += turn->ahead;
        p = turn->first * (vec)(~turn->lanes & (mask)load(y - LANES));
    } else {
        p = load(x) * load(y);
        x += LANES;
        y += LANES;
    }
    TERM(q, 0)
    TERM(r, 1)
    TERM(s, 2)
    TERM(t, 3)
    TERM(u, 4)
    TERM(v, 5)
    TERM(w, 6)
    x += 7 * LANES;
    y += 7 * LANES;
    for (int64_t n = count / 8; n > 1; n--, x += 8 * LANES, y += 8 * LANES) {
        TERM(p, 0)
        TERM(q, 1)
        TERM(r, 2)
        TERM(s, 3)
        TERM(t, 4)
        TERM(u, 5)
        TERM(v, 6)
        TERM(w, 7)
    }
    if (rest > 0)
        TERM(p, 0)
    if (rest > 1)
        TERM(q, 1)
    if (rest > 2)
        TERM(r, 2)
    if (rest > 3)
        TERM(s, 3)
    if (rest > 4)
        TERM(t, 4)
    if (rest > 5)
        TERM(u, 5)
    if (rest > 6)
        TERM(v, 6)
    if (turn->ahead) {
        const mask last = turn->lanes & (mask)load(y + rest * LANES);
        if (rest == 0)
            p += turn->last * (vec)last;
        else if (rest == 1)
            q += turn->last * (vec)last;
        else if (rest == 2)
            r += turn->last * (vec)last;
        else if (rest == 3)
            s += turn->last * (vec)last;
        else if (rest == 4)
            t += turn->last * (vec)last;
        else if (rest == 5)
            u += turn->last * (vec)last;
        else if (rest == 6)
            v += turn->last * (vec)last;
        else
            w += turn->last * (vec)last;
    }
    return ((p + t) + (r + v)) + ((q + u) + (s + w));
}
#endif

/* One row times a matrix that is stored transposed, whose rows threads share: n, k, ldb, relu, a, b, bias, c. */
static void some_dots(const void *args, int64_t first, int64_t last)
{
    const struct small *s = args;
    const float *restrict x = s->a;
    const float least = s->relu ? 0 : -INFINITY;
    const int64_t k = s->k;
#if LANES > 1
    const int64_t count = k / LANES, whole = count * LANES;
    ALIGNED float ends[4 * LANES] = {0}, memory[PACKED];
    struct turn turn = {0};
    if (count) {
        store(ends + LANES, load(x));
        store(ends + 2 * LANES, load(x + whole - LANES));
    }
    /* If all rows begin at the same place of a vector, so does a copy of x, and its loads are of whole vectors too. */
    if (s->ldb % LANES == 0 && k <= PACKED - LANES && last - first >= 16) {
        float *copy = memory + ((intptr_t)s->b & (sizeof(vec) - 1)) / 4;
        memcpy(copy, x, k * sizeof(float));
        x = copy;
    }
#endif
    for (int64_t j = first; j < last; j++) {
        const float *restrict y = s->b + j * s->ldb;
        float sum;
#if LANES > 1
        if (count >= 8) {
            /* whole vectors of the first and the last row would reach out of the matrix */
            const int inner = j > 0 && j < s->n - 1 && s->ldb >= LANES;
            const int64_t ahead = inner ? (int64_t)(-(intptr_t)y & (sizeof(vec) - 1)) / 4 : 0;
            if (ahead != turn.ahead)
                turn_by(&turn, ahead, ends);
            sum = total_of(dot_of_vectors(count, x, y, &turn));
            float rest = 0;                    /* apart from the sum of the vectors, for which it need not wait */
            for (int64_t l = whole; l < k; l++)
                rest += x[l] * y[l];
            sum += rest;
        } else
#endif
            sum = small_dot(k, x, 1, y);
        sum += s->bias ? s->bias[j] : 0;
        s->c[j] = sum < least ? least : sum;   /* without a branch, which no processor foresees */
    }
}

int64_t step_row(const union argument *a)
{
    const struct small s = {0, 1, 1, a[1].whole, a[2].whole, 0, a[3].whole, a[4].whole, a[5].place, a[6].place, a[7].place,
                            a[8].place};
    share(a[0].whole, s.n, rows_in_piece(s.k), some_dots, &s);
    return 0;
}
