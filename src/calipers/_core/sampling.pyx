"""Sampling policies: with which probability a batch leads to an update.

An accepted batch moves the metric by ``eta * slope / (batch_size * probability)`` along each of
its triplets; dividing by the probability keeps the step unbiased.
"""

import numpy as np

from libc.math cimport fmax, fmin, sqrt

from .kernels cimport cal_dot, cal_squared_gradient_norm
from .part cimport Part

cdef double NIL = 1e-10  # a loss below this share of what the margin is made of is rounding


cdef class Policy(Part):
    """The rule that gives the accept probability of a batch.

    It may also set the step: the loop goes by the slopes that the rule leaves in the batch.
    """

    cdef double probability_of(self, Batch batch, double uniform) noexcept nogil:
        return 0.0

    def probability(self, const double[::1] slopes, const double[::1] norms,
                    const double[:, ::1] far, const double[:, ::1] near, double uniform):
        """Accept probability of a batch, given its candidates.

        May be 0 where ``uniform`` is sure not to fall below the true probability.
        """
        cdef double[::1] own = np.array(slopes)
        cdef Batch batch = Batch(&own[0], &norms[0], &far[0, 0], &near[0, 0],
                                 own.shape[0], far.shape[1])
        return self.probability_of(batch, uniform)


cdef double gradient_norm_of(Batch batch) noexcept nogil:
    cdef double squared = cal_squared_gradient_norm(
        batch.far, batch.near, batch.slopes, batch.size, batch.d
    )
    return sqrt(fmax(0.0, squared)) / batch.size


def gradient_norm(far, near, slopes):
    """Frobenius norm of ``mean(slope * (near near' - far far'))`` from a Gram matrix.

    It costs b^2 d instead of b d^2.
    """
    cdef const double[:, ::1] f = np.ascontiguousarray(far, dtype=np.float64)
    cdef const double[:, ::1] n = np.ascontiguousarray(near, dtype=np.float64)
    cdef double[::1] s = np.array(slopes, dtype=np.float64)
    cdef Batch batch = Batch(&s[0], NULL, &f[0, 0], &n[0, 0], s.shape[0], f.shape[1])
    return gradient_norm_of(batch)


cdef class EveryBatch(Policy):
    """Update on every batch (SGD and Mini-SGD, Algorithm 1)."""

    cdef double probability_of(self, Batch batch, double uniform) noexcept nogil:
        return 1.0


cdef class BySlope(Policy):
    """Update with probability ``slope`` of one triplet drawn from the batch.

    With batches of one this is AS-SGD (Algorithm 2), else HR-SGD (Algorithm 3). Only the
    drawn triplet is evaluated before the decision.
    """

    cdef double probability_of(self, Batch batch, double uniform) noexcept nogil:
        return batch.slopes[0]


cdef class ByGradientNorm(Policy):
    """Update with probability ``min(1, norm of the batch gradient / largest)`` (HA-SGD).

    An accepted step then has Frobenius length ``eta * largest`` before the projection.
    """

    parameters = ("largest",)

    def __init__(self, double largest):
        self.largest = largest

    cdef double probability_of(self, Batch batch, double uniform) noexcept nogil:
        if self.largest <= 0.0:
            return 0.0
        # by the triangle inequality the gradient is no longer than this
        cdef double bound = (1.0 + 1e-9) * cal_dot(batch.slopes, batch.norms, batch.size)
        if uniform * self.largest >= bound / batch.size:
            return 0.0
        return fmin(1.0, gradient_norm_of(batch) / self.largest)


cdef class ByRunningNorm(Policy):
    """As `ByGradientNorm`, but ``largest`` is the largest norm met so far."""

    parameters = ("largest",)

    def __init__(self, double largest=0.0):
        self.largest = largest

    cdef double probability_of(self, Batch batch, double uniform) noexcept nogil:
        cdef double norm = gradient_norm_of(batch)
        self.largest = fmax(self.largest, norm)
        return norm / self.largest if self.largest > 0.0 else 0.0


cdef class PassiveAggressive(Policy):
    """Update on every triplet with a loss, by the smallest step that makes the loss 0 (OASIS).

    For `calipers.losses.SquaredHinge`, whose slope is the loss of OASIS, and batches of one. It
    sets the slope to ``min(aggressiveness, loss / norm^2)``, the multiple of
    ``far far' - near near'`` that the step adds.
    """

    parameters = ("aggressiveness",)

    def __init__(self, double aggressiveness):
        self.aggressiveness = aggressiveness

    cdef double probability_of(self, Batch batch, double uniform) noexcept nogil:
        cdef double loss = batch.slopes[0], norm = batch.norms[0]
        if norm == 0.0 or loss <= NIL * fmax(1.0, norm):
            return 0.0
        batch.slopes[0] = fmin(self.aggressiveness, loss / (norm * norm))
        return 1.0
