/* Inner products and what is made of them; compiled with -fassociative-math. */
#include "kernels.h"
#include <math.h>

#define NIL 1e-32  /* sums of squares below it are lost in the rounding of a matrix of norm 1 */

static inline double dot(const double *restrict a, const double *restrict b, ptrdiff_t n) {
    double s0 = 0.0, s1 = 0.0;
    ptrdiff_t i = 0, half = n / 2;
    if (n < 64) {
        for (; i < n; i++) s0 += a[i] * b[i];
        return s0;
    }
    for (; i < half; i++) {  /* two sums: additions wait for each other */
        s0 += a[i] * b[i];
        s1 += a[half + i] * b[half + i];
    }
    if (n % 2) s0 += a[n - 1] * b[n - 1];
    return s0 + s1;
}

/* x += c[0] rows[0] + ... + c[3] rows[3], in one pass over x */
static inline void add_four(double *restrict x, const double *restrict c,
                            const double *restrict rows, ptrdiff_t stride, ptrdiff_t n) {
    const double *r0 = rows, *r1 = rows + stride, *r2 = rows + 2 * stride, *r3 = rows + 3 * stride;
    double c0 = c[0], c1 = c[1], c2 = c[2], c3 = c[3];
    for (ptrdiff_t j = 0; j < n; j++)
        x[j] += (c0 * r0[j] + c1 * r1[j]) + (c2 * r2[j] + c3 * r3[j]);
}

static inline void add(double *restrict x, double c, const double *restrict row, ptrdiff_t n) {
    for (ptrdiff_t j = 0; j < n; j++) x[j] += c * row[j];
}

/* out = weights' rows */
static inline void combine(const double *restrict weights, const double *restrict rows,
                           ptrdiff_t n, ptrdiff_t d, double *restrict out) {
    ptrdiff_t k = 0;
    for (ptrdiff_t j = 0; j < d; j++) out[j] = 0.0;
    for (; k + 4 <= n; k += 4) add_four(out, weights + k, rows + k * d, d, d);
    for (; k < n; k++) add(out, weights[k], rows + k * d, d);
}

/* Four rows of a product with M: out += rows' first four columns times four rows of M. */
static inline void multiply_four(const double *restrict rows, const double *restrict M,
                                 ptrdiff_t d, double *restrict out) {
    const double *r0 = rows, *r1 = r0 + d, *r2 = r1 + d, *r3 = r2 + d;
    const double *m0 = M, *m1 = m0 + d, *m2 = m1 + d, *m3 = m2 + d;
    double *restrict o1 = out + d, *restrict o2 = o1 + d, *restrict o3 = o2 + d;
    double a0 = r0[0], a1 = r0[1], a2 = r0[2], a3 = r0[3], b0 = r1[0], b1 = r1[1], b2 = r1[2],
           b3 = r1[3], c0 = r2[0], c1 = r2[1], c2 = r2[2], c3 = r2[3], e0 = r3[0], e1 = r3[1],
           e2 = r3[2], e3 = r3[3];
    for (ptrdiff_t j = 0; j < d; j++) {
        double w = m0[j], x = m1[j], y = m2[j], z = m3[j];
        out[j] += (a0 * w + a1 * x) + (a2 * y + a3 * z);
        o1[j] += (b0 * w + b1 * x) + (b2 * y + b3 * z);
        o2[j] += (c0 * w + c1 * x) + (c2 * y + c3 * z);
        o3[j] += (e0 * w + e1 * x) + (e2 * y + e3 * z);
    }
}

CLONED double cal_dot(const double *a, const double *b, ptrdiff_t n) { return dot(a, b, n); }

/* out = rows M, of few rows: BLAS copies M before it multiplies. */
CLONED void cal_multiply(const double *rows, const double *M, ptrdiff_t n, ptrdiff_t d,
                         double *out) {
    ptrdiff_t t = 0;
    for (; t + 4 <= n; t += 4) {
        ptrdiff_t k = 0;
        for (ptrdiff_t j = 0; j < 4 * d; j++) out[t * d + j] = 0.0;
        for (; k + 4 <= d; k += 4) multiply_four(rows + t * d + k, M + k * d, d, out + t * d);
        for (; k < d; k++)
            for (ptrdiff_t r = t; r < t + 4; r++) add(out + r * d, rows[r * d + k], M + k * d, d);
    }
    for (; t < n; t++) combine(rows + t * d, M, d, d, out + t * d);
}

