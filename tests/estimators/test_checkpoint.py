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

from calipers import ITML, LEGO, OASIS, SCML, SPML, FileError, TripletSGD, recipes
from calipers.interrupt import InterruptedFitWarning
from learners import iris, random_triplets
from watch import After

X, Y = iris()
SETTINGS: dict[str, Any] = {"n_triplets": 700, "random_state": 0}
LEARNERS = [
    TripletSGD(batch_size=1, **SETTINGS),
    *(TripletSGD(m, **SETTINGS) for m in ("sgd", "mini-sgd", "as-sgd", "hr-sgd", "ha-sgd")),
    TripletSGD(recipes.ha_sgd(norm_bound="running"), **SETTINGS),
    *(TripletSGD(recipes.mini_sgd(projection=p), **SETTINGS) for p in (3, "end", "frank-wolfe")),
    TripletSGD(n_components=2, batch_size=1, **SETTINGS),
    TripletSGD(init=np.diag([1.0, 2.0, 3.0, 4.0]), batch_size=1, **SETTINGS),
    SPML(**SETTINGS),
    SCML(**SETTINGS),
    OASIS(**SETTINGS),
    LEGO(**SETTINGS),
    ITML(n_triplets=100, random_state=0),
]


class CutError(Exception):
    """The fit ends here, as if it were killed."""


def cut() -> None:
    raise CutError


def broken_off(learner: Any, file: Path, n_steps: int) -> None:
    learner = clone(learner).set_checkpoint(file, every_seconds=0.0)
    with pytest.raises(CutError):
        learner.set_callbacks(After(n_steps, cut)).fit(X, Y)
    assert file.exists()


def n_steps_of(learner: Any) -> int:
    counter = After(10**9, cut)
    clone(learner).set_callbacks(counter).fit(X, Y)
    return counter.n_steps


