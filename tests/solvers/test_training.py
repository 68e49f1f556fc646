"""The one training loop: portions, counts over rounds, and what looks on."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris

from calipers import TripletSGD
from calipers.data.samples import MemorySamples
from calipers.data.triplets import GivenTriplets
from calipers.solvers.training import Passes, Point, Round, n_portions, portion_size, train

X = np.zeros((10, 2))


@dataclass
class Counter:
    """A solver that keeps what it is fed."""

    batch_size: int = 1
    tol: int = 10**9
    n_iterations: int = 0
    curve: list[Point] = field(default_factory=list)
    fed: list[Any] = field(default_factory=list)

    @property
    def n_updates(self) -> int:
        return 2 * self.n_iterations

    @property
    def metric(self) -> Any:
        return np.eye(2)

    @property
    def converged(self) -> bool:
        return self.n_iterations >= self.tol

    def advance(self, X: Any, portion: Any, /) -> None:
        self.fed.append(portion)
        self.n_iterations += 1
        n_examples = sum(len(part) for part in self.fed)
        self.curve.append(Point(n_examples, 1.0 / n_examples, self.n_updates))


class Onlooker:
    """Counts steps; asks to stop after so many."""

    def __init__(self, stop_after: int = 10**9) -> None:
        self.n_steps, self.stop_after = 0, stop_after

    def tick(self) -> bool:
        self.n_steps += 1
        return self.n_steps >= self.stop_after


def trained(*rounds: Round | Passes, stop_after: int = 10**9) -> Any:
    watch: Any = Onlooker(stop_after)
    return train(rounds, watch)


def round_of(n: int, size: int, batch_size: int = 1) -> Round:
    triplets = np.arange(3 * n).reshape(n, 3) % 10
    return Round(Counter(batch_size), MemorySamples(X), GivenTriplets(triplets), size)


@pytest.mark.parametrize(
    ("n", "size", "batch", "steps"), [(23, 5, 1, 5), (23, 10, 5, 2), (7, 9, 1, 1)]
)
def test_whole_batches_are_fed_in_portions(n: int, size: int, batch: int, steps: int) -> None:
    round_: Any = round_of(n, size, batch)
    trained(round_)
    fed = np.concatenate(round_.solver.fed)
    assert len(round_.solver.fed) == n_portions(n, size, batch) == steps
    np.testing.assert_array_equal(fed, next(round_.source.portions(n))[: len(fed)])
    assert n - len(fed) < batch or steps * size >= n


def test_a_round_may_end_early_and_no_other_begins() -> None:
    rounds: Any = [round_of(4, 2), round_of(4, 2), round_of(4, 2)]
    assert trained(*rounds, stop_after=3).n_iterations == 3
    assert [len(each.solver.fed) for each in rounds] == [2, 1, 0]


def test_counts_go_through_all_rounds() -> None:
    history = trained(round_of(4, 2), round_of(6, 2), round_of(2, 2))
    attributes = history.attributes("triplet_curve_")
    assert (attributes["n_iter_"], attributes["n_updates_"]) == (6, 12)
    np.testing.assert_array_equal(attributes["triplet_curve_"], [2, 4, 6, 8, 10, 12])
    np.testing.assert_array_equal(attributes["update_curve_"], [2, 4, 6, 8, 10, 12])
    np.testing.assert_allclose(attributes["loss_curve_"], 1.0 / np.array([2, 4, 2, 4, 6, 2]))


def test_passes_end_once_the_solver_has_converged() -> None:
    for tol, expected in ((3, 3), (100, 7)):
        passes = Passes(Counter(tol=tol), X, np.zeros((4, 3), dtype=np.intp), n_steps=7)
        trained(passes)
        assert len(passes.solver.fed) == expected


def test_portions_are_about_a_hundred_and_hold_whole_batches() -> None:
    for n, batch in ((1000, 1), (1000, 7), (10**6, 20), (10**9, 1000), (3, 10)):
        size = portion_size(n, batch)
        assert size % batch == 0
        assert size <= max(batch, 70_000)
        if size > batch and n < 10**7:
            assert 60 <= n / size <= 140


class Failing:
    """A callback that fails at the first step."""

    ended = False

    def setup(self, estimator: Any, context: Any) -> None:
        """Prepare nothing."""

    def teardown(self, estimator: Any, context: Any) -> None:
        self.ended = True

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        """Wait."""

    def on_fit_task_end(self, estimator: Any, context: Any) -> None:
        raise OSError("no room")


def test_callbacks_of_a_fit_that_fails_are_ended() -> None:
    callback = Failing()
    metric = TripletSGD(n_triplets=200, random_state=0).set_callbacks(callback)
    with pytest.raises(OSError, match="no room"):
        metric.fit(*load_iris(return_X_y=True))
    assert callback.ended  # else the thread of scikit-learn's ProgressBar would wait for ever
    assert not hasattr(metric, "_callback_fit_ctx")
