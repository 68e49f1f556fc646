# The C primitives, see kernels.h.

cdef extern from "kernels.h" nogil:
    double cal_dot(const double *a, const double *b, Py_ssize_t n)
    double cal_squared_distance(const double *a, const double *b, Py_ssize_t n)
    void cal_row_dots(const double *A, const double *B, Py_ssize_t n, Py_ssize_t d, double *out)
    void cal_multiply(const double *rows, const double *M, Py_ssize_t n, Py_ssize_t d, double *out)
    void cal_margins(const double *product, const double *far, const double *near, Py_ssize_t n,
                     Py_ssize_t d, double *out)
    void cal_update_margins(const double *far, const double *near, Py_ssize_t n, Py_ssize_t d,
                            const double *vectors, const double *signs, Py_ssize_t rank,
                            double *out)
    void cal_update_scores(const double *p, const double *z, double tau, const double *P,
                           const double *Z, Py_ssize_t n, Py_ssize_t d, double *out)
    double cal_squared_gradient_norm(const double *far, const double *near,
                                     const double *slopes, Py_ssize_t b, Py_ssize_t d)
    void cal_outer_norms(const double *far, const double *near, Py_ssize_t n, Py_ssize_t d,
                         Py_ssize_t k, double *norms)
    void cal_tridiagonalise(double *A, Py_ssize_t d, double *alpha, double *beta, double *factors,
                            double *work)
    void cal_reflect(const double *A, Py_ssize_t d, const double *factors, double *x)
    int cal_count_within(const float *scores, const float *norms, Py_ssize_t n, float limit)
    Py_ssize_t cal_columns_below(const float *bounds, Py_ssize_t first, Py_ssize_t stop,
                                 float limit, int *out)
    void cal_add(double *x, double c, const double *row, Py_ssize_t n)
    void cal_scale(double *x, double c, Py_ssize_t n)
    void cal_subtract(const double *a, const double *b, double *out, Py_ssize_t n)
    void cal_subtract_float(const float *a, const float *b, double *out, Py_ssize_t n)
    void cal_gather(const double *X, const Py_ssize_t *triplets, Py_ssize_t n, Py_ssize_t d,
                    double *far, double *near)
    void cal_gather_float(const float *X, const Py_ssize_t *triplets, Py_ssize_t n, Py_ssize_t d,
                          double *far, double *near)
    void cal_add_outer_products(double *M, Py_ssize_t d, const double *vectors,
                                const double *signs, Py_ssize_t rank)
    void cal_mirror(double *M, Py_ssize_t d)
    double cal_sequential_distance(const double *a, const double *b, Py_ssize_t n)
    int cal_count_below(const double *alpha, const double *beta, Py_ssize_t n, double x)
    double cal_tridiagonal_pair(const double *alpha, const double *beta, Py_ssize_t n,
                                Py_ssize_t k, double low, double high, double accuracy,
                                double *vector, double *work)
