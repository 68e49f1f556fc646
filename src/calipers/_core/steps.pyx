"""Steps of a pair: ``A - c (Az)(Az)'`` with z the difference of its two samples.

A pair of similar samples has the sign +1, one of dissimilar ones the sign -1. From the present
squared distance ``z'Az`` a step finds c so that A stays positive definite.
"""

import numpy as np

from libc.math cimport fmax, fmin, hypot, sqrt

from .part cimport Part

cdef double ROUNDING = 1e-12  # squared distances below this share of the usual: equal samples


cdef class PairStep(Part):
    """How far a pair moves A, and whether it does."""

    cdef double coefficient_of(self, Py_ssize_t pair, Py_ssize_t sign, double squared,
                               double usual, bint *moves) noexcept nogil:
        moves[0] = False
        return 0.0

    def coefficient(self, Py_ssize_t pair, Py_ssize_t sign, double squared, double usual):
        """c for the pair, or None if it does not move A.

        ``squared`` is z'Az, ``usual`` what it would be if A were a multiple of the identity.
        """
        cdef bint moves = False
        c = self.coefficient_of(pair, sign, squared, usual, &moves)
        return c if moves else None


cdef class TowardsTarget(PairStep):
    r"""LEGO's step for a pair that is too far apart or too close.

    .. math:: A_{t+1} = \arg\min_A D_{ld}(A, A_t) + \tfrac\eta2 (z'Az - y)^2

    With :math:`\hat y = z'A_tz` the new squared distance :math:`\bar y` is the positive root of
    :math:`\eta\hat y w^2 + (1 - \eta y\hat y) w - \hat y`, which lies between
    :math:`\hat y` and y, and :math:`c = (\hat y - \bar y) / \hat y^2`.

    Parameters
    ----------
    near, far : float
        Squared distance that similar pairs should have at most, and dissimilar ones at least.
    learning_rate : float
        eta.
    """

    parameters = ("near", "far", "learning_rate")

    def __init__(self, double near, double far, double learning_rate):
        self.near, self.far, self.learning_rate = near, far, learning_rate

    cdef double coefficient_of(self, Py_ssize_t pair, Py_ssize_t sign, double squared,
                               double usual, bint *moves) noexcept nogil:
        cdef double target = self.near if sign > 0 else self.far, eta = self.learning_rate
        cdef double q, s, root
        moves[0] = squared > ROUNDING * fmax(1.0, usual) and sign * (squared - target) > 0.0
        if not moves[0]:
            return 0.0
        # the positive root, in the form that does not subtract equals
        q = eta * target * squared - 1.0
        s = hypot(q, 2.0 * sqrt(eta) * squared)
        root = (q + s) / (2.0 * eta * squared) if q >= 0.0 else 2.0 * squared / (s - q)
        return (squared - root) / squared / squared

    def loss(self, squared, signs):
        """Half the square of what is too much or too little; 0 where nothing is."""
        excess = np.where(np.asarray(signs) > 0, squared - self.near, self.far - squared)
        return 0.5 * np.maximum(excess, 0.0) ** 2


cdef class ProjectionWithSlack(PairStep):
    r"""ITML's step: project onto a pair's constraint, with a dual variable and a slack.

    With :math:`p = z'Az` and :math:`\delta` the sign::

        alpha = min(dual, delta gamma / (gamma + 1) (1 / p - 1 / slack))
        dual -= alpha;  1 / slack += delta alpha / gamma;  c = -delta alpha / (1 - delta alpha p)

    Parameters
    ----------
    slack_weight : float
        gamma.
    duals, slacks : array of shape (n_pairs,)
        Changed by the steps; slacks are squared distances.
    """

    parameters = ("slack_weight", "duals", "slacks")

    def __init__(self, double slack_weight, duals, slacks):
        if np.any(np.asarray(slacks) <= 0.0):
            raise ValueError("slacks are squared distances, which must be larger than 0.")
        self.slack_weight, self.duals, self.slacks = slack_weight, duals, slacks
        self._duals, self._slacks = duals, slacks

    cdef double coefficient_of(self, Py_ssize_t pair, Py_ssize_t sign, double squared,
                               double usual, bint *moves) noexcept nogil:
        cdef double gamma = self.slack_weight, slack = self._slacks[pair], alpha
        moves[0] = False
        if squared <= ROUNDING * usual:
            return 0.0
        alpha = fmin(self._duals[pair],
                     sign * gamma / (gamma + 1.0) * (1.0 / squared - 1.0 / slack))
        if alpha == 0.0:
            return 0.0
        moves[0] = True
        self._duals[pair] -= alpha
        self._slacks[pair] = 1.0 / (1.0 / slack + sign * alpha / gamma)
        return -sign * alpha / (1.0 - sign * alpha * squared)
