/* QR factors of matrices by NumPy's inner loops for LAPACK, which compute in double precision. What is around them, to
widen and to narrow the numbers, takes NumPy longer than LAPACK takes for a small matrix. */
#include "common.h"

typedef void (*loop)(char **operands, const intptr_t *sizes, const intptr_t *steps, const void *data);

enum { STEP = sizeof(double) };

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
    for (int64_t each = 0; each < count; each++) {
        for (int64_t i = 0; i < m; i++)
            for (int64_t j = 0; j < n; j++)
                a[j * m + i] = *x++;
        ((loop)(intptr_t)raw)(operands, sizes, of_raw, NULL);      /* a now holds r and the reflectors */
        ((loop)(intptr_t)reduced)(operands, sizes, of_reduced, NULL);
        for (int64_t i = 0; i < m * k; i++)
            *q++ = (float)wide[i];
        for (int64_t j = 0; j < n; j++)
            for (int64_t i = 0; i < k; i++)
                *r++ = i > j ? 0.0f : (float)a[j * m + i];
    }
}
