# Steps of pairs (LEGO, ITML), a block of them at a time.
#
# Within a block every difference z is multiplied with the block's first A only, by one matrix
# product. After the updates k = 1, 2, ... of the block,
#
#     A z_t = (A_first z_t) - sum_k c_k (b_k' z_t) b_k,    b_k = A_k z_k,
#
# so an update costs a few times d for each pair of the block, not d^2, and A itself is changed
# once per block.

cdef Py_ssize_t SMALLEST_BLOCK = 16  # pairs between two changes of A itself
cdef Py_ssize_t LARGEST_BLOCK = 64
cdef double DISTANCE_ROUNDING = 1e-12  # equal samples: a smaller share of the usual distance


cdef class PairStep(Part):
    """How far a pair moves A, and whether it does: ``A - c (Az)(Az)'`` with z its difference.

    A pair of similar samples has the sign +1, one of dissimilar ones the sign -1. From the present
    squared distance ``z'Az`` a step finds c so that A stays positive definite.
    """

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

    cdef readonly double near, far, learning_rate
    parameters = ("near", "far", "learning_rate")

    def __init__(self, double near, double far, double learning_rate):
        self.near, self.far, self.learning_rate = near, far, learning_rate

    cdef double coefficient_of(self, Py_ssize_t pair, Py_ssize_t sign, double squared,
                               double usual, bint *moves) noexcept nogil:
        cdef double target = self.near if sign > 0 else self.far, eta = self.learning_rate
        cdef double q, s, root
        moves[0] = squared > DISTANCE_ROUNDING * fmax(1.0, usual)
        moves[0] = moves[0] and sign * (squared - target) > 0.0
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

    cdef readonly double slack_weight
    cdef readonly object duals, slacks
    cdef double[::1] _duals, _slacks
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
        if squared <= DISTANCE_ROUNDING * usual:
            return 0.0
        alpha = fmin(self._duals[pair],
                     sign * gamma / (gamma + 1.0) * (1.0 / squared - 1.0 / slack))
        if alpha == 0.0:
            return 0.0
        moves[0] = True
        self._duals[pair] -= alpha
        self._slacks[pair] = 1.0 / (1.0 / slack + sign * alpha / gamma)
        return -sign * alpha / (1.0 - sign * alpha * squared)


def run_pairs(double[:, ::1] A, differences, signs, PairStep step not None):
    """Let every pair move A in turn; A stays symmetric to the last bit.

    Returns the squared distance of each pair at its turn, and which of them moved A.
    """
    cdef const double[:, ::1] Z = np.ascontiguousarray(differences, dtype=np.float64)
    cdef const Py_ssize_t[::1] of_pair = np.ascontiguousarray(signs, dtype=np.intp)
    cdef Py_ssize_t n = of_pair.shape[0], d = A.shape[0], first = 0, size, count, k
    cdef Py_ssize_t m = min(LARGEST_BLOCK, max(SMALLEST_BLOCK, d // 4))
    squared, moved = np.empty(n), np.zeros(n, dtype=np.bool_)
    cdef double[::1] distances = squared, coefficients = np.empty(m)
    cdef unsigned char[::1] moves = moved.view(np.uint8)
    cdef double[:, ::1] product = np.empty((m, d)), directions = np.empty((m, d))
    cdef double[:, ::1] shares = np.empty((m, m))
    if n == 0:
        return squared, moved
    with nogil:
        while first < n:
            size = min(m, n - first)
            count = run_block(A, &Z[first, 0], &of_pair[first], first, size, step,
                              &distances[first], &moves[first], product, directions,
                              coefficients, shares)
            for k in range(count):  # A -= c b b'
                cal_scale(&directions[k, 0], sqrt(fabs(coefficients[k])), d)
                coefficients[k] = -1.0 if coefficients[k] > 0.0 else 1.0
            if count > 0:
                add_outer_products(&A[0, 0], d, &directions[0, 0], &coefficients[0], count)
            first += size
    return squared, moved


cdef Py_ssize_t run_block(double[:, ::1] A, const double *Z, const Py_ssize_t *signs,
                          Py_ssize_t first, Py_ssize_t size, PairStep step, double *squared,
                          unsigned char *moves, double[:, ::1] product,
                          double[:, ::1] directions, double[::1] coefficients,
                          double[:, ::1] shares) noexcept nogil:
    """Find the block's directions and coefficients; returns how many there are."""
    cdef Py_ssize_t d = A.shape[0], t, s, k, count = 0
    cdef double mean = 0.0, c, share
    cdef bint due = False
    cdef double *b
    multiply(Z, &A[0, 0], size, d, &product[0, 0])
    for k in range(d):
        mean += A[k, k] / d
    cal_row_dots(Z, &product[0, 0], size, d, squared)
    for t in range(size):
        c = step.coefficient_of(first + t, signs[t], squared[t],
                                mean * cal_dot(Z + t * d, Z + t * d, d), &due)
        if not due:
            continue
        moves[t] = True
        b = &directions[count, 0]
        memcpy(b, &product[t, 0], d * sizeof(double))
        for k in range(count):
            cal_add(b, -coefficients[k] * shares[k, t], &directions[k, 0], d)
        for s in range(t + 1, size):
            share = cal_dot(b, Z + s * d, d)
            shares[count, s] = share
            squared[s] -= c * share * share
        coefficients[count] = c
        count += 1
    return count
