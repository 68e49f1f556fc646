# What the loop carries: the iterate, and workspace.
#
# The iterate is ``scale * M``: the ball and shrinking cost one multiplication, not d^2.

_NUMBERS = (
    "scale",  # the iterate is scale * M
    "norm",  # Frobenius norm of M
    "floor",  # lower bound of the eigenvalues of M
    "mass",  # sum of the scales of the iterations since M last changed
    "loss",  # sum over iterations of the mean loss of the candidates
    "slope",  # the same of their slopes
    "largest",  # largest norm of far far' - near near' met
    "lowest",  # AtEnd: the lowest eigenvalue of M if it is negative, else 0
    "dual",  # AtEnd: weight of the penalty on it
    "steady",  # changes in a row that left M positive definite
    "seen",  # iterations
    "updates",  # accepted batches
    "changes",  # updates that were not lost in rounding
    "rank",  # of all changes
    "projections",  # changes that left the cone
    "negatives",  # eigenvalues cut off in all
)


cdef class State:
    """Where a run is: M, the sum of all iterates so far, what the projection rule keeps, counts.

    Parameters
    ----------
    M : array of shape (d, d)
        Symmetric and positive semi-definite; changed in place.
    scale : float
        The first iterate is ``scale * M``.
    memory : array
        What the projection rule keeps besides M.
    floor : float
        A lower bound of the eigenvalues of M.
    """

    cdef readonly object M, total, memory
    cdef double *m
    cdef double *summed
    cdef double *kept
    cdef Py_ssize_t d
    cdef public double scale, norm, floor, mass, loss, slope, largest, lowest, dual
    cdef public Py_ssize_t steady, seen, updates, changes, rank, projections, negatives

    def __init__(self, M, double scale, memory, double floor=0.0):
        cdef double[:, ::1] m = M, total, kept = memory
        self.M, self.total, self.memory = M, np.zeros_like(M), memory
        total = self.total
        self.d = len(M)
        self.m, self.summed = &m[0, 0], &total[0, 0]
        self.kept = &kept[0, 0] if memory.size else NULL
        # NumPy's norm would wake a thread of BLAS, which then spins beside the loop
        self.scale, self.norm = scale, sqrt(cal_dot(self.m, self.m, self.d * self.d))
        self.floor = floor

    def __reduce__(self):
        numbers = {name: getattr(self, name) for name in _NUMBERS}
        return _state, (self.M, self.total, self.memory, numbers)

    cdef void add_to_total(self) noexcept nogil:
        """Add the iterate to the sum, as often as it has stood."""
        if self.mass != 0.0:
            cal_add(self.summed, self.mass, self.m, self.d * self.d)
        self.mass = 0.0

    cdef void rescale(self) noexcept nogil:
        """Multiply the scale into M."""
        cal_scale(self.m, self.scale, self.d * self.d)
        self.norm *= self.scale
        self.floor *= self.scale
        self.lowest *= self.scale
        self.scale = 1.0


def _state(M, total, memory, numbers):
    state = State(M, 1.0, memory)
    state.total[...] = total
    for name, value in numbers.items():
        setattr(state, name, value)
    return state


cdef class Workspace:
    """Memory of the loop, allocated once.

    Parameters
    ----------
    d : int
        Features.
    batch_size : int
        Triplets of a batch.
    rows : int
        Far (and near) differences of a batch.
    negatives : int
        Eigenvalues that an update can make negative.
    max_rows : int
        Differences of each kind whose margins are computed at a time.
    """

    cdef object _arrays
    cdef readonly Py_ssize_t d, batch_size, max_rows, rows, negatives
    cdef EigenWorkspace eigen
    cdef double *gaps
    cdef double *product
    cdef double *far
    cdef double *near
    cdef double *slopes
    cdef double *vectors
    cdef double *signs
    cdef double *values

    def __init__(self, Py_ssize_t d, Py_ssize_t batch_size, Py_ssize_t rows,
                 Py_ssize_t negatives, Py_ssize_t max_rows):
        self.d, self.batch_size, self.rows = d, batch_size, rows
        self.negatives, self.max_rows = negatives, max_rows
        self.eigen = EigenWorkspace(d)
        n_vectors = 2 * rows + negatives
        sizes = (max_rows * d, max_rows * d, rows * d, rows * d, batch_size, n_vectors * d,
                 n_vectors, max(negatives, d))
        self._arrays = [np.zeros(size) for size in sizes]
        cdef double *pointers[8]
        cdef double[::1] array
        for k in range(8):
            array = self._arrays[k]
            pointers[k] = &array[0]
        self.gaps, self.product, self.far, self.near = (
            pointers[0], pointers[1], pointers[2], pointers[3])
        self.slopes, self.vectors, self.signs, self.values = (
            pointers[4], pointers[5], pointers[6], pointers[7])

    def __reduce__(self):
        return Workspace, (self.d, self.batch_size, self.rows, self.negatives, self.max_rows)
