from .part cimport Part


cdef class Loss(Part):
    cdef double slope_at(self, double margin, double *value) noexcept nogil


cdef class SmoothHinge(Loss):
    cdef readonly double smoothness


cdef class Hinge(Loss):
    cdef readonly double threshold


cdef class SquaredHinge(Loss):
    cdef readonly double threshold
