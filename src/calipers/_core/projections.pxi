# How an update keeps the metric within its bounds: when it is projected, or what is done instead.
#
# ``update`` takes the step that ``work.vectors`` and ``work.signs`` hold, in units of M, and leaves
# there the whole change of M; it returns how many directions that has.

cdef double FACTOR_ROUNDING = 1e-12  # TINY where a factorisation tells
cdef double FEW_NEGATIVE = 4.0  # of a change, in the mean so far, that Lanczos finds


cdef int change(State state, Workspace work, Py_ssize_t rank) except -1 nogil:
    """Add the directions to M."""
    state.add_to_total()
    state.norm = sqrt(add_outer_products(state.m, state.d, work.vectors, work.signs, rank))
    state.changes += 1
    if not state.norm < INFINITY:
        with gil:
            raise ValueError("M is not finite")
    return 0


cdef Py_ssize_t subtracted(Workspace work, Py_ssize_t rank, double *removed) noexcept nogil:
    """How many directions are subtracted, and the most they take; their sum starts Lanczos."""
    cdef Py_ssize_t k, count = 0, d = work.d
    cdef double *v
    removed[0] = 0.0
    memset(work.eigen.start, 0, d * sizeof(double))
    for k in range(rank):
        if work.signs[k] < 0.0:
            v = work.vectors + k * d
            count += 1
            removed[0] += cal_dot(v, v, d)
            cal_add(work.eigen.start, 1.0, v, d)
    return count


cdef bint stays_positive(State state, Workspace work, double removed) noexcept nogil:
    """Whether M is still positive definite, by a Cholesky factorisation.

    After a few successes ``M - shift * I`` is tried, which, if it is positive too, gives a
    floor that spares the next few steps the factorisation. After a step that left the cone it
    is not tried: the next one mostly does so too.
    """
    if state.steady == 0:
        return False
    cdef double shift = 8.0 * removed
    if state.steady >= 2:
        if is_positive_definite(state.m, -shift, work.eigen):
            state.floor = shift
            state.steady += 1
            return True
        state.steady = 1
    if is_positive_definite(state.m, 0.0, work.eigen):
        state.floor = 0.0
        state.steady += 1
        return True
    return False


cdef int lift(State state, Workspace work, Py_ssize_t first, Py_ssize_t count) noexcept nogil:
    """Add ``|value| q q'`` for every pair; ``sqrt(|value|) q`` replaces q."""
    cdef Py_ssize_t k, d = state.d
    cdef double *vectors = work.vectors + first * d
    if count == 0:
        return 0
    for k in range(count):
        cal_scale(vectors + k * d, sqrt(-work.values[k]), d)
        work.signs[first + k] = 1.0
    state.norm = sqrt(add_outer_products(state.m, d, vectors, work.signs + first, count))
    return 0


cdef Py_ssize_t cut_off(State state, Workspace work, Py_ssize_t rank,
                        Py_ssize_t most) except -1 nogil:
    """Cut off the negative eigenvalues of M, at most ``most``: the number found.

    Fewer than could be are believed only if a factorisation agrees.
    """
    cdef Py_ssize_t found = 0, more
    cdef bint unsure
    cdef double *vectors = work.vectors + rank * state.d
    if state.negatives <= FEW_NEGATIVE * state.projections:
        found = few_negative(state.m, state.norm, most, work.values, vectors, work.eigen, &unsure)
        lift(state, work, rank, found)
        if found == most or not unsure and is_positive_definite(
            state.m, FACTOR_ROUNDING * state.norm, work.eigen
        ):
            return found
    more = all_negative(state.m, state.norm, most - found, work.values,
                        vectors + found * state.d, work.eigen)
    lift(state, work, rank + found, more)
    return found + more


cdef class Rule(Part):
    """How an update keeps the metric within its bounds."""

    cdef bint needs_step(self) noexcept nogil:
        """Whether M stays as it is where the gradient is nil."""
        return True

    cdef Py_ssize_t update(self, State state, Schedule schedule, Workspace work,
                           Py_ssize_t rank) except -1 nogil:
        return rank

    def memory_shape(self, Py_ssize_t d):
        """Shape of what the rule keeps besides M."""
        return 0, d

    def max_negatives(self, Py_ssize_t rows, Py_ssize_t d):
        """Eigenvalues that can be negative before a projection, with so many rows of a batch."""
        return rows


