cdef bint insert(double *distances, Py_ssize_t *indices, Py_ssize_t size, double distance,
                 Py_ssize_t index) noexcept nogil
