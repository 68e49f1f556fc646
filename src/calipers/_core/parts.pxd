cdef class Part:
    pass


cdef class Loss(Part):
    cdef double slope_at(self, double margin, double *value) noexcept nogil
    cdef double slopes_at(self, const double *margins, Py_ssize_t n, double scale,
                          double *slopes) noexcept nogil


cdef class SmoothHinge(Loss):
    cdef readonly double smoothness


cdef class Hinge(Loss):
    cdef readonly double threshold


cdef class SquaredHinge(Loss):
    cdef readonly double threshold


cdef class Schedule(Part):
    cdef double rate_of(self, double t) noexcept nogil
    cdef double kept_by(self, double t) noexcept nogil


cdef class Constant(Schedule):
    cdef readonly double learning_rate


cdef class Shrinking(Schedule):
    cdef readonly double ridge


cdef class FrankWolfeSteps(Schedule):
    pass


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
