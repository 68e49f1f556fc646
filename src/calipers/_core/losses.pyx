"""Losses of a triplet's margin: how bad it is, and how steep."""

import numpy as np

from libc.math cimport exp, fabs, fmax, log1p

from .part cimport Part


cdef class Loss(Part):
    """A loss that falls as the margin grows; ``slope`` is the size of its derivative."""

    cdef double slope_at(self, double margin, double *value) noexcept nogil:
        """The slope; the loss goes to ``value`` unless that is NULL."""
        return 0.0

    def value(self, margin):
        """Loss at each margin."""
        return self._at_each(margin, False)

    def slope(self, margin):
        """Size of the derivative at each margin."""
        return self._at_each(margin, True)

    def _at_each(self, margin, bint slope):
        given = np.asarray(margin, dtype=np.float64)
        out = np.empty(given.size)
        cdef const double[::1] margins = np.ascontiguousarray(given).reshape(-1)
        cdef double[::1] values = out
        cdef double slope_here, value = 0.0
        cdef Py_ssize_t i
        with nogil:
            for i in range(margins.shape[0]):
                slope_here = self.slope_at(margins[i], &value)
                values[i] = slope_here if slope else value
        return out.reshape(given.shape)


cdef class SmoothHinge(Loss):
    r"""Smooth approximation of the hinge (equation 2 of the paper).

    .. math:: \ell(z) = \tfrac1L \log(1 + e^{-L (z - 1)})

    ``hinge <= value <= hinge + log(2) / smoothness`` and ``slope <= smoothness * value``.
    """

    parameters = ("smoothness",)

    def __init__(self, double smoothness=3.0):
        self.smoothness = smoothness

    cdef double slope_at(self, double margin, double *value) noexcept nogil:
        cdef double exponent = self.smoothness * (margin - 1.0), small = exp(-fabs(exponent))
        if value != NULL:
            value[0] = (fmax(0.0, -exponent) + log1p(small)) / self.smoothness
        return (small if exponent >= 0.0 else 1.0) / (1.0 + small)


cdef class Hinge(Loss):
    r"""The hinge, :math:`\max(0, m - z)`, with the kink at ``m = threshold``.

    Its slope is 1 up to and including the threshold, else 0.
    """

    parameters = ("threshold",)

    def __init__(self, double threshold=1.0):
        self.threshold = threshold

    cdef double slope_at(self, double margin, double *value) noexcept nogil:
        if value != NULL:
            value[0] = fmax(0.0, self.threshold - margin)
        return 1.0 if margin <= self.threshold else 0.0


cdef class SquaredHinge(Loss):
    r"""Half the squared hinge, :math:`\tfrac12 \max(0, m - z)^2`; its slope is the hinge."""

    parameters = ("threshold",)

    def __init__(self, double threshold=1.0):
        self.threshold = threshold

    cdef double slope_at(self, double margin, double *value) noexcept nogil:
        cdef double hinge = fmax(0.0, self.threshold - margin)
        if value != NULL:
            value[0] = 0.5 * hinge * hinge
        return hinge
