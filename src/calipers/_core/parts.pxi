# The parts of a method: a loss, a schedule of steps, a sampling policy. Each formula is here once.
#
# The loop calls what Python shows: a part has a method for compiled code, and one for Python.

cdef double LOSS_ROUNDING = 1e-10  # a loss below this share of what the margin is made of


cdef class Part:
    """An extension type with parameters: it compares, copies, pickles and prints by them."""

    parameters = ()

    def _values(self):
        return tuple(getattr(self, name) for name in self.parameters)

    def __repr__(self):
        pairs = zip(self.parameters, self._values())
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in pairs)})"

    def __eq__(self, other):
        if type(self) is not type(other):
            return NotImplemented
        return all(map(np.array_equal, self._values(), other._values()))

    def __hash__(self):
        return hash((type(self), self._values()))

    def __reduce__(self):
        return type(self), self._values()


# Losses of a triplet's margin


cdef class Loss(Part):
    """A loss that falls as the margin grows; ``slope`` is the size of its derivative."""

    cdef double slope_at(self, double margin, double *value) noexcept nogil:
        """The slope; the loss goes to ``value`` unless that is NULL."""
        return 0.0

    cdef double slopes_at(self, const double *margins, Py_ssize_t n, double scale,
                          double *slopes) noexcept nogil:
        """Slopes at n margins, each times ``scale``; returns the sum of the losses."""
        cdef double value = 0.0, total = 0.0
        cdef Py_ssize_t s
        for s in range(n):
            slopes[s] = self.slope_at(scale * margins[s], &value)
            total += value
        return total

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

    cdef readonly double smoothness
    parameters = ("smoothness",)

    def __init__(self, double smoothness=3.0):
        self.smoothness = smoothness

    cdef double slope_at(self, double margin, double *value) noexcept nogil:
        cdef double exponent = self.smoothness * (margin - 1.0), small = exp(-fabs(exponent))
        if value != NULL:
            value[0] = (fmax(0.0, -exponent) + log1p(small)) / self.smoothness
        return (small if exponent >= 0.0 else 1.0) / (1.0 + small)

    cdef double slopes_at(self, const double *margins, Py_ssize_t n, double scale,
                          double *slopes) noexcept nogil:
        """The same by one logarithm for many: ``product`` is that of all 1 + small, less 1."""
        cdef double exponent, small, product = 0.0, total = 0.0
        cdef Py_ssize_t s
        for s in range(n):
            exponent = self.smoothness * (scale * margins[s] - 1.0)
            small = exp(-fabs(exponent))
            slopes[s] = (small if exponent >= 0.0 else 1.0) / (1.0 + small)
            total += fmax(0.0, -exponent)
            product += small + product * small
            if product > 1e300:
                total += log1p(product)
                product = 0.0
        return (total + log1p(product)) / self.smoothness


cdef class Hinge(Loss):
    r"""The hinge, :math:`\max(0, m - z)`, with the kink at ``m = threshold``.

    Its slope is 1 up to and including the threshold, else 0.
    """

    cdef readonly double threshold
    parameters = ("threshold",)

    def __init__(self, double threshold=1.0):
        self.threshold = threshold

    cdef double slope_at(self, double margin, double *value) noexcept nogil:
        if value != NULL:
            value[0] = fmax(0.0, self.threshold - margin)
        return 1.0 if margin <= self.threshold else 0.0


cdef class SquaredHinge(Loss):
    r"""Half the squared hinge, :math:`\tfrac12 \max(0, m - z)^2`; its slope is the hinge."""

    cdef readonly double threshold
    parameters = ("threshold",)

    def __init__(self, double threshold=1.0):
        self.threshold = threshold

    cdef double slope_at(self, double margin, double *value) noexcept nogil:
        cdef double hinge = fmax(0.0, self.threshold - margin)
        if value != NULL:
            value[0] = 0.5 * hinge * hinge
        return hinge


# Step sizes: iteration t (from 1) takes ``kept(t) * M - rate(t) * gradient``


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

    cdef readonly double learning_rate
    parameters = ("learning_rate",)

    def __init__(self, double learning_rate=1.0):
        self.learning_rate = learning_rate

    cdef double rate_of(self, double t) noexcept nogil:
        return self.learning_rate


cdef class Shrinking(Schedule):
    r"""Steps for :math:`\tfrac\lambda2 \|M\|_F^2` plus a loss: rate 1 / (lambda t), kept 1 - 1 / t.

    The first iterate is forgotten at once.
    """

    cdef readonly double ridge
    parameters = ("ridge",)

    def __init__(self, double ridge):
        self.ridge = ridge

    cdef double rate_of(self, double t) noexcept nogil:
        return 1.0 / (self.ridge * t)

    cdef double kept_by(self, double t) noexcept nogil:
        return 1.0 - 1.0 / t


cdef class FrankWolfeSteps(Schedule):
    """For :class:`~calipers.solvers.projections.FrankWolfe`: rate 1 / sqrt(t), kept 1 - 1 / sqrt(t)."""

    cdef double rate_of(self, double t) noexcept nogil:
        return 1.0 / sqrt(t)

    cdef double kept_by(self, double t) noexcept nogil:
        return 1.0 - 1.0 / sqrt(t)


# Sampling policies. An accepted batch moves the metric along each of its triplets by
# ``eta * slope / (batch_size * probability)``; dividing by the probability keeps the step unbiased.


cdef struct Batch:
    double *slopes  # of the candidates; a policy may change them
    const double *norms  # of far far' - near near', of the candidates
    const double *far  # differences of the candidates
    const double *near
    Py_ssize_t size
    Py_ssize_t d


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

    Unless the norm is larger, an accepted step then has Frobenius length ``eta * largest``.
    """

    cdef readonly double largest
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

    cdef public double largest
    parameters = ("largest",)

    def __init__(self, double largest=0.0):
        self.largest = largest

    cdef double probability_of(self, Batch batch, double uniform) noexcept nogil:
        cdef double norm = gradient_norm_of(batch)
        self.largest = fmax(self.largest, norm)
        return norm / self.largest if self.largest > 0.0 else 0.0


cdef class PassiveAggressive(Policy):
    """Update on every triplet with a loss, by the smallest step that makes the loss 0 (OASIS).

    For `calipers.solvers.losses.SquaredHinge`, whose slope is the loss of OASIS, and batches of one. It
    sets the slope to ``min(aggressiveness, loss / norm^2)``, the multiple of
    ``far far' - near near'`` that the step adds.
    """

    cdef readonly double aggressiveness
    parameters = ("aggressiveness",)

    def __init__(self, double aggressiveness):
        self.aggressiveness = aggressiveness

    cdef double probability_of(self, Batch batch, double uniform) noexcept nogil:
        cdef double loss = batch.slopes[0], norm = batch.norms[0]
        if norm == 0.0 or loss <= LOSS_ROUNDING * fmax(1.0, norm):
            return 0.0
        batch.slopes[0] = fmin(self.aggressiveness, loss / (norm * norm))
        return 1.0
