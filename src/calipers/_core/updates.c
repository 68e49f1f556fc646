/* Additions of rows, element by element, and recurrences; compiled with -ffp-contract=off. */
#include "kernels.h"
#include <math.h>

#define ROUNDING 1e-15 /* share of a number that is not known */
#define SAFE 1e-300    /* is added to what may be exactly zero, or stands in for it */

enum {
    SOON = 4,    /* triplets between asking the memory for samples and reading them */
    PROBES = 16  /* numbers between which an eigenvalue is sought at a time */
};

CLONED void cal_add(double *restrict x, double c, const double *restrict row, ptrdiff_t n) {
    for (ptrdiff_t j = 0; j < n; j++) x[j] += c * row[j];
}

CLONED void cal_scale(double *x, double c, ptrdiff_t n) {
    for (ptrdiff_t j = 0; j < n; j++) x[j] *= c;
}

CLONED void cal_subtract(const double *restrict a, const double *restrict b,
                         double *restrict out, ptrdiff_t n) {
    for (ptrdiff_t j = 0; j < n; j++) out[j] = a[j] - b[j];
}

CLONED void cal_subtract_float(const float *restrict a, const float *restrict b,
                               double *restrict out, ptrdiff_t n) {
    for (ptrdiff_t j = 0; j < n; j++) out[j] = (double)a[j] - (double)b[j];
}

/* Differences of triplets (anchor, positive, negative): to the negative, and to the positive. */
#define GATHER(NAME, TYPE)                                                                     \
    CLONED void NAME(const TYPE *restrict X, const ptrdiff_t *triplets, ptrdiff_t n,           \
                     ptrdiff_t d, double *restrict far, double *restrict near) {               \
        for (ptrdiff_t t = 0; t < n; t++, triplets += 3, far += d, near += d) {                \
            const TYPE *restrict anchor = X + triplets[0] * d;                                 \
            const TYPE *restrict positive = X + triplets[1] * d;                               \
            const TYPE *restrict negative = X + triplets[2] * d;                               \
            for (int i = 0; i < 3 && t + SOON < n; i++)                                        \
                cal_prefetch(X + triplets[3 * SOON + i] * d, d * sizeof(TYPE));                \
            for (ptrdiff_t j = 0; j < d; j++) {                                                \
                far[j] = (double)anchor[j] - (double)negative[j];                              \
                near[j] = (double)anchor[j] - (double)positive[j];                             \
            }                                                                                  \
        }                                                                                      \
    }
GATHER(cal_gather, double)
GATHER(cal_gather_float, float)

/* M += sum_k sign_k v_k v_k'. Entries (i, j) and (j, i) take the same products in the same
 * order, so that M stays symmetric to the last bit for signs of +1 and -1. */
CLONED void cal_add_outer_products(double *restrict M, ptrdiff_t d,
                                   const double *restrict vectors,
                                   const double *restrict signs, ptrdiff_t rank) {
    for (ptrdiff_t i = 0; i < d; i++) {
        double *restrict row = M + i * d;
        ptrdiff_t k = 0;
        for (; k + 4 <= rank; k += 4) {
            const double *v0 = vectors + k * d, *v1 = v0 + d, *v2 = v1 + d, *v3 = v2 + d;
            double c0 = signs[k] * v0[i], c1 = signs[k + 1] * v1[i];
            double c2 = signs[k + 2] * v2[i], c3 = signs[k + 3] * v3[i];
            for (ptrdiff_t j = 0; j < d; j++)
                row[j] += (c0 * v0[j] + c1 * v1[j]) + (c2 * v2[j] + c3 * v3[j]);
        }
        if (rank - k == 3) {
            const double *v0 = vectors + k * d, *v1 = v0 + d, *v2 = v1 + d;
            double c0 = signs[k] * v0[i], c1 = signs[k + 1] * v1[i], c2 = signs[k + 2] * v2[i];
            for (ptrdiff_t j = 0; j < d; j++) row[j] += (c0 * v0[j] + c1 * v1[j]) + c2 * v2[j];
        } else if (rank - k == 2) {
            const double *v0 = vectors + k * d, *v1 = v0 + d;
            double c0 = signs[k] * v0[i], c1 = signs[k + 1] * v1[i];
            for (ptrdiff_t j = 0; j < d; j++) row[j] += c0 * v0[j] + c1 * v1[j];
        } else if (rank - k == 1) {
            const double *v0 = vectors + k * d;
            double c0 = signs[k] * v0[i];
            for (ptrdiff_t j = 0; j < d; j++) row[j] += c0 * v0[j];
        }
    }
}

/* Write the upper triangle to the lower. */
void cal_mirror(double *M, ptrdiff_t d) {
    for (ptrdiff_t i = 0; i < d; i++)
        for (ptrdiff_t j = i + 1; j < d; j++) M[j * d + i] = M[i * d + j];
}

/* Sums from the first column to the last, so that equal pairs of samples tie to the last bit. */
double cal_sequential_distance(const double *a, const double *b, ptrdiff_t n) {
    double total = 0.0;
    for (ptrdiff_t j = 0; j < n; j++) total += (a[j] - b[j]) * (a[j] - b[j]);
    return total;
}

/* How many of scores + norms are not above the limit; NaN is not. */
CLONED int cal_count_within(const float *restrict scores, const float *restrict norms,
                            ptrdiff_t n, float limit) {
    int hits = 0;
    for (ptrdiff_t j = 0; j < n; j++) hits += !(norms[j] + scores[j] > limit);
    return hits;
}

