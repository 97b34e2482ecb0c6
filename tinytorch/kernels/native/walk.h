/* The machine of elementwise.c for one type of numbers. elementwise.c includes it for float and for double, with
NUMBER, NAMED and OPERATIONS set. */

#define OPERANDS int64_t n, NUMBER *d, const NUMBER *a, const NUMBER *b, const NUMBER *c, const NUMBER *e
typedef void NAMED(operation)(OPERANDS);

/* The smaller of two numbers: NaN if one is NaN, the second one if they are equal. */
INLINE NUMBER NAMED(least)(NUMBER x, NUMBER y)
{
    const NUMBER less = x < y ? x : y;         /* what processors have */
    return x != x ? x : less;
}

INLINE NUMBER NAMED(most)(NUMBER x, NUMBER y)
{
    const NUMBER more = x > y ? x : y;
    return x != x ? x : more;
}

/* z, limited by two numbers of which none is NaN; z itself if it is equal to a limit. */
INLINE NUMBER NAMED(within)(NUMBER low, NUMBER high, NUMBER z)
{
    const NUMBER more = low > z ? low : z;
    return high < more ? high : more;
}

/* A product that Clang rounds, because it is a statement of its own. */
INLINE NUMBER NAMED(times)(NUMBER x, NUMBER y)
{
    return x * y;
}

