"""The solver of OASIS: a bilinear similarity W, updated by triplets with a loss above 0.

Like :class:`calipers.solvers.sgd.SGDSolver` it takes triplets in portions of any size, and
evaluates many of them at once. It is a separate loop because W is no metric: there is no cone,
no ball and no average, and an update has rank one.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from calipers._core.compiled import Samples, Triplets, run_bilinear
from calipers.arrays import FloatArray, IndexArray
from calipers.solvers.sgd import BLOCK_BYTES, CHUNK_WORK, WORTH_A_THREAD, checked_triplets
from calipers.solvers.training import Point
from calipers.threads import parallel_map, single_threaded_blas

CARRIED_PER_COMPUTED = 5.0  # cost of carrying a score, in multiplications of a matrix product


class BilinearSolver:
    """Passive-aggressive steps from ``W = I``: one pass, one triplet at a time.

    For a triplet (p, p+, p-) with ``loss = 1 - p'W(p+ - p-) > 0``::

        W += tau p (p+ - p-)',    tau = min(aggressiveness, loss / (|p|^2 |p+ - p-|^2))

    This is the smallest change that makes the loss 0, or a smaller one if tau is clipped.

    Parameters
    ----------
    aggressiveness : float
        Largest tau (C).
    n_features : int
        Size of W.
    """

    batch_size = 1

    def __init__(self, aggressiveness: float, n_features: int) -> None:
        self.aggressiveness = aggressiveness
        self.W = np.eye(n_features)
        self.n_iterations = self.n_updates = 0
        self.curve: list[Point] = []
        self._gap = 1.0

    @property
    def metric(self) -> FloatArray:
        """The symmetric part of W; factoring it drops its negative eigenvalues."""
        return np.asarray((self.W + self.W.T) / 2)

    def advance(self, X: FloatArray, triplets: IndexArray) -> npt.NDArray[np.bool_]:
        """Run through triplets in order. Returns which of them led to an update."""
        samples = Samples(X)
        triplets = checked_triplets(samples, len(self.W), triplets)
        updated = np.zeros(len(triplets), dtype=np.bool_)
        first, loss = 0, 0.0
        with single_threaded_blas():
            while first < len(triplets):
                length, look_ahead = self._plan()
                part = slice(first, first + length)
                losses, updated[part] = self._advance_block(samples, triplets[part], look_ahead)
                loss += float(losses.sum())
                first += length
        self.n_iterations += len(triplets)
        self.n_updates += int(updated.sum())
        loss /= max(1, len(triplets))
        self.curve.append(Point(self.n_iterations, loss, self.n_updates))
        return updated

    def _advance_block(
        self, X: Samples, triplets: IndexArray, look_ahead: int
    ) -> tuple[FloatArray, npt.NDArray[np.bool_]]:
        """Gather a block and run through it; update the estimate of how often W changes."""
        n, d = len(triplets), len(self.W)
        block = Triplets(X, triplets)

        def evaluate(start: int) -> None:
            block.gather(start, start + chunk)
            if look_ahead == 0:
                block.evaluate(self.W, start, start + chunk)

        chunk = max(64, CHUNK_WORK // d**2) if look_ahead == 0 else n
        parallel_map(evaluate, range(0, n, chunk))
        run_bilinear(self.W, block, self.aggressiveness, look_ahead)
        updated = block.steps > 0.0
        self._gap += 0.5 * (n / max(float(updated.sum()), 0.5) - self._gap)
        return np.maximum(0.0, 1.0 - block.scores), updated

    def _plan(self) -> tuple[int, int]:
        """Return how many triplets to gather, and the look-ahead of carried scores (0: all).

        An update carries the scores of the later triplets of the look-ahead, at 2 d each.
        Evaluating a triplet again costs d^2, but by a faster matrix product.
        """
        d = len(self.W)
        longest = max(1, min(4096, BLOCK_BYTES // (16 * d)))
        look_ahead = int(min(longest, max(1.0, self._gap * d / CARRIED_PER_COMPUTED)))
        if look_ahead * d * d < WORTH_A_THREAD:
            return longest, look_ahead
        return look_ahead, 0
