# The one loop: every method of the paper is this run with other parts.
#
# M only changes at an update, so the margins of a look-ahead of iterations are computed together
# and updated through the changes that happen inside: margins are linear in M, and a change has low
# rank. With the random numbers drawn beforehand, one per iteration, the decisions are those of the
# loop that evaluates one batch at a time.

cdef double STEP_ROUNDING = 1e-16  # a step shorter than this share of M is lost in rounding
cdef double SMALLEST_SCALE = 1e-4  # below it the scale is multiplied into M


cdef class Method:
    """The parts of a method.

    Parameters
    ----------
    loss, policy, schedule, rule : Loss, Policy, Schedule, Rule
        See parts.pxi and projections.pxi.
    radius : float
        Largest Frobenius norm of an iterate.
    max_importance_weight : float
        Largest factor 1 / probability.
    clip_norm : float
        Largest rms norm of the far differences of an anchor.
    share : float
        Weight of a triplet in its batch: 1 / batch_size for the mean, 1 for the sum.
    """

    cdef readonly Loss loss
    cdef readonly Policy policy
    cdef readonly Schedule schedule
    cdef readonly Rule rule
    cdef readonly double radius, max_importance_weight, clip_norm, share

    def __init__(self, Loss loss not None, Policy policy not None, Schedule schedule not None,
                 Rule rule not None, *, double radius, double max_importance_weight,
                 double clip_norm, double share):
        self.loss, self.policy, self.schedule, self.rule = loss, policy, schedule, rule
        self.radius, self.max_importance_weight = radius, max_importance_weight
        self.clip_norm, self.share = clip_norm, share


cdef class LookAhead:
    """Upcoming iterations: their candidates, evaluated before the decision, and random numbers.

    Parameters
    ----------
    X : Samples
    triplets : array of shape (iterations * batch_size, 3)
        Anchors, positives and negatives, all of them indices of samples.
    candidates : array of shape (rows, 3)
        Triplets evaluated first, as many for each iteration; of all-pairs triplets, those that
        have each positive and each negative of an anchor once.
    k : int
        Positives and negatives of an anchor; 1 unless all-pairs.
    uniforms : array of shape (iterations,)
        An iteration is accepted if its number is below the accept probability.
    """

    cdef Samples X
    cdef const Py_ssize_t[:, ::1] triplets, candidates
    cdef readonly object far, near, margins, norms, accepted
    cdef const double[::1] uniforms
    cdef double[:, ::1] _far, _near
    cdef double[::1] _margins, _norms
    cdef unsigned char[::1] _accepted
    cdef Py_ssize_t k

    def __init__(self, Samples X not None, triplets, candidates, Py_ssize_t k, uniforms):
        n = len(candidates)
        self.X, self.k = X, k
        self.triplets = np.ascontiguousarray(triplets, dtype=np.intp)
        self.candidates = np.ascontiguousarray(candidates, dtype=np.intp)
        self.far, self.near = np.empty((n, X.d)), np.empty((n, X.d))
        self.margins, self.norms = np.empty(n * k), np.empty(n * k)
        self.accepted = np.zeros(len(uniforms), dtype=np.bool_)
        self.uniforms, self._accepted = uniforms, self.accepted.view(np.uint8)
        self._far, self._near = self.far, self.near
        self._margins, self._norms = self.margins, self.norms

    def gather(self, Py_ssize_t start, Py_ssize_t stop, double clip_norm):
        """Differences and norms of some candidates."""
        cdef Py_ssize_t n = min(stop, len(self.candidates)) - start, k = self.k, d = self.X.d
        if n <= 0:
            return
        cdef double *far = &self._far[start, 0]
        cdef double *near = &self._near[start, 0]
        with nogil:
            gather(self.X, &self.candidates[start, 0], n, far, near)
            clip(far, near, n, d, k, clip_norm)
            cal_outer_norms(far, near, n, d, k, &self._norms[start * k])

    def evaluate(self, State state, Workspace work, Py_ssize_t start, Py_ssize_t stop):
        """Margins of some candidates at the present M."""
        cdef Py_ssize_t n = min(stop, len(self.candidates)) - start, k = self.k, d = self.X.d
        if n <= 0:
            return
        with nogil:
            margins(state.m, &self._far[start, 0], &self._near[start, 0], n, d, k,
                    work.gaps + start * d, work.product + start * d, &self._margins[start * k])


def run_sgd(State state, LookAhead ahead, Method method, Workspace work, Py_ssize_t length):
    """Run through all iterations, evaluating the candidates of ``length`` at a time.

    ``length = 0``: the margins of all candidates are already those of the present M. With all-pairs
    triplets, whose margins are not carried, it is 0 or 1. Raises ValueError where M is not finite
    or its eigenvalues are not found; M is not to be used then.
    """
    with nogil:
        _run_sgd(state, ahead, method, work, length)


