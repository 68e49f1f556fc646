"""The first edition's solver, in an environment of its own, in turn with ours.

The first edition is commit fb71157 of this repository.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter, process_time

import numpy as np

from benchmarks import shapes
from benchmarks.first_edition import FirstEdition
from benchmarks.problem import Outcome, Problem, same_until
from benchmarks.rows import Row
from benchmarks.solvers import ours
from calipers.arrays import FloatArray, IndexArray
from calipers.paper.datasets import load

COMPARED = ("letter", "connect4", "digits", "dna", "semeion", "isolet")
NAMES = (*shapes.NAMES, "digits")
WORKER = Path(__file__).parent / "first_edition_worker.py"


class FirstEditionSolver(FirstEdition):
    """A process that solves problems by the first edition, until the block is left.

    Parameters
    ----------
    python : str or Path
        Interpreter of an environment in which the first edition is installed.
    """

    def __init__(self, python: str | Path) -> None:
        super().__init__(python, WORKER)
        self._given: tuple[FloatArray, IndexArray] | None = None
        self._n_given = 0

    def solve(self, problem: Problem) -> tuple[Outcome, Row]:
        """Solve by the first edition; returns decisions and counts, and its seconds."""
        self._give(problem)
        numbers = {
            name: getattr(problem, name)
            for name in (
                "method",
                "batch_size",
                "largest",
                "learning_rate",
                "smoothness",
                "radius",
                "seed",
            )
        }
        request = {**numbers, "n_triplets": len(problem.triplets), "arrays": self._n_given}
        measured: Row = json.loads(self._ask(json.dumps(request)))
        return Outcome(np.load(self._path / "answer.npy"), np.empty((0, 0))), measured

    def _give(self, problem: Problem) -> None:
        """Write the arrays to the folder unless they are there (or more triplets than needed)."""
        if self._given is not None:
            X, triplets = self._given
            n = len(problem.triplets)
            if X is problem.X and np.array_equal(triplets[:n], problem.triplets):
                return
        np.savez(self._path / "given.npz", X=problem.X, triplets=problem.triplets)
        self._given = problem.X, problem.triplets
        self._n_given += 1


def data_of(name: str, *, data_dir: str | None, shrink: int = 1) -> shapes.Data:
    """A data set of `shapes`, or the digits that come with scikit-learn, between 0 and 1."""
    if name != "digits":
        return shapes.data_set(name, data_dir=data_dir, shrink=shrink)
    digits = load("digits")
    n = len(digits.X_train) // shrink
    X = digits.X_train[:n] / digits.X_train.max()
    return shapes.Data(name, X, digits.y_train[:n], "between 0 and 1")


def interleaved(problem: Problem, first: FirstEditionSolver, *, repeats: int) -> Row:
    """Medians of both editions' seconds, run in turn; each begins every other time.

    One run of each goes before and is not counted: the first edition compiles.
    """
    part = problem.prefix(min(problem.n_iterations, 200))
    first.solve(part)
    ours.run(part)
    outcomes: dict[str, Outcome] = {}
    readings: dict[str, list[float]] = {}

    def run_ours() -> None:
        started, cpu_started = perf_counter(), process_time()
        outcomes["ours"] = ours.run(problem)
        readings.setdefault("cpu_seconds", []).append(process_time() - cpu_started)
        readings.setdefault("seconds", []).append(perf_counter() - started)

    def run_first() -> None:
        outcomes["first"], measured = first.solve(problem)
        for name in ("cpu_seconds", "seconds"):
            readings.setdefault(f"first_{name}", []).append(measured[name])

    for turn in range(repeats):
        calls: list[Callable[[], None]] = [run_first, run_ours]
        for call in calls[:: 1 if turn % 2 == 0 else -1]:
            call()
    medians = {name: median(values) for name, values in readings.items()}
    return {
        **medians,
        **outcomes["ours"].counts,
        "times_first": medians["first_seconds"] / medians["seconds"],
        "cpu_times_first": medians["first_cpu_seconds"] / medians["cpu_seconds"],
        "same_as_first": same_until(outcomes["first"], outcomes["ours"]),
        "readings": readings,
    }