/* Write the columns whose bound is below the limit; returns how many. All are written and kept
 * only if they are below: no branch to mispredict. */
CLONED ptrdiff_t cal_columns_below(const float *restrict bounds, ptrdiff_t first, ptrdiff_t stop,
                                   float limit, int *restrict out) {
    ptrdiff_t found = 0;
    for (ptrdiff_t j = first; j < stop; j++) {
        out[found] = (int)j;
        found += bounds[j] < limit;
    }
    return found;
}

/* How many eigenvalues of the tridiagonal matrix lie below each x (Sturm sequence). The divisions
 * wait for each other, so that sixteen sequences take less than twice the time of one. */
CLONED static void count_below_each(const double *restrict alpha, const double *restrict beta,
                                    ptrdiff_t n, const double *restrict x, ptrdiff_t n_x,
                                    double *restrict counts) {
    double q[PROBES];
    for (ptrdiff_t m = 0; m < n_x; m++) {
        q[m] = alpha[0] - x[m];
        counts[m] = q[m] < 0.0;
    }
    for (ptrdiff_t i = 1; i < n; i++) {
        double a = alpha[i], squared = beta[i - 1] * beta[i - 1] + SAFE;
        for (ptrdiff_t m = 0; m < n_x; m++) {
            q[m] = a - x[m] - squared / q[m];
            counts[m] += q[m] < 0.0;
        }
    }
}

int cal_count_below(const double *alpha, const double *beta, ptrdiff_t n, double x) {
    double count;
    count_below_each(alpha, beta, n, &x, 1, &count);
    return (int)count;
}

/* A unit vector with (T - x I) v ~ e_twist; returns the Rayleigh correction of x. Two recurrences
 * are joined where the pivot is smallest, which gives small components their full accuracy. */
CLONED static double twisted(const double *alpha, const double *beta, ptrdiff_t n, double x,
                      double *vector, double *work) {
    double *down = work, *up = work + n, smallest = INFINITY, squared = 0.0;
    ptrdiff_t twist = 0;
    down[0] = alpha[0] - x;
    up[n - 1] = alpha[n - 1] - x;
    for (ptrdiff_t i = 1; i < n; i++) {
        ptrdiff_t j = n - 1 - i;
        down[i] = alpha[i] - x - beta[i - 1] * beta[i - 1] / (down[i - 1] ? down[i - 1] : SAFE);
        up[j] = alpha[j] - x - beta[j] * beta[j] / (up[j + 1] ? up[j + 1] : SAFE);
    }
    for (ptrdiff_t i = 0; i < n; i++) {
        double pivot = down[i] + up[i] - (alpha[i] - x);
        if (fabs(pivot) < fabs(smallest)) smallest = pivot, twist = i;
    }
    for (ptrdiff_t i = 0; i < twist; i++) down[i] = -beta[i] / (down[i] ? down[i] : SAFE);
    for (ptrdiff_t i = twist + 1; i < n; i++) up[i] = -beta[i - 1] / (up[i] ? up[i] : SAFE);
    vector[twist] = 1.0;
    for (ptrdiff_t i = twist - 1; i >= 0; i--) vector[i] = down[i] * vector[i + 1];
    for (ptrdiff_t i = twist + 1; i < n; i++) vector[i] = up[i] * vector[i - 1];
    for (ptrdiff_t i = 0; i < n; i++) squared += vector[i] * vector[i];
    cal_scale(vector, 1.0 / sqrt(squared), n);
    return smallest / squared;
}

/* Eigenvalue number k (from 0) of the tridiagonal matrix, between low and high, and its vector.
 * The bracket is cut into PROBES + 1 parts; once a few digits are right and no other eigenvalue is
 * in the bracket, Rayleigh quotient steps follow, kept only while they stay within it. LAPACK's
 * dstevr bisects to the last digit, which takes far longer. */
double cal_tridiagonal_pair(const double *alpha, const double *beta, ptrdiff_t n, ptrdiff_t k,
                            double low, double high, double accuracy, double *vector,
                            double *work) {
    double x[PROBES], below[PROBES], below_low = 0.0, below_high = (double)n, guess, correction;
    for (int round = 0; round < 200; round++) {
        double part = (high - low) / (PROBES + 1);
        if (high - low <= fmax(accuracy, ROUNDING * fabs(high))) break;
        for (int m = 0; m < PROBES; m++) x[m] = low + (m + 1) * part;
        if (!(low < x[0] && x[PROBES - 1] < high)) break;
        count_below_each(alpha, beta, n, x, PROBES, below);
        for (int m = PROBES - 1; m >= 0 && below[m] > k; m--) high = x[m], below_high = below[m];
        for (int m = 0; m < PROBES && below[m] <= k; m++) low = x[m], below_low = below[m];
        if (high - low > 0.02 * fabs(high) || below_high - below_low > 1) continue;
        guess = 0.5 * (low + high);
        for (int step = 0; step < 6; step++) {
            correction = twisted(alpha, beta, n, guess, vector, work);
            guess += correction;
            if (!(low <= guess && guess <= high)) break;
            if (fabs(correction) <= fmax(accuracy, ROUNDING * fabs(guess))) return guess;
        }
    }
    twisted(alpha, beta, n, high, vector, work);
    return high;
}