cdef int _run_sgd(State state, LookAhead ahead, Method method, Workspace work,
                  Py_ssize_t length) except -1 nogil:
    cdef Py_ssize_t n = ahead.uniforms.shape[0], d = state.d, t, last = n, rank, first, size
    cdef Py_ssize_t width = ahead._margins.shape[0] // n, height = ahead._far.shape[0] // n
    cdef double *far
    cdef double *near
    cdef double *all_margins = &ahead._margins[0]
    cdef double probability
    cdef Batch batch = Batch(work.slopes, NULL, NULL, NULL, width, d)
    for t in range(n):
        far, near = &ahead._far[t * height, 0], &ahead._near[t * height, 0]
        if length > 0 and t % length == 0:
            last = min(n, t + length)
            margins(state.m, far, near, (last - t) * height, d, ahead.k, work.gaps,
                    work.product, all_margins + t * width)
        evaluate(method.loss, all_margins + t * width, width, state, work.slopes)
        batch.norms, batch.far, batch.near = &ahead._norms[t * width], far, near
        probability = method.policy.probability_of(batch, ahead.uniforms[t])
        ahead._accepted[t] = ahead.uniforms[t] < probability
        if ahead._accepted[t] and width < work.batch_size:
            evaluate_batch(state, ahead, method, work, t)
            far, near = work.far, work.near
        first, size = (t + 1) * width, (last - t - 1) * width
        state.seen += 1
        state.mass += state.scale
        shrink(state, method.schedule, all_margins + first, size)
        if not ahead._accepted[t]:
            continue
        state.updates += 1
        rank = directions(far, near, probability, method, state, work)
        if rank == 0 and method.rule.needs_step():
            continue
        rank = method.rule.update(state, method.schedule, work, rank)
        if size > 0:
            cal_update_margins(&ahead._far[(t + 1) * height, 0],
                               &ahead._near[(t + 1) * height, 0], (last - t - 1) * height, d,
                               work.vectors, work.signs, rank, all_margins + first)
        into_ball(state, method.radius, all_margins + first, size)
    return 0


cdef void evaluate(Loss loss, const double *margins, Py_ssize_t n, State state,
                   double *slopes) noexcept nogil:
    """Slopes of the candidates at their margins; their mean loss is added to the state."""
    cdef Py_ssize_t s
    cdef double summed = 0.0
    state.loss += loss.slopes_at(margins, n, state.scale, slopes) / n
    for s in range(n):
        summed += slopes[s]
    state.slope += summed / n


cdef void evaluate_batch(State state, LookAhead ahead, Method method, Workspace work,
                         Py_ssize_t t) noexcept nogil:
    """Slopes of a whole batch of which only one triplet had been evaluated."""
    cdef Py_ssize_t b = work.batch_size
    gather(ahead.X, &ahead.triplets[t * b, 0], b, work.far, work.near)
    clip(work.far, work.near, b, state.d, 1, method.clip_norm)
    margins(state.m, work.far, work.near, b, state.d, 1, work.gaps, work.product, work.slopes)
    method.loss.slopes_at(work.slopes, b, state.scale, work.slopes)


cdef void shrink(State state, Schedule schedule, double *margins,
                 Py_ssize_t n) noexcept nogil:
    """Multiply the iterate by what the schedule keeps; where that is nothing, begin anew."""
    cdef double kept = schedule.kept_by(state.seen)
    if kept > 0.0:
        state.scale *= kept
        return
    state.add_to_total()
    memset(state.m, 0, state.d * state.d * sizeof(double))
    if n > 0:
        memset(margins, 0, n * sizeof(double))
    state.scale = schedule.rate_of(state.seen)
    state.norm, state.floor, state.steady = 0.0, 0.0, 0


cdef Py_ssize_t directions(const double *far, const double *near, double probability,
                           Method method, State state, Workspace work) noexcept nogil:
    """Write the step as ``sum(sign * v v')``, in units of M; returns its rank.

    Added directions come first. The rank is 0 where the step is lost in rounding, and triplets
    whose own part is lost are left out.
    """
    cdef Py_ssize_t rank = 0, s, i, side, d = work.d, k = work.batch_size // work.rows
    cdef double rate = method.schedule.rate_of(state.seen) * method.share / state.scale
    cdef double most = method.max_importance_weight, pull, length, weight, root
    cdef const double *rows = far
    for side in range(2):
        for s in range(work.rows):
            pull = slope_sum(work.slopes, s, k, side == 0)
            weight = rate * (pull / probability if probability * most > 1.0 else pull * most)
            length = max(cal_dot(far + s * d, far + s * d, d),
                         cal_dot(near + s * d, near + s * d, d))
            if weight * length <= STEP_ROUNDING * state.norm:
                continue
            root = sqrt(weight)
            for i in range(d):
                work.vectors[rank * d + i] = root * rows[s * d + i]
            work.signs[rank] = 1.0 if side == 0 else -1.0
            rank += 1
        rows = near
    return rank


cdef inline double slope_sum(const double *slopes, Py_ssize_t s, Py_ssize_t k,
                             bint far) noexcept nogil:
    """Sum of the slopes of the triplets that far or near difference s is a part of."""
    cdef Py_ssize_t first = s // k * k * k, r = s % k, c
    cdef double total = 0.0
    for c in range(k):
        total += slopes[first + c * k + r] if far else slopes[first + r * k + c]
    return total


cdef void into_ball(State state, double radius, double *margins, Py_ssize_t n) noexcept nogil:
    """Scale the iterate into the ball; multiply the scale into M where it has become small."""
    if state.scale * state.norm > radius:
        state.scale = radius / state.norm
    if state.scale < SMALLEST_SCALE:
        cal_scale(margins, state.scale, n)
        state.rescale()
