from .part cimport Part


cdef struct Batch:
    double *slopes  # of the candidates; a policy may change them
    const double *norms  # of far far' - near near', of the candidates
    const double *far  # differences of the candidates
    const double *near
    Py_ssize_t size
    Py_ssize_t d


cdef class Policy(Part):
    cdef double probability_of(self, Batch batch, double uniform) noexcept nogil


cdef class EveryBatch(Policy):
    pass


cdef class BySlope(Policy):
    pass


cdef class ByGradientNorm(Policy):
    cdef readonly double largest


cdef class ByRunningNorm(Policy):
    cdef public double largest


cdef class PassiveAggressive(Policy):
    cdef readonly double aggressiveness