CLONED double cal_squared_distance(const double *restrict a, const double *restrict b,
                                   ptrdiff_t n) {
    double total = 0.0;
    for (ptrdiff_t i = 0; i < n; i++) total += (a[i] - b[i]) * (a[i] - b[i]);
    return total;
}

CLONED void cal_row_dots(const double *A, const double *B, ptrdiff_t n, ptrdiff_t d,
                         double *out) {
    for (ptrdiff_t t = 0; t < n; t++) out[t] = dot(A + t * d, B + t * d, d);
}

/* Follow M += sum_k sign_k v_k v_k' in margins that were computed before it: they are linear in M,
 * so that it costs rank d per triplet, not d^2. */
CLONED void cal_update_margins(const double *far, const double *near, ptrdiff_t n, ptrdiff_t d,
                               const double *vectors, const double *signs, ptrdiff_t rank,
                               double *out) {
    for (ptrdiff_t t = 0; t < n; t++)
        for (ptrdiff_t k = 0; k < rank; k++) {
            double f = dot(far + t * d, vectors + k * d, d);
            double g = dot(near + t * d, vectors + k * d, d);
            out[t] += signs[k] * ((f - g) * (f + g));
        }
}

/* product'(far + near), row by row */
CLONED void cal_margins(const double *product, const double *far, const double *near, ptrdiff_t n,
                        ptrdiff_t d, double *out) {
    for (ptrdiff_t t = 0; t < n; t++) {
        const double *restrict p = product + t * d, *restrict f = far + t * d,
                     *restrict g = near + t * d;
        double margin = 0.0;
        for (ptrdiff_t a = 0; a < d; a++) margin += p[a] * (f[a] + g[a]);
        out[t] = margin;
    }
}

/* out_s += tau (p'p_s)(z'z_s) */
CLONED void cal_update_scores(const double *p, const double *z, double tau, const double *P,
                              const double *Z, ptrdiff_t n, ptrdiff_t d, double *out) {
    for (ptrdiff_t s = 0; s < n; s++)
        out[s] += tau * dot(p, P + s * d, d) * dot(z, Z + s * d, d);
}

/* || sum_s slope_s (near_s near_s' - far_s far_s') ||_F^2 */
CLONED double cal_squared_gradient_norm(const double *far, const double *near,
                                        const double *slopes, ptrdiff_t b, ptrdiff_t d) {
    double squared = 0.0;
    for (ptrdiff_t s = 0; s < b; s++)
        for (ptrdiff_t r = 0; r <= s; r++) {
            const double *f = far + s * d, *g = near + s * d, *p = far + r * d, *q = near + r * d;
            double ff = dot(f, p, d), nn = dot(g, q, d), fn = dot(f, q, d), nf = dot(g, p, d);
            double entry = slopes[s] * slopes[r] * (ff * ff + nn * nn - fn * fn - nf * nf);
            squared += r == s ? entry : 2.0 * entry;
        }
    return squared;
}

/* Frobenius norms of far far' - near near', of each of k near differences with each of k far. */
CLONED void cal_outer_norms(const double *far, const double *near, ptrdiff_t n, ptrdiff_t d,
                            ptrdiff_t k, double *norms) {
    for (ptrdiff_t t = 0; t < n * k; t++) {
        ptrdiff_t s = t / k, r = s / k * k + t % k;
        const double *restrict f = far + r * d, *restrict g = near + s * d;
        double far2 = 0.0, near2 = 0.0, cross = 0.0;
        for (ptrdiff_t a = 0; a < d; a++) {
            far2 += f[a] * f[a];
            near2 += g[a] * g[a];
            cross += f[a] * g[a];
        }
        norms[t] = sqrt(fmax(0.0, far2 * far2 + near2 * near2 - 2.0 * cross * cross));
    }
}

