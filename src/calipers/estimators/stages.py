"""Solvers one after another, seen as one learner.

Triplets are made of neighbours, and neighbours change with the metric. So a fit may go in
stages: each draws its triplets, and starts, in the coordinates of the metric learned so far.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from calipers.arrays import FloatArray, IndexArray
from calipers.solver import Point, Solver


class Staged:
    """The solver of the present stage, and what those before it have counted.

    Parameters
    ----------
    solver : Solver
        Of the first stage.
    later : list of int
        Triplets of the stages that follow.
    """

    def __init__(self, solver: Solver, later: list[int]) -> None:
        self.solver, self.later = solver, later
        self._points: list[Point] = []
        self._iterations = self._updates = self._projections = 0

    def follow(self, solver: Solver) -> None:
        """Begin the next stage."""
        self._points = self.curve
        self._iterations = self.n_iterations
        self._updates, self._projections = self.n_updates, self.n_projections
        self.solver, self.later = solver, self.later[1:]

    def advance(self, X: FloatArray, triplets: IndexArray, /) -> npt.NDArray[np.bool_]:
        """Learn from a portion."""
        return self.solver.advance(X, triplets)

    @property
    def batch_size(self) -> int:
        """Triplets of an iteration."""
        return self.solver.batch_size

    @property
    def n_iterations(self) -> int:
        """Batches of all stages."""
        return self._iterations + self.solver.n_iterations

    @property
    def n_updates(self) -> int:
        """Updates of all stages."""
        return self._updates + self.solver.n_updates

    @property
    def n_projections(self) -> int:
        """Updates of all stages that left the cone."""
        return self._projections + int(self.solver.iterate.tally["projections"][0])

    @property
    def curve(self) -> list[Point]:
        """Points of all stages, counted through."""
        n_triplets = self._iterations * self.batch_size
        return self._points + [
            Point(n_triplets + point.n_triplets, point.loss, self._updates + point.n_updates)
            for point in self.solver.curve
        ]


def shares(n_triplets: int, n_stages: int, batch_size: int) -> list[int]:
    """Triplets of each stage: whole batches, as even as can be, the larger first.

    Where there are fewer batches than stages there are fewer stages.

    >>> shares(100, 3, 10)
    [40, 30, 30]
    >>> shares(10, 3, 10)
    [10]
    """
    n_batches = n_triplets // batch_size
    if n_batches <= 1 or n_stages == 1:
        return [n_triplets]
    n_stages = min(n_stages, n_batches)
    least, more = divmod(n_batches, n_stages)
    return [batch_size * (least + (stage < more)) for stage in range(n_stages)]
