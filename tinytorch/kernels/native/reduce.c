/* Sums (kernels/sums.py). The pieces depend on the shape alone. In a piece each lane of a vector has a sum of its own,
so that errors grow like those of pairwise summation. */
#include "halves.h"
#include "reduce.h"

struct sums { int64_t rows, width, grain; const float *x, *y; float *out; double *parts; };

static void sums_of_rows(const void *args, int64_t first, int64_t last)
{
    const struct sums *s = args;
    for (int64_t row = first; row < last; row++)
        s->out[row] = (float)sum_of(s->x + row * s->width, s->width);
}

/* The sums of the pieces of a single row, one for each element of `parts`. */
static void sums_of_pieces(const void *args, int64_t first, int64_t last)
{
    const struct sums *s = args;
    s->parts[first / s->grain] = sum_of(s->x + first, last - first);
}

void row_sums(int64_t threads, int64_t rows, int64_t width, int64_t grain, int64_t pieces, const float *x,
              double *parts, float *out)
{
    struct sums args = {rows, width, grain, x, NULL, out, parts};
    if (!parts) {
        share(threads, rows, light_rows_in_piece(width), sums_of_rows, &args);
        return;
    }
    share(threads, width, grain, sums_of_pieces, &args);
    double total = 0.0;
    for (int64_t i = 0; i < pieces; i++)
        total += parts[i];
    *out = (float)total;
}

static void squares_of_pieces(const void *args, int64_t first, int64_t last)
{
    const struct sums *s = args;
    ALIGNED float squares[BLOCK_OF_SUM];
    double total = 0.0;
    for (int64_t i = first, run; i < last; i += run) {
        run = last - i < BLOCK_OF_SUM ? last - i : BLOCK_OF_SUM;
        const float *restrict x = s->x + i, *restrict y = s->y ? s->y + i : NULL;
        if (y)
            for (int64_t j = 0; j < run; j++) {
                const float apart = x[j] - y[j];
                squares[j] = apart * apart;
            }
        else
            for (int64_t j = 0; j < run; j++)
                squares[j] = x[j] * x[j];
        total += short_sum(squares, run);
    }
    s->parts[first / s->grain] = total;
}

/* The sums of the squares of pieces of `grain` numbers, or of their differences from `y`. */
void sums_of_squares(int64_t threads, int64_t n, int64_t grain, int64_t pieces, const float *x, const float *y,
                     double *out)
{
    const struct sums args = {1, n, grain, x, y, NULL, out};
    if (pieces == (n + grain - 1) / grain)
        share(threads, n, grain, squares_of_pieces, &args);
}

struct half_sums { int64_t width, grain; int half; const uint16_t *x; float *out; double *parts; uint16_t *narrow; };

/* As `sum_of`, of numbers of 16 bits. */
static double half_sum_of(int half, const uint16_t *x, int64_t n)
{
    ALIGNED float wide[BLOCK_OF_SUM];
    double total = 0.0;
    for (int64_t i = 0, run; i < n; i += run) {
        run = n - i < BLOCK_OF_SUM ? n - i : BLOCK_OF_SUM;
        floats_of(half, run, x + i, wide);
        total += short_sum(wide, run);
    }
    return total;
}

INLINE void put_half_sum(const struct half_sums *s, int64_t row, float total)
{
    if (s->narrow)
        of_floats(s->half, 1, &total, s->narrow + row);
    else
        s->out[row] = total;
}

static void half_sums_of_rows(const void *args, int64_t first, int64_t last)
{
    const struct half_sums *s = args;
    for (int64_t row = first; row < last; row++)
        put_half_sum(s, row, (float)half_sum_of(s->half, s->x + row * s->width, s->width));
}

static void half_sums_of_pieces(const void *args, int64_t first, int64_t last)
{
    const struct half_sums *s = args;
    s->parts[first / s->grain] = half_sum_of(s->half, s->x + first, last - first);
}