/* A -= v w' + w v' in rows i to i + 3, from a column on, and their parts of the product A u. */
static inline void reduce_four(double *restrict a, ptrdiff_t d, const double *vi,
                               const double *wi, const double *ui, const double *restrict v,
                               const double *restrict w, double *restrict product, ptrdiff_t n) {
    double *restrict b = a + d, *restrict c = b + d, *restrict e = c + d;
    APART
    for (ptrdiff_t j = 0; j < n; j++) {
        double x = a[j] - (vi[0] * w[j] + wi[0] * v[j]), y = b[j] - (vi[1] * w[j] + wi[1] * v[j]);
        double z = c[j] - (vi[2] * w[j] + wi[2] * v[j]), t = e[j] - (vi[3] * w[j] + wi[3] * v[j]);
        a[j] = x, b[j] = y, c[j] = z, e[j] = t;
        product[j] += (x * ui[0] + y * ui[1]) + (z * ui[2] + t * ui[3]);
    }
}

/* The same of one row. */
static inline void reduce_one(double *restrict a, double vi, double wi, double ui,
                              const double *restrict v, const double *restrict w,
                              double *restrict product, ptrdiff_t n) {
    APART
    for (ptrdiff_t j = 0; j < n; j++) {
        a[j] -= vi * w[j] + wi * v[j];
        product[j] += a[j] * ui;
    }
}

/* Householder's reduction of a symmetric matrix A to a tridiagonal one with diagonal alpha and
 * subdiagonal beta. Reflection k is I - factors[k] u u', with u in row k of A behind the diagonal;
 * A has norm 1, so that what is below NIL is rounding. The change of A by one reflection and the
 * product with the vector of the next are one pass over the rows, which up to d = 256 stay in the
 * cache of a core. Rows are gone through whole and from a fourth column on: without ends to take
 * care of that is sooner done than half of them. `work` holds 3 d numbers. */
CLONED void cal_tridiagonalise(double *A, ptrdiff_t d, double *alpha, double *beta,
                               double *factors, double *work) {
    double *w = work, *product = work + d;
    const double *v = work + 2 * d;
    for (ptrdiff_t i = 0; i < 3 * d; i++) work[i] = 0.0;
    for (ptrdiff_t k = 0; k < d; k++) {
        double *u = A + k * d, factor = 0.0;
        ptrdiff_t next = k + 1, i = next, from = next / 4 * 4, n = d - from;
        for (ptrdiff_t j = k; j < d; j++) u[j] -= v[k] * w[j] + w[k] * v[j];
        alpha[k] = u[k];
        if (next == d) break;
        double rest = dot(u + next + 1, u + next + 1, d - next - 1), first = u[next];
        beta[k] = first;
        if (rest > NIL) {
            beta[k] = first > 0.0 ? -sqrt(first * first + rest) : sqrt(first * first + rest);
            u[next] = first - beta[k];
            factor = 2.0 / (u[next] * u[next] + rest);
        }
        for (ptrdiff_t j = from; j < d; j++) product[j] = 0.0;
        for (; i + 4 <= d; i += 4)
            reduce_four(A + i * d + from, d, v + i, w + i, u + i, v + from, w + from,
                        product + from, n);
        for (; i < d; i++)
            reduce_one(A + i * d + from, v[i], w[i], u[i], v + from, w + from, product + from, n);
        double half = 0.5 * factor * factor * dot(product + next, u + next, d - next);
        for (ptrdiff_t j = next; j < d; j++) w[j] = factor * product[j] - half * u[j];
        factors[k] = factor;
        v = u;
    }
}

/* Overwrite x, in the coordinates of the tridiagonal matrix, by the vector of A. */
CLONED void cal_reflect(const double *A, ptrdiff_t d, const double *factors, double *x) {
    for (ptrdiff_t k = d - 2; k >= 0; k--) {
        const double *u = A + k * d + k + 1;
        add(x + k + 1, -factors[k] * dot(u, x + k + 1, d - k - 1), u, d - k - 1);
    }
}
