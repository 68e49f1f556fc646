"""The one training loop: portions, counts over rounds, and observers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris

from calipers import TripletSGD
from calipers.data.samples import MemorySamples
from calipers.data.triplets import GivenTriplets
from calipers.solvers.training import History, Passes, Point, Round, n_steps, portion_size, train

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


@dataclass
class Observer:
    """Keeps what it sees; asks to stop after so many steps."""

    stop_after: int = 10**9
    seen: list[Any] = field(default_factory=list)

    def before_step(self) -> None:
        self.seen.append("before")

    def after_step(self, number: int, round_: Any) -> bool:
        self.seen.append(("after", number))
        return len([one for one in self.seen if one == "before"]) >= self.stop_after


def round_of(n: int, size: int, batch_size: int = 1) -> Round:
    triplets = np.arange(3 * n).reshape(n, 3) % 10
    return Round(Counter(batch_size), MemorySamples(X), GivenTriplets(triplets), size)


def fed(round_: Round) -> Any:
    assert isinstance(round_.solver, Counter)
    return np.concatenate(round_.solver.fed)


@pytest.mark.parametrize(
    ("n", "size", "batch", "steps"), [(23, 5, 1, 5), (23, 10, 5, 2), (7, 9, 1, 1)]
)
def test_whole_batches_are_fed_in_portions(n: int, size: int, batch: int, steps: int) -> None:
    round_ = round_of(n, size, batch)
    train([round_], [], History())
    assert len(round_.solver.curve) == n_steps(n, size, batch) == steps
    everything = next(round_.source.portions(n))
    np.testing.assert_array_equal(fed(round_), everything[: len(fed(round_))])
    assert n - len(fed(round_)) < batch or steps * size >= n


def test_observers_see_every_step_and_one_may_stop() -> None:
    rounds, one, other = [round_of(4, 2), round_of(4, 2)], Observer(), Observer(stop_after=3)
    history = History()
    train(rounds, [one, other], history)
    assert history.stopped
    assert history.n_steps == 3
    steps = [[("before"), ("after", number)] for number in (0, 0, 1)]
    assert one.seen == other.seen == [each for step in steps for each in step]


def test_counts_go_through_all_rounds() -> None:
    history = History()
    train([round_of(4, 2), round_of(6, 2), round_of(2, 2)], [], history)
    attributes = history.attributes()
    assert attributes["n_iter_"] == 6
    assert attributes["n_updates_"] == 12
    np.testing.assert_array_equal(history.example_curve(), [2, 4, 6, 8, 10, 12])
    np.testing.assert_array_equal(attributes["update_curve_"], [2, 4, 6, 8, 10, 12])
    np.testing.assert_allclose(attributes["loss_curve_"], 1.0 / np.array([2, 4, 2, 4, 6, 2]))


def test_passes_end_once_the_solver_has_converged() -> None:
    for tol, expected in ((3, 3), (100, 7)):
        passes = Passes(Counter(tol=tol), X, np.zeros((4, 3), dtype=np.intp), max_iter=7)
        train([passes], [], History())
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