/* A function for each operation, for a run whose length is a multiple of 16. */
#define OPERATION(name, value)                                                                                        \
    static void NAMED(name##_run)(OPERANDS)                                                                           \
    {                                                                                                                 \
        n &= -16;                                                                                                     \
        SPAN                                                                                                          \
        for (int64_t i = 0; i < n; i++) {                                                                             \
            const NUMBER x = a[i], y = b[i], z = c[i], w = e[i];                                                      \
            (void)y, (void)z, (void)w;                                                                                \
            d[i] = (NUMBER)(value);                                                                                   \
        }                                                                                                             \
    }

/* The same, without instructions that multiply and add. */
#define APART(name, value) UNFUSED OPERATION(name, value)

/* The same, where some operands (`odd`) need `exact`, which cannot be vectorised. */
#define REPAIRED(name, value, odd, exact)                                                                             \
    static void NAMED(name##_run)(OPERANDS)                                                                           \
    {                                                                                                                 \
        int some = 0;                                                                                                 \
        (void)c, (void)e;                                                                                             \
        n &= -16;                                                                                                     \
        TOTAL(|, some)                                                                                                \
        for (int64_t i = 0; i < n; i++) {                                                                             \
            const NUMBER x = a[i], y = b[i];                                                                          \
            (void)y;                                                                                                  \
            some |= (odd);                                                                                            \
        }                                                                                                             \
        if (some)                                                                                                     \
            for (int64_t i = 0; i < n; i++) {                                                                         \
                const NUMBER x = a[i], y = b[i];                                                                      \
                (void)y;                                                                                              \
                d[i] = (NUMBER)((odd) ? (exact) : (value));                                                           \
            }                                                                                                         \
        else                                                                                                          \
            SPAN                                                                                                      \
            for (int64_t i = 0; i < n; i++) {                                                                         \
                const NUMBER x = a[i], y = b[i];                                                                      \
                (void)y;                                                                                              \
                d[i] = (NUMBER)(value);                                                                               \
            }                                                                                                         \
    }

/* The same for a long function, in two loops over a few elements. Processors compute several elements at once, which they
cannot where they do not see the end of the first one. */
#define IN_TWO(name, first, second)                                                                                   \
    static void NAMED(name##_run)(OPERANDS)                                                                           \
    {                                                                                                                 \
        enum { FEW = 64 };                                                                                            \
        ALIGNED double parts[FEW];                                                                                    \
        (void)b, (void)c, (void)e;                                                                                    \
        for (int64_t i = 0; i < n; i += FEW) {                                                                        \
            const int64_t run = (n - i < FEW ? n - i : FEW) & -16;                                                    \
            SPAN                                                                                                      \
            for (int64_t j = 0; j < run; j++) {                                                                       \
                const NUMBER x = a[i + j];                                                                            \
                parts[j] = (first);                                                                                   \
            }                                                                                                         \
            SPAN                                                                                                      \
            for (int64_t j = 0; j < run; j++) {                                                                       \
                const NUMBER x = a[i + j];                                                                            \
                const double part = parts[j];                                                                         \
                d[i + j] = (NUMBER)(second);                                                                          \
            }                                                                                                         \
        }                                                                                                             \
    }
OPERATIONS
#undef OPERATION
#undef APART
#undef REPAIRED
#undef IN_TWO

#define OPERATION(name, value) NAMED(name##_number),
#define APART(name, value) OPERATION(name, value)
#define REPAIRED(name, value, odd, exact) OPERATION(name, value)
#define IN_TWO(name, first, second) OPERATION(name, second)
enum {OPERATIONS};
#undef OPERATION

#define OPERATION(name, value) NAMED(name##_run),
static NAMED(operation) *const NAMED(all)[] = {OPERATIONS};
#undef OPERATION

#define OPERATION(name, value) #name " "
KERNEL const char *NAMED(operations)(void)
{
    return OPERATIONS;
}
#undef OPERATION
#undef APART
#undef REPAIRED
#undef IN_TWO
#undef OPERANDS

struct NAMED(walk) {
    const NUMBER *given[GIVEN];
    NUMBER *out;
    const struct program *program;
    NUMBER constants[CONSTANTS];
};

/* Copies elements `first` to `first + run` of an operand that is broadcast along some dimensions. */
static void NAMED(spread)(const struct program *p, int operand, const NUMBER *from, int64_t first, int64_t run, NUMBER *to)
{
    int64_t at[DIMENSIONS], place = 0;
    for (int64_t d = p->dims - 1, rest = first; d >= 0; d--) {
        at[d] = rest % p->sizes[d];
        rest /= p->sizes[d];
        place += at[d] * p->strides[operand][d];
    }
    const int64_t last = p->dims - 1, step = p->strides[operand][last];
    while (run > 0) {
        const int64_t left = p->sizes[last] - at[last], length = left < run ? left : run;
        if (step)
            memcpy(to, from + place, length * sizeof(NUMBER));
        else
            for (int64_t i = 0; i < length; i++)
                to[i] = from[place];
        to += length;
        run -= length;
        place += length * step;
        at[last] += length;
        for (int64_t d = last; d > 0 && at[d] == p->sizes[d]; d--) {
            at[d] = 0;
            place += p->strides[operand][d - 1] - p->sizes[d] * p->strides[operand][d];
            at[d - 1]++;
        }
    }
}

/* Computes elements `first` to `last`, block by block. The last few operands are copied, so that the same instructions
compute every element of a result, at any position. */
static void NAMED(walked)(const void *args, int64_t first, int64_t last)
{
    const struct NAMED(walk) *w = args;
    const struct program *p = w->program;
    enum { SIZE = BLOCK / sizeof(NUMBER), ROOM = SIZE + APART / sizeof(NUMBER) };
    ALIGNED NUMBER registers[REGISTERS][ROOM], spread[GIVEN][ROOM], constants[CONSTANTS][ROOM], block[ROOM], result[16];
    const int64_t filled = last - first < SIZE ? (last - first + 15) & -16 : SIZE;
    for (int64_t k = 0; k < p->count; k++)
        for (int64_t i = 0; i < filled && p->used[k]; i++)
            constants[k][i] = w->constants[k];
    for (int k = 0; k < GIVEN; k++)
        for (int64_t i = 0; i < filled && p->single[k]; i++)
            spread[k][i] = *w->given[k];
    const int64_t begun = (64 - (uintptr_t)(w->out + first) % 64) % 64 / sizeof(NUMBER);   /* before a line of memory */
    const NUMBER *sources[REGISTERS + GIVEN + CONSTANTS];
    NUMBER *targets[REGISTERS + 1];
    for (int64_t k = 0; k < REGISTERS; k++)
        sources[k] = targets[k] = registers[k];
    for (int64_t k = 0; k < CONSTANTS; k++)
        sources[REGISTERS + GIVEN + k] = constants[k];
    for (int64_t i = first, run; i < last; i += run) {
        run = last - i < SIZE ? last - i : SIZE;
        if (p->past && i == first && run > begun && begun)
            run = begun;
        run = run < 16 ? run : run & -16;
        for (int k = 0; k < GIVEN; k++)
            if (!p->whole[k]) {
                if (w->given[k] && !p->single[k])
                    NAMED(spread)(p, k, w->given[k], i, run, spread[k]);
                sources[REGISTERS + k] = spread[k];
            } else if (run < 16) {
                memcpy(spread[k], w->given[k] + i, run * sizeof(NUMBER));
                sources[REGISTERS + k] = spread[k];
            } else {
                sources[REGISTERS + k] = w->given[k] + i;
                for (int64_t j = i + SIZE; p->ahead && j < i + 2 * SIZE && j < last; j += 64 / sizeof(NUMBER))
                    AHEAD(w->given[k] + j);
            }
        if (run < 16)
            for (int k = 0; k < GIVEN; k++)
                for (int64_t j = run; j < 16 && w->given[k] && !p->single[k]; j++)
                    spread[k][j] = spread[k][0];
        targets[REGISTERS] = run < 16 ? result : p->past ? block : w->out + i;
        for (int64_t j = i; p->ahead && !p->past && j < i + run; j += 64 / sizeof(NUMBER))
            AHEAD_TO_WRITE(w->out + j);        /* while the steps before the last one are computed */
        for (const struct step *s = p->steps; s < p->steps + p->length; s++)
            if (!s->once || i == first)
                NAMED(all)[s->operation](s->once ? filled : run < 16 ? 16 : run, targets[s->to], sources[s->a],
                                         sources[s->b], sources[s->c], sources[s->e]);
        if (run < 16)
            memcpy(w->out + i, result, run * sizeof(NUMBER));
        else if (p->past)
            copy_bytes_of((char *)(w->out + i), (const char *)block, run * sizeof(NUMBER), 1);
    }
}

static int64_t NAMED(begin)(int64_t threads, int64_t n, int64_t size, const int64_t *sizes, const double *numbers,
                            const place *plan, const NUMBER *const *given, NUMBER *out)
{
    struct program p;
    struct NAMED(walk) w;
    if (!read_program(&p, n, size, sizes, plan, sizeof NAMED(all) / sizeof *NAMED(all)))
        return OUTSIDE;
    p.past = n * (int64_t)sizeof(NUMBER) >= PAST;
    for (int k = 0; k < GIVEN; k++) {
        w.given[k] = given[k];
        p.past &= given[k] != out;             /* what has been read is in a cache */
    }
    for (int k = 0; k < NUMBERS; k++)
        w.constants[k] = (NUMBER)numbers[k];
    for (int64_t k = NUMBERS; k < p.count; k++)
        w.constants[k] = (NUMBER)p.literals[k - NUMBERS];
    w.out = out;
    w.program = &p;
    int64_t light = p.length < 5;              /* a few operations of those that processors have */
    for (int64_t k = 0; k < p.length; k++)
        light &= p.steps[k].operation <= NAMED(sqrt_number);
    share(threads, n, light ? LIGHT_PIECE / 2 : 16384, NAMED(walked), &w);
    return 0;
}

struct NAMED(fusion) {
    int64_t dims, operands, results, numbers, steps;
    const union argument *sizes, *operand, *result, *number, *step;
};

/* Copies elements from `first` on of an operand in any layout. */
static void NAMED(fetch)(const struct NAMED(fusion) *f, const union argument *operand, int64_t first, int64_t run,
                         NUMBER *to)
{
    const int flag = operand[0].whole & FLAG;
    const union argument *strides = operand + 2;
    const char *from = operand[1].place;
    int64_t at[DIMENSIONS], place = 0;
    for (int64_t d = f->dims - 1, rest = first; d >= 0; d--) {
        at[d] = rest % f->sizes[d].whole;
        rest /= f->sizes[d].whole;
        place += at[d] * strides[d].whole;
    }
    const int64_t last = f->dims - 1, step = strides[last].whole;
    while (run > 0) {
        const int64_t left = f->sizes[last].whole - at[last], length = left < run ? left : run;
        if (flag)
            for (int64_t i = 0; i < length; i++)
                to[i] = ((const uint8_t *)from)[place + i * step];
        else if (step == 1)
            memcpy(to, (const NUMBER *)from + place, length * sizeof(NUMBER));
        else
            for (int64_t i = 0; i < length; i++)
                to[i] = ((const NUMBER *)from)[place + i * step];
        to += length;
        run -= length;
        place += length * step;
        at[last] += length;
        for (int64_t d = last; d > 0 && at[d] == f->sizes[d].whole; d--) {
            at[d] = 0;
            place += strides[d - 1].whole - f->sizes[d].whole * strides[d].whole;
            at[d - 1]++;
        }
    }
}

/* Computes elements `first` to `last`, block by block, like `walked`. */
static void NAMED(fused)(const void *args, int64_t first, int64_t last)
{
    const struct NAMED(fusion) *f = args;
    enum { SIZE = BLOCK / sizeof(NUMBER), ROOM = SIZE + APART / sizeof(NUMBER) };
    ALIGNED NUMBER registers[REGISTERS][ROOM], fetched[MOST_OPERANDS][ROOM], numbers[MOST_NUMBERS][ROOM],
        flags[MOST_FLAGS][ROOM], ends[MOST_RESULTS][16];
    const int64_t filled = last - first < SIZE ? (last - first + 15) & -16 : SIZE, pitch = 2 + f->dims;
    const NUMBER *sources[SOURCES];
    NUMBER *targets[RESULTS_AT + MOST_RESULTS];
    for (int k = 0; k < REGISTERS; k++)
        sources[k] = targets[k] = registers[k];
    for (int64_t k = 0; k < f->numbers; k++) {
        for (int64_t i = 0; i < filled; i++)
            numbers[k][i] = (NUMBER)f->number[k].real;
        sources[NUMBERS_AT + k] = numbers[k];
    }
    for (int64_t k = 0; k < f->operands; k++) {
        const union argument *operand = f->operand + k * pitch;
        const int64_t kind = operand[0].whole;
        sources[OPERANDS_AT + k] = fetched[k];
        if ((kind & ~FLAG) == SINGLE) {
            const NUMBER one = kind & FLAG ? (NUMBER) * (const uint8_t *)operand[1].place : *(const NUMBER *)operand[1].place;
            for (int64_t i = 0; i < filled; i++)
                fetched[k][i] = one;
        }
    }
    for (int64_t i = first, run; i < last; i += run) {
        run = last - i < SIZE ? last - i : SIZE;
        run = run < 16 ? run : run & -16;
        const int64_t whole = run < 16 ? 16 : run;
        for (int64_t k = 0; k < f->operands; k++) {
            const union argument *operand = f->operand + k * pitch;
            const int64_t kind = operand[0].whole;
            if (kind == IN_A_ROW && run == whole) {
                sources[OPERANDS_AT + k] = (const NUMBER *)operand[1].place + i;
                continue;
            }
            sources[OPERANDS_AT + k] = fetched[k];
            if ((kind & ~FLAG) == SINGLE)
                continue;
            if (kind == IN_A_ROW)
                memcpy(fetched[k], (const NUMBER *)operand[1].place + i, run * sizeof(NUMBER));
            else if (kind == (IN_A_ROW | FLAG))
                for (int64_t j = 0; j < run; j++)
                    fetched[k][j] = ((const uint8_t *)operand[1].place)[i + j];
            else
                NAMED(fetch)(f, operand, i, run, fetched[k]);
            for (int64_t j = run; j < whole; j++)
                fetched[k][j] = fetched[k][0];
        }
        for (int64_t k = 0, flag = 0; k < f->results; k++) {
            const union argument *result = f->result + 2 * k;
            NUMBER *to = result[0].whole & FLAG ? flags[flag++] : run < 16 ? ends[k] : (NUMBER *)result[1].place + i;
            sources[RESULTS_AT + k] = targets[RESULTS_AT + k] = to;
        }
        for (int64_t k = 0; k < f->steps; k++) {
            const uint64_t s = (uint64_t)f->step[k].whole;
            NAMED(all)[s & 255](whole, targets[s >> 8 & 255], sources[s >> 16 & 255], sources[s >> 24 & 255],
                                sources[s >> 32 & 255], sources[s >> 40 & 255]);
        }
        for (int64_t k = 0; k < f->results; k++) {
            const union argument *result = f->result + 2 * k;
            const NUMBER *made = targets[RESULTS_AT + k];
            if (result[0].whole & FLAG)
                for (int64_t j = 0; j < run; j++)
                    ((uint8_t *)result[1].place)[i + j] = made[j] != 0;
            else if (run < 16)
                memcpy((NUMBER *)result[1].place + i, made, run * sizeof(NUMBER));
        }
    }
}

/* Whether all words of the steps name existing operations, registers and operands. */
static int NAMED(in_bounds)(const struct NAMED(fusion) *f)
{
    int64_t flags = 0;
    if (f->dims < 1 || f->dims > DIMENSIONS || f->operands < 0 || f->operands > MOST_OPERANDS || f->results < 1 ||
        f->results > MOST_RESULTS || f->numbers < 0 || f->numbers > MOST_NUMBERS || f->steps < 1 || f->steps > MOST_STEPS)
        return 0;
    for (int64_t k = 0; k < f->results; k++)
        flags += (f->result[2 * k].whole & FLAG) != 0;
    if (flags > MOST_FLAGS)
        return 0;
    for (int64_t k = 0; k < f->steps; k++) {
        const uint64_t s = (uint64_t)f->step[k].whole;
        const int64_t to = s >> 8 & 255;
        if ((s & 255) >= sizeof NAMED(all) / sizeof *NAMED(all) ||
            !(to < REGISTERS || (to >= RESULTS_AT && to < RESULTS_AT + f->results)))
            return 0;
        for (int shift = 16; shift < 48; shift += 8) {
            const int64_t from = s >> shift & 255;
            if (!(from < REGISTERS || (from >= OPERANDS_AT && from < OPERANDS_AT + f->operands) ||
                  (from >= RESULTS_AT && from < RESULTS_AT + f->results) ||
                  (from >= NUMBERS_AT && from < NUMBERS_AT + f->numbers)))
                return 0;
        }
    }
    return 1;
}

int64_t NAMED(step_fused)(const union argument *a)
{
    struct NAMED(fusion) f = {a[2].whole, a[3].whole, a[4].whole, a[5].whole, a[6].whole, a + 7, NULL, NULL, NULL, NULL};
    f.operand = f.sizes + f.dims;
    f.result = f.operand + f.operands * (2 + f.dims);
    f.number = f.result + 2 * f.results;
    f.step = f.number + f.numbers;
    if (!NAMED(in_bounds)(&f))
        return OUTSIDE;
    share(a[0].whole, a[1].whole, 16384, NAMED(fused), &f);
    return 0;
}

/* The inner loop of a NumPy ufunc. `data` has the size of the plan, the number of arguments that are arrays, the number
of those that are numbers, and then the plan. Arrays with gaps are copied, block by block. */
KERNEL void NAMED(loop)(char **args, const intptr_t *dimensions, const intptr_t *steps, const int64_t *data)
{
    enum { SIZE = BLOCK / sizeof(NUMBER) };
    const int64_t n = *dimensions, arrays = data[1], outside = arrays + data[2];
    NUMBER blocks[GIVEN + 1][SIZE];
    double numbers[NUMBERS] = {0};
    int apart[GIVEN + 1] = {0}, any = 0;
    if (arrays > GIVEN || data[2] > NUMBERS)
        return;
    if (noted)
        note_loop((const void *)(intptr_t)NAMED(loop), args, n, steps, data, outside + 1, sizeof(NUMBER));
    for (int64_t k = 0; k < data[2]; k++)
        numbers[k] = *(const NUMBER *)args[arrays + k];
    for (int64_t k = 0; k <= arrays; k++) {
        const int64_t step = steps[k < arrays ? k : outside];
        any |= apart[k] = n > 1 && step != sizeof(NUMBER) && (step || k == arrays);
    }
    for (int64_t i = 0, run; i < n; i += run) {
        const NUMBER *given[GIVEN] = {0};
        int64_t sizes[GIVEN] = {0};
        run = any && n - i > SIZE ? SIZE : n - i;
        for (int64_t k = 0; k < arrays; k++) {
            const char *from = args[k] + i * steps[k];
            for (int64_t j = 0; j < run && apart[k]; j++)
                blocks[k][j] = *(const NUMBER *)(from + j * steps[k]);
            given[k] = apart[k] ? blocks[k] : (const NUMBER *)from;
            sizes[k] = steps[k] ? run : 1;
        }
        char *to = args[outside] + i * steps[outside];
        NAMED(begin)(1, run, data[0], sizes, numbers, (const place *)(data + 3), given,
                     apart[arrays] ? blocks[arrays] : (NUMBER *)to);
        for (int64_t j = 0; j < run && apart[arrays]; j++)
            *(NUMBER *)(to + j * steps[outside]) = blocks[arrays][j];
    }
}
