from .part cimport Part


cdef class Schedule(Part):
    cdef double rate_of(self, double t) noexcept nogil
    cdef double kept_by(self, double t) noexcept nogil


cdef class Constant(Schedule):
    cdef readonly double learning_rate


cdef class Shrinking(Schedule):
    cdef readonly double ridge


cdef class FrankWolfeSteps(Schedule):
    pass
