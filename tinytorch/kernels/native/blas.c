/* Products of matrices by the BLAS that NumPy has loaded, whose function the door has handed over (use_blas), shared by
the threads of threads.c. */
#include "common.h"

enum { ROWS_FIRST = 101, AS_IT_IS = 111, TRANSPOSED = 112 };

typedef void (*sgemm_32)(int, int, int, int32_t, int32_t, int32_t, float, const float *, int32_t, const float *, int32_t,
                         float, float *, int32_t);
typedef void (*sgemm_64)(int, int, int, int64_t, int64_t, int64_t, float, const float *, int64_t, const float *, int64_t,
                         float, float *, int64_t);

static sgemm_32 narrow;
static sgemm_64 wide;

/* cblas_sgemm, with indices of 64 bits or of 32. */
KERNEL void use_blas(void *function, int64_t is_wide)
{
    if (is_wide)
        memcpy(&wide, &function, sizeof wide);
    else
        memcpy(&narrow, &function, sizeof narrow);
}

void multiply(int ta, int tb, int64_t m, int64_t n, int64_t k, const float *a, int64_t lda, const float *b, int64_t ldb,
              float beta, float *c, int64_t ldc)
{
    const int left = ta ? TRANSPOSED : AS_IT_IS, right = tb ? TRANSPOSED : AS_IT_IS;
    if (wide)
        wide(ROWS_FIRST, left, right, m, n, k, 1.0f, a, lda, b, ldb, beta, c, ldc);
    else
        narrow(ROWS_FIRST, left, right, (int32_t)m, (int32_t)n, (int32_t)k, 1.0f, a, (int32_t)lda, b, (int32_t)ldb, beta,
               c, (int32_t)ldc);
}

struct product { int64_t ta, tb, m, n, k, lda, ldb, grain; const float *a, *b, *bias; float *c, *parts; };

/* Fill rows with the bias, if there is one, for the product to be added to. Returns the factor of what is there. */
static float filled(const struct product *p, int64_t rows, int64_t columns, const float *bias, float *c)
{
    if (!bias)
        return 0.0f;
    for (int64_t i = 0; i < rows; i++)
        memcpy(c + i * p->n, bias, columns * sizeof(float));
    return 1.0f;
}

static void some_rows(const void *args, int64_t first, int64_t last)
{
    const struct product *p = args;
    multiply((int)p->ta, (int)p->tb, last - first, p->n, p->k, p->a + (p->ta ? first : first * p->lda), p->lda, p->b,
             p->ldb, filled(p, last - first, p->n, p->bias, p->c + first * p->n), p->c + first * p->n, p->n);
}

static void some_columns(const void *args, int64_t first, int64_t last)
{
    const struct product *p = args;
    multiply((int)p->ta, (int)p->tb, p->m, last - first, p->k, p->a, p->lda, p->b + (p->tb ? first * p->ldb : first),
             p->ldb, filled(p, p->m, last - first, p->bias ? p->bias + first : NULL, p->c + first), p->c + first, p->n);
}

/* Parts of the sums: the first into `c`, the others behind each other into `parts`. */
static void some_terms(const void *args, int64_t first, int64_t last)
{
    const struct product *p = args;
    float *to = first ? p->parts + (first / p->grain - 1) * p->m * p->n : p->c;
    multiply((int)p->ta, (int)p->tb, p->m, p->n, last - first, p->a + (p->ta ? first * p->lda : first), p->lda,
             p->b + (p->tb ? first : first * p->ldb), p->ldb, 0.0f, to, p->n);
}

static void add_parts(const void *args, int64_t first, int64_t last)
{
    const struct product *p = args;
    float *c = p->c;
    for (int64_t part = 0; part < (p->k - 1) / p->grain; part++) {
        const float *more = p->parts + part * p->m * p->n;
        SPAN
        for (int64_t i = first; i < last; i++)
            c[i] += more[i];
    }
}

/* c = a @ b + bias, of operands that lie transposed if `ta`, `tb`, in pieces of `grain` rows or columns, whichever are more; or,
if there are `parts` (all but the first), of as many terms of the sums, which are added up in order, without a bias. */
KERNEL void product(int64_t threads, int64_t ta, int64_t tb, int64_t m, int64_t n, int64_t k, int64_t lda, int64_t ldb,
                    int64_t grain, int64_t more, const float *a, const float *b, const float *bias, float *c,
                    float *parts)
{
    struct product args = {ta, tb, m, n, k, lda, ldb, grain, a, b, bias, c, parts};
    (void)more;
    if (parts) {
        share(threads, k, grain, some_terms, &args);
        share(threads, m * n, 16384, add_parts, &args);
    } else
        share(threads, m >= n ? m : n, grain, m >= n ? some_rows : some_columns, &args);
}
