"""Fits that were killed go on from their checkpoint and end with the same bits."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris

from calipers import OASIS, SPML, FileError, TripletSGD
from calipers.estimators.checkpoint import restore, state_of
from calipers.estimators.interrupt import InterruptedFitWarning
from calipers.recipes import as_sgd
from calipers.solver import Solver

X, Y = load_iris(return_X_y=True)
SETTINGS: dict[str, Any] = {"n_triplets": 2000, "random_state": 0}
N_STEPS = 74  # of three stages


class CutError(Exception):
    """The fit ends here, as if it were killed."""


class After:
    """A callback that acts after so many steps."""

    def __init__(self, n_steps: int, act: Any) -> None:
        self.left, self.act = n_steps, act

    def setup(self, estimator: Any, context: Any) -> None: ...

    def teardown(self, estimator: Any, context: Any) -> None: ...

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None: ...

    def on_fit_task_end(self, estimator: Any, context: Any) -> None:
        self.left -= context.task_name == "step"
        if self.left == 0:
            self.left = -1
            self.act()


def cut() -> None:
    raise CutError


def broken_off(learner: Any, file: Path, n_steps: int = 37) -> None:  # in the second stage
    learner = clone(learner).set_checkpoint(file, every_seconds=0.0)
    with pytest.raises(CutError):
        learner.set_callbacks(After(n_steps, cut)).fit(X, Y)
    assert file.exists()


@pytest.mark.parametrize(
    "learner",
    [
        *(TripletSGD(m, **SETTINGS) for m in ("sgd", "mini-sgd", "as-sgd", "hr-sgd", "ha-sgd")),
        TripletSGD("ha-sgd", gradient_bound="running", **SETTINGS),
        TripletSGD(projection=3, **SETTINGS),
        TripletSGD(projection="once", **SETTINGS),
        TripletSGD(projection="never", **SETTINGS),
        SPML(**SETTINGS),
    ],
)
def test_a_fit_goes_on_and_ends_with_the_same_bits(learner: Any, tmp_path: Path) -> None:
    expected = clone(learner).fit(X, Y)
    broken_off(learner, tmp_path / "state")
    resumed = clone(learner).set_checkpoint(tmp_path / "state")
    resumed.set_callbacks(After(10**9, cut)).fit(X, Y)
    np.testing.assert_array_equal(resumed.components_, expected.components_)
    np.testing.assert_array_equal(resumed.loss_curve_, expected.loss_curve_)
    assert resumed.n_updates_ == expected.n_updates_
    assert not (tmp_path / "state").exists()  # it is of no more use


@pytest.mark.parametrize("n_steps", [1, 24, 25, 26, 60, 74])
def test_a_fit_goes_on_from_any_stage(n_steps: int, tmp_path: Path) -> None:
    learner = TripletSGD(**SETTINGS)
    broken_off(learner, tmp_path / "state", n_steps)
    resumed = clone(learner).set_checkpoint(tmp_path / "state").fit(X, Y)
    np.testing.assert_array_equal(resumed.components_, TripletSGD(**SETTINGS).fit(X, Y).components_)
    assert resumed.n_stages_ == 3


def test_what_was_walked_is_not_walked_again(tmp_path: Path) -> None:
    learner = TripletSGD(**SETTINGS)
    broken_off(learner, tmp_path / "state")
    counter = After(1000, cut)
    learner.set_checkpoint(tmp_path / "state").set_callbacks(counter).fit(X, Y)
    assert 1000 - counter.left == N_STEPS - 37


KILLED = """
import os, signal, sys
sys.path.insert(0, {tests!r})
from test_estimators_checkpoint import *
learner = TripletSGD(**SETTINGS).set_checkpoint({file!r}, every_seconds=0.0)
learner.set_callbacks(After(60, lambda: os.kill(os.getpid(), signal.SIGKILL))).fit(X, Y)
"""


def test_a_process_that_was_killed(tmp_path: Path) -> None:
    program = KILLED.format(tests=str(Path(__file__).parent), file=str(tmp_path / "state"))
    ended = subprocess.run([sys.executable, "-c", program], timeout=120, check=False)
    assert ended.returncode == -signal.SIGKILL
    resumed = TripletSGD(**SETTINGS).set_checkpoint(tmp_path / "state").fit(X, Y)
    np.testing.assert_array_equal(resumed.components_, TripletSGD(**SETTINGS).fit(X, Y).components_)
    assert list(tmp_path.iterdir()) == []


def test_time_passes_between_two_writings(tmp_path: Path) -> None:
    written = []
    learner = TripletSGD(**SETTINGS).set_checkpoint(tmp_path / "state", every_seconds=1e9)
    look = After(50, lambda: written.append((tmp_path / "state").exists()))
    learner.set_callbacks(look).fit(X, Y)
    assert written == [False]


@pytest.mark.parametrize(
    ("settings", "rows"),
    [
        ({**SETTINGS, "learning_rate": 2.0}, X),
        ({**SETTINGS, "random_state": 1}, X),
        (SETTINGS, X + 1e-9),
    ],
)
def test_a_checkpoint_of_another_fit_is_refused(
    settings: dict[str, Any], rows: Any, tmp_path: Path
) -> None:
    broken_off(TripletSGD(**SETTINGS), tmp_path / "state")
    other = TripletSGD(**settings).set_checkpoint(tmp_path / "state")
    with pytest.raises(FileError, match=r"is of a fit with other data or settings: remove it"):
        other.fit(rows, Y)
    assert (tmp_path / "state").exists()


def test_a_damaged_checkpoint_is_refused(tmp_path: Path) -> None:
    broken_off(TripletSGD(**SETTINGS), tmp_path / "state")
    content = bytearray((tmp_path / "state").read_bytes())
    content[-3] ^= 1
    for damaged in (bytes(content), bytes(content[:500]), b""):
        (tmp_path / "state").write_bytes(damaged)
        with pytest.raises(FileError, match=r"is not a whole checkpoint .*: remove it"):
            TripletSGD(**SETTINGS).set_checkpoint(tmp_path / "state").fit(X, Y)


def test_learners_without_a_state_say_so(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"^Only TripletSGD and SPML can go on from a checkpoint"):
        OASIS().set_checkpoint(tmp_path / "state").fit(X, Y)


def test_ctrl_c_ends_with_the_metric_so_far() -> None:
    learner = TripletSGD(**SETTINGS)
    learner.set_callbacks(After(30, lambda: signal.raise_signal(signal.SIGINT)))
    with pytest.warns(InterruptedFitWarning, match="interrupted after 30 of 74 steps") as caught:
        learner.fit(X, Y)
    assert caught[0].filename == __file__
    assert learner.interrupted_
    assert learner.transform(X).shape == X.shape
    assert len(learner.loss_curve_) == 30
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert not TripletSGD(**SETTINGS).fit(X, Y).interrupted_


def test_ctrl_c_keeps_the_checkpoint_to_go_on_from(tmp_path: Path) -> None:
    learner = TripletSGD(**SETTINGS).set_checkpoint(tmp_path / "state", every_seconds=1e9)
    learner.set_callbacks(After(30, lambda: signal.raise_signal(signal.SIGINT)))
    with pytest.warns(InterruptedFitWarning):
        learner.fit(X, Y)
    resumed = TripletSGD(**SETTINGS).set_checkpoint(tmp_path / "state").fit(X, Y)
    np.testing.assert_array_equal(resumed.components_, TripletSGD(**SETTINGS).fit(X, Y).components_)


def test_a_second_ctrl_c_ends_at_once() -> None:
    def twice() -> None:
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        TripletSGD(**SETTINGS).set_callbacks(After(30, twice)).fit(X, Y)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_the_pace_of_a_solver_is_kept_too() -> None:
    """How far it looks ahead changes last bits, so that it must go on at the same pace."""
    rng = np.random.default_rng(0)
    rows, triplets = rng.normal(size=(200, 30)), rng.integers(200, size=(2000, 3))
    triplets[:, 1] = (triplets[:, 0] + 1) % 200

    def fresh() -> Solver:
        return Solver(as_sgd(), 30, accept_rng=default_rng(1), pick_rng=default_rng(2))

    default_rng = np.random.default_rng
    walked, other = fresh(), fresh()
    walked.advance(rows, triplets[:1500])
    assert walked._gap != other._gap
    restore(other, state_of(walked))
    assert (other._gap, other._rank) == (walked._gap, walked._rank)
    for solver in (walked, other):
        solver.advance(rows, triplets[1500:])
    np.testing.assert_array_equal(other.average, walked.average)
    assert other.curve == walked.curve
