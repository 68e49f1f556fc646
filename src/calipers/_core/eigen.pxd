cdef class EigenWorkspace:
    cdef Py_ssize_t d
    cdef object _arrays
    cdef double *square
    cdef double *basis
    cdef double *start
    cdef double *alpha  # diagonal and subdiagonal of the tridiagonal matrix
    cdef double *ritz
    cdef double *work
    cdef int *integers


cdef bint is_positive_definite(const double *M, double shift, EigenWorkspace w) noexcept nogil
cdef Py_ssize_t few_negative(const double *M, double norm, Py_ssize_t most, double *values,
                             double *vectors, EigenWorkspace w, bint *unsure) noexcept nogil
cdef Py_ssize_t all_negative(const double *M, double norm, Py_ssize_t most, double *values,
                             double *vectors, EigenWorkspace w) except -1 nogil
cdef double lowest_pair(const double *M, double below, double norm, double *q,
                        EigenWorkspace w) except? -1.0 nogil
