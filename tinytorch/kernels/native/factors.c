/* Factors of matrices by NumPy's inner loops for LAPACK, which compute in double precision. What is around them, to
widen and to narrow the numbers, takes NumPy longer than LAPACK takes for a small matrix. */
#include "common.h"
#include <float.h>
#include <math.h>

typedef void (*loop)(char **operands, const intptr_t *sizes, const intptr_t *steps, const void *data);

enum { STEP = sizeof(double) };

/* A matrix in double precision and in column order, of which eight columns are written at a time, because the lines of
memory of one row lie so far apart that a cache has few places for them. Returns whether all numbers are finite. */
static int widened(int64_t m, int64_t n, const float *restrict x, double *restrict out)
{
    int finite = 1;
    for (int64_t first = 0; first < n; first += 8) {
        const int64_t last = first + 8 < n ? first + 8 : n;
        for (int64_t i = 0; i < m; i++)
            for (int64_t j = first; j < last; j++) {
                const float number = x[i * n + j];
                finite &= fabsf(number) <= FLT_MAX;
                out[j * m + i] = number;
            }
    }
    return finite;
}

static void narrowed(int64_t n, const double *restrict x, float *restrict out)
{
    for (int64_t i = 0; i < n; i++)
        out[i] = (float)x[i];
}

/* `raw` and `reduced` are the addresses of the loops of qr_r_raw and qr_reduced. The factors are in column order: q of m
rows and k columns, and r of k rows and n columns. */
void qr_factors(int64_t threads, int64_t raw, int64_t reduced, int64_t count, int64_t m, int64_t n, int64_t k,
                const float *x, double *room, float *q, float *r)
{
    double *a = room, *tau = a + m * n, *wide = tau + k;
    char *operands[] = {(char *)a, (char *)tau, (char *)wide};
    const intptr_t sizes[] = {1, m, n, k}, down = m * STEP;
    const intptr_t of_raw[] = {0, 0, STEP, down, STEP}, of_reduced[] = {0, 0, 0, STEP, down, STEP, STEP, down};
    (void)threads;
    for (int64_t each = 0; each < count; each++, x += m * n, q += m * k, r += k * n) {
        widened(m, n, x, a);
        ((loop)(intptr_t)raw)(operands, sizes, of_raw, NULL);      /* a now holds r and the reflectors */
        ((loop)(intptr_t)reduced)(operands, sizes, of_reduced, NULL);
        narrowed(m * k, wide, q);
        for (int64_t j = 0; j < n; j++) {
            const int64_t size = j < k ? j + 1 : k;
            narrowed(size, a + j * m, r + j * k);
            memset(r + j * k + size, 0, (size_t)(k - size) * sizeof(float));
        }
    }
}

/* The results of a loop that reads a matrix: up to three of so many numbers, each a vector (with 0 rows) or a matrix of so
many rows in column order. Returns 2 if a matrix is not finite, and if it cannot be factored: its results are then NaN. */
int64_t factors(int64_t threads, int64_t function, int64_t count, int64_t m, int64_t n, int64_t k, int64_t rows_a,
                int64_t rows_b, int64_t rows_c, int64_t size_a, int64_t size_b, int64_t size_c, const float *x,
                double *room, float *a, float *b, float *c)
{
    enum { MOST = 3 };
    const int64_t rows[MOST] = {rows_a, rows_b, rows_c}, size[MOST] = {size_a, size_b, size_c};
    float *to[MOST] = {a, b, c};
    double *wide[MOST];
    char *operands[1 + MOST] = {(char *)room};
    const intptr_t sizes[] = {1, m, n, k};
    intptr_t steps[3 * (1 + MOST)] = {0};
    int results = 0, at = 0;
    double *place = room + m * n;
    for (; results < MOST && to[results]; place += size[results++]) {
        wide[results] = place;
        operands[1 + results] = (char *)place;
    }
    at = 1 + results;                          /* steps from a matrix to the next one, which are not used, come first */
    steps[at++] = STEP;
    steps[at++] = m * STEP;
    for (int i = 0; i < results; i++) {
        steps[at++] = STEP;
        if (rows[i])
            steps[at++] = rows[i] * STEP;
    }
    (void)threads;
    for (int64_t each = 0; each < count; each++, x += m * n) {
        if (!widened(m, n, x, room))
            return 2;
        ((loop)(intptr_t)function)(operands, sizes, steps, NULL);
        for (int i = 0; i < results; i++) {
            if (wide[i][0] != wide[i][0] || wide[i][size[i] - 1] != wide[i][size[i] - 1])
                return 2;
            narrowed(size[i], wide[i], to[i]);
            to[i] += size[i];
        }
    }
    return 0;
}