cdef class EveryUpdate(Rule):
    """The paper's rule: every update ends with the projection onto the cone, then the ball."""

    cdef Py_ssize_t update(self, State state, Schedule schedule, Workspace work,
                           Py_ssize_t rank) except -1 nogil:
        cdef double removed
        cdef Py_ssize_t found = 0, count = subtracted(work, rank, &removed)
        change(state, work, rank)
        state.floor -= removed
        if state.floor < 0.0 and not stays_positive(state, work, removed):
            found = cut_off(state, work, rank, min(count, state.d))
            state.floor, state.steady = 0.0, 1 if found == 0 else 0
            state.projections += found > 0
            state.negatives += found
        state.rank += rank + found
        return rank + found


cdef class Periodic(Rule):
    """The same after every ``period``-th update that changes M; the ball after each.

    In between a few eigenvalues of M may be negative. The mean of the iterates is projected when
    it is used.
    """

    cdef readonly Py_ssize_t period
    parameters = ("period",)

    def __init__(self, Py_ssize_t period):
        if period < 1:
            raise ValueError(f"Periodic needs a period of at least 1, got {period}.")
        self.period = period

    def max_negatives(self, Py_ssize_t rows, Py_ssize_t d):
        return min(d, rows * min(d, self.period))

    cdef Py_ssize_t update(self, State state, Schedule schedule, Workspace work,
                           Py_ssize_t rank) except -1 nogil:
        cdef Py_ssize_t found = 0
        change(state, work, rank)
        if state.changes % self.period == 0 and not is_positive_definite(
            state.m, FACTOR_ROUNDING * state.norm, work.eigen
        ):
            found = all_negative(state.m, state.norm, work.negatives, work.values,
                                 work.vectors + rank * state.d, work.eigen)
            lift(state, work, rank, found)
            state.projections += found > 0
            state.negatives += found
        state.rank += rank + found
        return rank + found


cdef class AtEnd(Rule):
    r"""One projection, at the end (Mahdavi, Yang, Jin, Zhu and Yi 2012, Algorithm 1).

    With the constraint :math:`g(M) = -\lambda_{min}(M) \le 0`, whose gradient is
    :math:`-q q'` for the lowest eigenvector q, every update takes, within the ball,

    .. math::

        M_{t+1} &= M_t - \eta (\nabla \ell(M_t) + \lambda_t \nabla g(M_t)) \\
        \lambda_{t+1} &= \max(0, (1 - \gamma \eta) \lambda_t + \eta g(M_t))

    from :math:`\lambda_1 = 0`. It costs one eigenpair, O(d^2) a product, and none as long as M is
    positive definite and the dual variable 0, which then stays 0. The mean of the iterates is
    projected when it is used. Their theorem ties :math:`\gamma` to short steps,
    :math:`\gamma = 2 \eta`; here it is free.

    Parameters
    ----------
    gamma : float
        Weight of the ridge on the dual variable.
    unit : float
        Size of the first iterate: :math:`\eta` and g are those of a problem that starts at I.
    """

    cdef readonly double gamma, unit
    parameters = ("gamma", "unit")

    def __init__(self, double gamma=0.01, double unit=1.0):
        self.gamma, self.unit = gamma, unit

    def memory_shape(self, Py_ssize_t d):
        return 1, d

    cdef bint needs_step(self) noexcept nogil:
        return False

    cdef Py_ssize_t update(self, State state, Schedule schedule, Workspace work,
                           Py_ssize_t rank) except -1 nogil:
        cdef Py_ssize_t d = state.d
        cdef double *q = state.kept
        cdef double removed, rate = schedule.rate_of(state.seen)
        cdef double eta = rate / self.unit / self.unit
        if state.dual > 0.0:
            memcpy(work.vectors + rank * d, q, d * sizeof(double))
            cal_scale(work.vectors + rank * d, sqrt(rate * state.dual / state.scale), d)
            work.signs[rank] = 1.0
            rank += 1
        # the dual variable is kept divided by the unit
        state.dual = fmax(0.0, (1.0 - self.gamma * eta) * state.dual
                          - eta * (state.scale * state.lowest / self.unit) / self.unit)
        subtracted(work, rank, &removed)
        change(state, work, rank)
        state.rank += rank
        state.floor -= removed
        if state.dual == 0.0 and (state.floor >= 0.0 or stays_positive(state, work, removed)):
            state.lowest = 0.0  # in truth above: the dual variable stays 0 all the same
            return rank
        cal_add(work.eigen.start, sqrt(fabs(state.lowest)), q, d)
        state.lowest = lowest_pair(state.m, 2.0 * state.norm, state.norm, q, work.eigen)
        state.floor, state.steady = fmin(0.0, state.lowest), 0
        state.projections += state.lowest < 0.0
        state.negatives += state.lowest < 0.0
        return rank


