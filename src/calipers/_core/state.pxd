from .eigen cimport EigenWorkspace


cdef class State:
    cdef readonly object M, total, memory
    cdef double *m
    cdef double *summed
    cdef double *kept
    cdef Py_ssize_t d
    cdef public double scale, norm, floor, mass, loss, slope, largest, lowest, dual
    cdef public Py_ssize_t steady, seen, updates, changes, rank, projections, negatives
    cdef void add_to_total(self) noexcept nogil
    cdef void rescale(self) noexcept nogil


cdef class Workspace:
    cdef object _arrays
    cdef readonly Py_ssize_t d, batch_size, max_rows, rows, negatives
    cdef EigenWorkspace eigen
    cdef double *gaps
    cdef double *product
    cdef double *far
    cdef double *near
    cdef double *slopes
    cdef double *vectors
    cdef double *signs
    cdef double *values