static void all_half_sums(int64_t threads, int64_t rows, int64_t pieces, const struct half_sums *args)
{
    if (!args->parts) {
        share(threads, rows, rows_in_piece(args->width), half_sums_of_rows, args);
        return;
    }
    share(threads, args->width, args->grain, half_sums_of_pieces, args);
    double total = 0.0;
    for (int64_t i = 0; i < pieces; i++)
        total += args->parts[i];
    put_half_sum(args, 0, (float)total);
}

/* `row_sums` of what becomes of numbers of 16 bits in single precision. */
void half_row_sums(int64_t threads, int64_t rows, int64_t width, int64_t grain, int64_t pieces, int64_t half,
                   const uint16_t *x, double *parts, float *out)
{
    const struct half_sums args = {width, grain, half != 0, x, out, parts, NULL};
    all_half_sums(threads, rows, pieces, &args);
}

/* The same sums, rounded to 16 bits. */
void rounded_row_sums(int64_t threads, int64_t rows, int64_t width, int64_t grain, int64_t pieces, int64_t half,
                      const uint16_t *x, double *parts, uint16_t *out)
{
    const struct half_sums args = {width, grain, half != 0, x, NULL, parts, out};
    all_half_sums(threads, rows, pieces, &args);
}

struct powers { int64_t width, power; const float *x; float *out; };

static void some_power_sums(const void *args, int64_t first, int64_t last)
{
    const struct powers *a = args;
    for (int64_t row = first; row < last; row++) {
        const float *restrict x = a->x + row * a->width;
        double total = 0.0;
        TOTAL(+, total)
        for (int64_t i = 0; i < a->width; i++) {
            const double size = fabs((double)x[i]), square = size * size;
            total += a->power == 3 ? square * size : square * square;
        }
        a->out[row] = (float)total;
    }
}

/* Sums of the third or fourth powers of the sizes of rows of numbers, in double precision. */
void power_sums(int64_t threads, int64_t rows, int64_t width, int64_t power, const float *x, float *out)
{
    const struct powers args = {width, power, x, out};
    share(threads, rows, rows_in_piece(width), some_power_sums, &args);
}

#define COLUMNS 8                              /* vectors of sums in registers */

/* Sums of `n` vectors of columns over `rows` rows, which begin `width` apart. */
INLINE void sums_of_some(int n, int64_t rows, int64_t width, const float *restrict x, float *restrict out)
{
    vec sums[COLUMNS];
    for (int i = 0; i < n; i++)
        sums[i] = load(x + i * LANES);
    for (int64_t row = 1; row < rows; row++)
        for (int i = 0; i < n; i++)
            sums[i] += load(x + row * width + i * LANES);
    for (int i = 0; i < n; i++)
        store(out + i * LANES, sums[i]);
}

/* Sums of `rows` rows, of the columns [first, last). */
INLINE void sums_of_part(int64_t rows, int64_t width, int64_t first, int64_t last, const float *restrict x,
                         float *restrict out)
{
    int64_t i = first;
    for (; i + COLUMNS * LANES <= last; i += COLUMNS * LANES)
        sums_of_some(COLUMNS, rows, width, x + i, out + i);
    for (; i + LANES <= last; i += LANES)
        sums_of_some(1, rows, width, x + i, out + i);
    for (; i < last; i++) {
        float total = 0;
        for (int64_t row = 0; row < rows; row++)
            total += x[row * width + i];
        out[i] = total;
    }
}

static void sums_of_columns(const void *args, int64_t first, int64_t last)
{
    const struct sums *s = args;
    sums_of_part(last - first, s->width, 0, s->width, s->x + first * s->width, s->out + first / s->grain * s->width);
}

static void sums_of_few_rows(const void *args, int64_t first, int64_t last)
{
    const struct sums *s = args;
    sums_of_part(s->rows, s->width, first, last, s->x, s->out);
}