cdef class FrankWolfe(Rule):
    r"""Projection-free: online Frank-Wolfe steps (Hazan and Kale 2012, Algorithm 1).

    The domain is the positive semi-definite matrices of trace at most `trace`, so that a linear
    function is least at one eigenvector. With the gradients :math:`G_s` met so far and

    .. math::

        F_t(M) = \frac1t \sum_{s \le t} \langle G_s, M \rangle + \sigma_t \|M - M_1\|_F^2,
        \qquad \sigma_t = \frac{\text{lipschitz}}{\text{diameter}}\, t^{-1/4},

    step t goes to :math:`(1 - t^{-1/2}) M_t + t^{-1/2} V_t`
    (:class:`~calipers.solvers.schedules.FrankWolfeSteps`),
    where :math:`V_t` minimises :math:`\langle \nabla F_t(M_t), V \rangle` over the domain: it is
    :math:`trace\; q q'` for the lowest eigenvector q of the gradient, or 0 where none is negative.
    The diameter is :math:`\sqrt2` times the trace. Every iterate after the first is in the domain.

    Parameters
    ----------
    trace : float
        Bound of the trace.
    lipschitz : float
        Bound of the norm of a gradient.
    unit : float
        Size of the first iterate, :math:`M_1 = unit\; I`.
    """

    cdef readonly double trace, lipschitz, unit
    parameters = ("trace", "lipschitz", "unit")

    def __init__(self, double trace, double lipschitz, double unit=1.0):
        self.trace, self.lipschitz, self.unit = trace, lipschitz, unit

    def memory_shape(self, Py_ssize_t d):
        return 2 * d + 1, d

    cdef bint needs_step(self) noexcept nogil:
        return False

    cdef Py_ssize_t update(self, State state, Schedule schedule, Workspace work,
                           Py_ssize_t rank) except -1 nogil:
        cdef Py_ssize_t k, d = state.d
        cdef double *gradients = state.kept
        cdef double *q = gradients + d * d
        cdef double *of_f = q + d
        cdef double share = schedule.rate_of(state.seen), t = state.seen, lowest
        cdef double kept = schedule.kept_by(state.seen)
        cdef double pull = 0.0, of_m = 0.0
        if kept > 0.0:  # else the iterate is the first one, and has been forgotten
            pull = sqrt(2.0) * self.lipschitz / self.trace * t ** -0.25  # 2 sigma
            of_m = pull * state.scale / kept  # M has been shrunk already
        memcpy(work.eigen.start, q, d * sizeof(double))
        for k in range(rank):
            cal_add(work.eigen.start, 1.0, work.vectors + k * d, d)
            work.signs[k] *= -state.scale / share  # from a step of M to the gradient
        add_outer_products(gradients, d, work.vectors, work.signs, rank)
        for k in range(d * d):
            of_f[k] = gradients[k] / t + of_m * state.m[k]
        for k in range(d):
            of_f[k * d + k] -= pull * self.unit
        lowest = lowest_pair(of_f, 0.0, sqrt(cal_dot(of_f, of_f, d * d)), q, work.eigen)
        rank = 0
        if lowest < 0.0:
            memcpy(work.vectors, q, d * sizeof(double))
            cal_scale(work.vectors, sqrt(share * self.trace / state.scale), d)
            work.signs[0] = 1.0
            rank = 1
        change(state, work, rank)
        state.rank += rank
        return rank