def assert_resumes(learner: Any, file: Path) -> Any:
    expected = clone(learner).fit(X, Y)
    resumed = clone(learner).set_checkpoint(file).fit(X, Y)
    np.testing.assert_array_equal(resumed.components_, expected.components_)
    np.testing.assert_array_equal(resumed.loss_curve_, expected.loss_curve_)
    assert (resumed.n_updates_, resumed.n_iter_) == (expected.n_updates_, expected.n_iter_)
    assert not file.exists()  # it is of no more use
    return resumed


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: repr(learner)[:60])
def test_a_fit_goes_on_and_ends_with_the_same_bits(learner: Any, tmp_path: Path) -> None:
    broken_off(learner, tmp_path / "state", n_steps_of(learner) // 2)
    assert_resumes(learner, tmp_path / "state")


def test_a_fit_goes_on_from_any_round_and_runs_only_what_is_left(tmp_path: Path) -> None:
    learner = TripletSGD(batch_size=1, **SETTINGS, n_rounds=3)
    whole = n_steps_of(learner)
    for n_steps in (1, whole // 3, whole // 3 + 1, whole - 1, whole):
        broken_off(learner, tmp_path / "state", n_steps)
        counter = After(10**9, cut)
        resumed = clone(learner).set_checkpoint(tmp_path / "state").set_callbacks(counter).fit(X, Y)
        np.testing.assert_array_equal(resumed.components_, clone(learner).fit(X, Y).components_)
        assert counter.n_steps == whole - n_steps


KILLED = """
import os, signal, sys
sys.path.insert(0, {tests!r})
from test_checkpoint import *
learner = TripletSGD(batch_size=1, **SETTINGS).set_checkpoint({file!r}, every_seconds=0.0)
learner.set_callbacks(After(30, lambda: os.kill(os.getpid(), signal.SIGKILL))).fit(X, Y)
"""


def test_a_process_that_was_killed(tmp_path: Path) -> None:
    program = KILLED.format(tests=str(Path(__file__).parents[1]), file=str(tmp_path / "state"))
    ended = subprocess.run([sys.executable, "-c", program], timeout=120, check=False)
    assert ended.returncode == -signal.SIGKILL
    assert_resumes(TripletSGD(batch_size=1, **SETTINGS), tmp_path / "state")
    assert list(tmp_path.iterdir()) == []


def test_time_passes_between_two_writings(tmp_path: Path) -> None:
    written = []
    learner = TripletSGD(batch_size=1, **SETTINGS).set_checkpoint(
        tmp_path / "state", every_seconds=1e9
    )
    look = After(20, lambda: written.append((tmp_path / "state").exists()))
    learner.set_callbacks(look).fit(X, Y)
    assert written == [False]


def test_own_triplets_and_pairs_are_part_of_the_fit(tmp_path: Path) -> None:
    file, triplets = tmp_path / "state", random_triplets(150, 300)
    learner = TripletSGD("as-sgd", random_state=0)
    with pytest.raises(CutError):
        clone(learner).set_checkpoint(file, every_seconds=0.0).set_callbacks(
            After(50, cut)
        ).fit_triplets(X, triplets)
    with pytest.raises(FileError, match="is of a fit with other data or settings"):
        clone(learner).set_checkpoint(file).fit_triplets(X, triplets[::-1])
    resumed = clone(learner).set_checkpoint(file).fit_triplets(X, triplets)
    expected = learner.fit_triplets(X, triplets)
    np.testing.assert_array_equal(resumed.components_, expected.components_)


@pytest.mark.parametrize(
    ("settings", "samples", "labels"),
    [
        ({**SETTINGS, "learning_rate": 2.0}, X, Y),
        ({**SETTINGS, "random_state": 1}, X, Y),
        ({**SETTINGS, "init": np.eye(4)}, X, Y),
        ({**SETTINGS, "method": recipes.all_pairs_sgd(average=False)}, X, Y),
        (SETTINGS, X + 1e-9, Y),
        (SETTINGS, X, Y[::-1]),
    ],
)
def test_a_checkpoint_of_another_fit_is_refused(
    settings: dict[str, Any], samples: Any, labels: Any, tmp_path: Path
) -> None:
    broken_off(TripletSGD(batch_size=1, **SETTINGS), tmp_path / "state", 20)
    other = TripletSGD(**settings).set_checkpoint(tmp_path / "state")
    with pytest.raises(FileError, match=r"is of a fit with other data or settings: remove it"):
        other.fit(samples, labels)
    assert (tmp_path / "state").exists()


def test_a_damaged_checkpoint_is_refused(tmp_path: Path) -> None:
    broken_off(TripletSGD(batch_size=1, **SETTINGS), tmp_path / "state", 20)
    content = bytearray((tmp_path / "state").read_bytes())
    content[-3] ^= 1
    for damaged in (bytes(content), bytes(content[:500]), b""):
        (tmp_path / "state").write_bytes(damaged)
        with pytest.raises(FileError):
            TripletSGD(batch_size=1, **SETTINGS).set_checkpoint(tmp_path / "state").fit(X, Y)


@pytest.mark.parametrize(
    "random_state", [None, np.random.RandomState(0)], ids=["None", "RandomState"]
)
def test_a_random_state_that_cannot_be_repeated_is_refused(
    random_state: Any, tmp_path: Path
) -> None:
    learner = TripletSGD(random_state=random_state).set_checkpoint(tmp_path / "state")
    with pytest.raises(ValueError, match="can only go on from a checkpoint with a whole number"):
        learner.fit(X, Y)


def test_clones_write_no_file_and_none_unsets(tmp_path: Path) -> None:
    learner = TripletSGD(batch_size=1, **SETTINGS).set_checkpoint(
        tmp_path / "state", every_seconds=0.0
    )
    for quiet in (clone(learner), clone(learner).set_checkpoint(None)):
        with pytest.raises(CutError):
            quiet.set_callbacks(After(20, cut)).fit(X, Y)
        assert not (tmp_path / "state").exists()


def test_ctrl_c_keeps_the_checkpoint_to_go_on_from(tmp_path: Path) -> None:
    learner = TripletSGD(batch_size=1, **SETTINGS).set_checkpoint(
        tmp_path / "state", every_seconds=1e9
    )
    learner.set_callbacks(After(20, lambda: signal.raise_signal(signal.SIGINT)))
    with pytest.warns(InterruptedFitWarning):
        learner.fit(X, Y)
    assert_resumes(TripletSGD(batch_size=1, **SETTINGS), tmp_path / "state")
