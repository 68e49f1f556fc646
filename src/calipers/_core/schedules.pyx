"""Step sizes: iteration t (from 1) takes ``kept(t) * M - rate(t) * gradient``."""

from libc.math cimport sqrt

from .part cimport Part


cdef class Schedule(Part):
    """Length of each step, and how much of the metric it keeps."""

    cdef double rate_of(self, double t) noexcept nogil:
        return 0.0

    cdef double kept_by(self, double t) noexcept nogil:
        return 1.0

    def rate(self, double t):
        """Length of step t, from 1."""
        return self.rate_of(t)

    def kept(self, double t):
        """Share of the metric that step t keeps."""
        return self.kept_by(t)


cdef class Constant(Schedule):
    """The paper's: every step has the same length, and M is not shrunk."""

    parameters = ("learning_rate",)

    def __init__(self, double learning_rate=1.0):
        self.learning_rate = learning_rate

    cdef double rate_of(self, double t) noexcept nogil:
        return self.learning_rate


cdef class Shrinking(Schedule):
    r"""Steps for :math:`\tfrac\lambda2 \|M\|_F^2` plus a loss: rate 1 / (lambda t), kept 1 - 1 / t.

    The first iterate is forgotten at once.
    """

    parameters = ("ridge",)

    def __init__(self, double ridge):
        self.ridge = ridge

    cdef double rate_of(self, double t) noexcept nogil:
        return 1.0 / (self.ridge * t)

    cdef double kept_by(self, double t) noexcept nogil:
        return 1.0 - 1.0 / t


cdef class FrankWolfeSteps(Schedule):
    """Steps of :class:`~calipers.projections.FrankWolfe`: rate 1 / sqrt(t), kept 1 - 1 / sqrt(t)."""

    cdef double rate_of(self, double t) noexcept nogil:
        return 1.0 / sqrt(t)

    cdef double kept_by(self, double t) noexcept nogil:
        return 1.0 - 1.0 / sqrt(t)