/* One part for each `grain` rows. The first part becomes the sum of all. */
void column_sums(int64_t threads, int64_t rows, int64_t width, int64_t grain, int64_t pieces, const float *x,
                 float *parts)
{
    struct sums args = {rows, width, grain, x, NULL, parts, NULL};
    if (rows <= grain)                         /* pieces of whole vectors: a column's sum is that of one piece */
        share(threads, width, light_rows_in_piece(16 * COLUMNS * rows) * 16 * COLUMNS, sums_of_few_rows, &args);
    else
        share(threads, rows, grain, sums_of_columns, &args);
    for (int64_t piece = 1; piece < pieces; piece++)
        for (int64_t i = 0; i < width; i++)
            parts[i] += parts[piece * width + i];
}

struct whole_sums { int64_t width; const int64_t *x; int64_t *out; };

INLINE int64_t whole_sum_of(const int64_t *x, int64_t n)
{
    uint64_t total = 0;
    TOTAL(+, total)
    for (int64_t i = 0; i < n; i++)
        total += (uint64_t)x[i];
    return (int64_t)total;
}

static void whole_sums_of_rows(const void *args, int64_t first, int64_t last)
{
    const struct whole_sums *s = args;
    for (int64_t row = first; row < last; row++)
        s->out[row] = whole_sum_of(s->x + row * s->width, s->width);
}

/* The sums of the parts of a single row. */
static void whole_sums_of_parts(const void *args, int64_t first, int64_t last)
{
    const struct whole_sums *s = args;
    s->out[first / part_of_row(s->width)] = whole_sum_of(s->x + first, last - first);
}

/* Sums of rows of whole numbers, modulo 2^64. */
void whole_sums(int64_t threads, int64_t rows, int64_t width, const int64_t *x, int64_t *out)
{
    int64_t parts[MOST_PARTS] = {0};
    const struct whole_sums args = {width, x, rows == 1 ? parts : out};
    if (rows != 1) {
        share(threads, rows, light_rows_in_piece(width), whole_sums_of_rows, &args);
        return;
    }
    share(threads, width, part_of_row(width), whole_sums_of_parts, &args);
    *out = whole_sum_of(parts, MOST_PARTS);
}

struct whole_extremes { int64_t width, smallest; const int64_t *x; int64_t *out; };

INLINE int64_t extreme_integer_of(const int64_t *x, int64_t n, int64_t smallest)
{
    int64_t found = x[0];
    if (smallest)
        for (int64_t j = 1; j < n; j++)
            found = x[j] < found ? x[j] : found;
    else
        for (int64_t j = 1; j < n; j++)
            found = x[j] > found ? x[j] : found;
    return found;
}

static void extreme_integers_of_rows(const void *args, int64_t first, int64_t last)
{
    const struct whole_extremes *e = args;
    for (int64_t row = first; row < last; row++)
        e->out[row] = extreme_integer_of(e->x + row * e->width, e->width, e->smallest);
}

static void extreme_integers_of_parts(const void *args, int64_t first, int64_t last)
{
    const struct whole_extremes *e = args;
    e->out[first / part_of_row(e->width)] = extreme_integer_of(e->x + first, last - first, e->smallest);
}

/* The largest or smallest integer of each row. */
void extreme_integers(int64_t threads, int64_t rows, int64_t width, int64_t smallest, const int64_t *x, int64_t *out)
{
    int64_t parts[MOST_PARTS];
    const struct whole_extremes args = {width, smallest, x, rows == 1 ? parts : out};
    if (rows != 1) {
        share(threads, rows, light_rows_in_piece(width), extreme_integers_of_rows, &args);
        return;
    }
    const int64_t part = part_of_row(width);
    share(threads, width, part, extreme_integers_of_parts, &args);
    *out = extreme_integer_of(parts, (width + part - 1) / part, smallest);
}

/* How many of the bools of each row are true. */
void true_counts(int64_t threads, int64_t rows, int64_t width, const uint8_t *x, int64_t *out)
{
    (void)threads;
    for (int64_t i = 0; i < rows; i++) {
        int64_t count = 0;
        for (int64_t j = 0; j < width; j++)
            count += x[i * width + j] != 0;
        out[i] = count;
    }
}
