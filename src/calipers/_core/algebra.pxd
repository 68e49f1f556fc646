cdef class Samples:
    cdef readonly object X
    cdef readonly Py_ssize_t n, d
    cdef const double *_double
    cdef const float *_float
    cdef void difference(self, Py_ssize_t i, Py_ssize_t j, double *out) noexcept nogil
    cdef void sample(self, Py_ssize_t i, double *out) noexcept nogil


cdef void gather(Samples X, const Py_ssize_t *triplets, Py_ssize_t n, double *far,
                 double *near) noexcept nogil
cdef void clip(double *far, double *near, Py_ssize_t n, Py_ssize_t d, Py_ssize_t k,
               double clip_norm) noexcept nogil
cdef void multiply(const double *rows, const double *M, Py_ssize_t n, Py_ssize_t d,
                   double *product) noexcept nogil
cdef void margins(const double *M, const double *far, const double *near, Py_ssize_t n,
                  Py_ssize_t d, Py_ssize_t k, double *gaps, double *product,
                  double *out) noexcept nogil
cdef void update_margins(const double *far, const double *near, Py_ssize_t n, Py_ssize_t d,
                         const double *vectors, const double *signs, Py_ssize_t rank,
                         double *product, double *out) noexcept nogil
cdef double add_outer_products(double *M, Py_ssize_t d, const double *vectors,
                               const double *signs, Py_ssize_t rank) noexcept nogil
