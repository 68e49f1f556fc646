# Passive-aggressive updates of a bilinear similarity, a look-ahead of triplets at a time.
#
# W only changes at an update, so the scores of a look-ahead are computed by one matrix product and
# updated through the changes inside: ``W += tau p z'`` adds ``tau (p'p_t)(z'z_t)`` to the score of
# a later triplet t. W itself is changed once per look-ahead.

cdef class Triplets:
    """Upcoming triplets (p, p+, p-) of samples, ``z = p+ - p-``, and what is found about them.

    ``scores`` are p'Wz when it was the triplet's turn, ``steps`` tau, 0 where there was no update.
    """

    cdef readonly object anchors, differences, scores, steps
    cdef double[:, ::1] P, Z
    cdef double[::1] _scores, _steps
    cdef const Py_ssize_t[:, ::1] triplets
    cdef Samples X

    def __init__(self, Samples X not None, triplets):
        n = len(triplets)
        self.X, self.triplets = X, np.ascontiguousarray(triplets, dtype=np.intp)
        self.anchors, self.differences = np.empty((n, X.d)), np.empty((n, X.d))
        self.scores, self.steps = np.empty(n), np.zeros(n)
        self.P, self.Z = self.anchors, self.differences
        self._scores, self._steps = self.scores, self.steps

    def gather(self, Py_ssize_t start, Py_ssize_t stop):
        """Anchors and differences of some triplets."""
        cdef Py_ssize_t t
        stop = min(stop, len(self.steps))
        with nogil:
            for t in range(start, stop):
                self.X.sample(self.triplets[t, 0], &self.P[t, 0])
                self.X.difference(self.triplets[t, 1], self.triplets[t, 2], &self.Z[t, 0])

    def evaluate(self, const double[:, ::1] W, Py_ssize_t start, Py_ssize_t stop):
        """Scores of some triplets at the present W."""
        stop = min(stop, len(self.steps))
        if stop <= start:
            return
        cdef double[:, ::1] product = np.empty((stop - start, self.X.d))
        with nogil:
            evaluate_scores(self, &W[0, 0], start, stop, &product[0, 0])


cdef void evaluate_scores(Triplets t, const double *W, Py_ssize_t start, Py_ssize_t stop,
                          double *product) noexcept nogil:
    cdef Py_ssize_t n = stop - start, d = t.X.d
    multiply(&t.P[start, 0], W, n, d, product)
    cal_row_dots(product, &t.Z[start, 0], n, d, &t._scores[start])


def run_bilinear(double[:, ::1] W, Triplets triplets, double aggressiveness, Py_ssize_t length):
    """Run through all triplets, evaluating ``length`` at a time.

    ``length = 0``: their scores are already those of the present W.
    """
    cdef Py_ssize_t n = triplets._steps.shape[0], first = 0, stop
    cdef double[:, ::1] product = np.empty((max(1, min(n, length)), triplets.X.d))
    with nogil:
        while first < n:
            stop = min(n, first + length) if length > 0 else n
            if length > 0:
                evaluate_scores(triplets, &W[0, 0], first, stop, &product[0, 0])
            decide_bilinear(triplets, first, stop, aggressiveness)
            change_bilinear(&W[0, 0], triplets, first, stop)
            first = stop


cdef void decide_bilinear(Triplets triplets, Py_ssize_t first, Py_ssize_t stop,
                          double aggressiveness) noexcept nogil:
    """Decide on every triplet of a look-ahead."""
    cdef Py_ssize_t t, d = triplets.X.d
    cdef double loss, squared, tau
    cdef double *p
    cdef double *z
    for t in range(first, stop):
        loss = 1.0 - triplets._scores[t]
        if loss <= 0.0:
            continue
        p, z = &triplets.P[t, 0], &triplets.Z[t, 0]
        squared = cal_dot(p, p, d) * cal_dot(z, z, d)
        if squared == 0.0 or loss <= LOSS_ROUNDING * fmax(1.0, sqrt(squared)):
            continue
        tau = fmin(aggressiveness, loss / squared)
        triplets._steps[t] = tau
        cal_update_scores(p, z, tau, p + d, z + d, stop - t - 1, d, &triplets._scores[0] + t + 1)


cdef void change_bilinear(double *W, Triplets triplets, Py_ssize_t first,
                          Py_ssize_t stop) noexcept nogil:
    """``W += sum(tau p z')``; the updates move to the front of the look-ahead, which is used up."""
    cdef Py_ssize_t t, i, d = triplets.X.d
    cdef int n_features = <int>d, n = 0
    cdef double one = 1.0
    for t in range(first, stop):
        if triplets._steps[t] == 0.0:
            continue
        for i in range(d):
            triplets.P[first + n, i] = triplets._steps[t] * triplets.P[t, i]
            triplets.Z[first + n, i] = triplets.Z[t, i]
        n += 1
    if n > 0:
        dgemm(b"N", b"T", &n_features, &n_features, &n, &one, &triplets.Z[first, 0], &n_features,
              &triplets.P[first, 0], &n_features, &one, W, &n_features)
