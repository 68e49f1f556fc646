from .part cimport Part


cdef class PairStep(Part):
    cdef double coefficient_of(self, Py_ssize_t pair, Py_ssize_t sign, double squared,
                               double usual, bint *moves) noexcept nogil


cdef class TowardsTarget(PairStep):
    cdef readonly double near, far, learning_rate


cdef class ProjectionWithSlack(PairStep):
    cdef readonly double slack_weight
    cdef readonly object duals, slacks
    cdef double[::1] _duals, _slacks
