/* C primitives of the core: plain loops that the compiler vectorises.
 *
 * Matrices are row-major and dense; `d` is the number of features. Functions of sums.c may sum
 * in any fixed order; those of updates.c are rounded operation by operation, so that a symmetric
 * matrix stays symmetric to the last bit.
 */
#ifndef CALIPERS_KERNELS_H
#define CALIPERS_KERNELS_H

#include <stddef.h>

#ifdef CALIPERS_CLONES  /* set by meson.build where the compiler and the C library know them */
#define CLONED __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define CLONED
#endif

/* Rows of a loop do not overlap: without it GCC asks before each loop that it has inlined. */
#if defined(__GNUC__) && !defined(__clang__)
#define APART _Pragma("GCC ivdep")
#else
#define APART
#endif

/* Ask for memory that will be read soon; of long rows the rest comes by itself. */
static inline void cal_prefetch(const void *at, ptrdiff_t n_bytes) {
#ifdef __GNUC__
    for (ptrdiff_t i = 0; i < n_bytes && i < 512; i += 64) __builtin_prefetch((const char *)at + i);
#endif
}

/* sums.c */
double cal_dot(const double *a, const double *b, ptrdiff_t n);
double cal_squared_distance(const double *a, const double *b, ptrdiff_t n);
void cal_row_dots(const double *A, const double *B, ptrdiff_t n, ptrdiff_t d, double *out);
void cal_multiply(const double *rows, const double *M, ptrdiff_t n, ptrdiff_t d,
                  double *out);
void cal_margins(const double *product, const double *far, const double *near, ptrdiff_t n,
                 ptrdiff_t d, double *out);
void cal_update_margins(const double *far, const double *near, ptrdiff_t n, ptrdiff_t d,
                        const double *vectors, const double *signs, ptrdiff_t rank, double *out);
void cal_update_scores(const double *p, const double *z, double tau, const double *P,
                       const double *Z, ptrdiff_t n, ptrdiff_t d, double *out);
double cal_squared_gradient_norm(const double *far, const double *near, const double *slopes,
                                 ptrdiff_t b, ptrdiff_t d);
void cal_outer_norms(const double *far, const double *near, ptrdiff_t n, ptrdiff_t d, ptrdiff_t k,
                     double *norms);
void cal_tridiagonalise(double *A, ptrdiff_t d, double *alpha, double *beta, double *factors,
                        double *work);
void cal_reflect(const double *A, ptrdiff_t d, const double *factors, double *x);

/* updates.c */
void cal_add(double *x, double c, const double *row, ptrdiff_t n);
void cal_scale(double *x, double c, ptrdiff_t n);
void cal_subtract(const double *a, const double *b, double *out, ptrdiff_t n);
void cal_subtract_float(const float *a, const float *b, double *out, ptrdiff_t n);
void cal_gather(const double *X, const ptrdiff_t *triplets, ptrdiff_t n, ptrdiff_t d, double *far,
                double *near);
void cal_gather_float(const float *X, const ptrdiff_t *triplets, ptrdiff_t n, ptrdiff_t d,
                      double *far, double *near);
void cal_add_outer_products(double *M, ptrdiff_t d, const double *vectors, const double *signs,
                            ptrdiff_t rank);
void cal_mirror(double *M, ptrdiff_t d);
double cal_sequential_distance(const double *a, const double *b, ptrdiff_t n);
int cal_count_within(const float *scores, const float *norms, ptrdiff_t n, float limit);
ptrdiff_t cal_columns_below(const float *bounds, ptrdiff_t first, ptrdiff_t stop, float limit,
                            int *out);
int cal_count_below(const double *alpha, const double *beta, ptrdiff_t n, double x);
/* `work` holds 2 n numbers */
double cal_tridiagonal_pair(const double *alpha, const double *beta, ptrdiff_t n, ptrdiff_t k,
                            double low, double high, double accuracy, double *vector,
                            double *work);

#endif
