"""The progress bar."""

from __future__ import annotations

import io
import time
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from calipers import LMNN, Euclidean, MetricCV, Scaled, TripletSGD
from calipers.paper.datasets import load
from calipers.paper.progress import FitAdvance, meter, time_left


def terminal() -> Console:
    return Console(file=io.StringIO(), force_terminal=True, width=100)


def shown(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_a_download_has_a_bar_while_it_lasts() -> None:
    console = terminal()
    with meter(1, console=console) as bar:
        bar.download("isolet.zip", 250, 1000)
        bar.download("poker.zip", 10, None)
        progress = bar._progress
        tasks = {task.description: task for task in progress.tasks}
        assert tasks["downloading isolet.zip"].percentage == 25
        assert tasks["downloading poker.zip"].total is None
        bar.download("isolet.zip", 1000, 1000)
        assert "downloading isolet.zip" not in {task.description for task in progress.tasks}
        progress.refresh()
    assert "downloading poker.zip" in shown(console)


def test_finished_leaves_of_a_fit_make_one() -> None:
    parts: list[float] = []
    callback = FitAdvance(parts.append)
    root = SimpleNamespace(parent=None, max_subtasks=2)
    branches = [SimpleNamespace(parent=root, max_subtasks=n, task_id=n) for n in (3, 5)]
    for branch in branches:
        for _ in range(branch.max_subtasks):
            callback.on_fit_task_end(None, SimpleNamespace(parent=branch, max_subtasks=0))
        callback.on_fit_task_end(None, branch)
    callback.on_fit_task_end(None, root)
    assert len(parts) == 8
    assert sum(parts) == pytest.approx(1)


def test_a_fit_of_unknown_length_is_not_guessed() -> None:
    root = SimpleNamespace(parent=None, max_subtasks=None)
    parts: list[float] = []
    leaf = SimpleNamespace(parent=root, max_subtasks=0, task_id=0)
    FitAdvance(parts.append).on_fit_task_end(None, leaf)
    assert parts == []


def test_the_estimator_drives_the_callback() -> None:
    data = load("iris")
    parts: list[float] = []
    metric = TripletSGD(n_triplets=2_000, random_state=0).set_callbacks(FitAdvance(parts.append))
    metric.fit(data.X_train, data.y_train)
    assert len(parts) > 1
    assert sum(parts) == pytest.approx(1)


def test_the_bar_shows_steps() -> None:
    console = terminal()
    with meter(2, console=console) as bar:
        with bar.step("first"):
            time.sleep(0.3)
        with bar.step("second"):
            time.sleep(0.2)
    assert "first" in shown(console)
    assert "second" in shown(console)
    assert "50 %" in shown(console)


def test_no_bar_where_nobody_looks() -> None:
    hidden, piped = terminal(), Console(file=io.StringIO())
    for console, show in ((hidden, False), (piped, True)):
        with meter(1, console=console, show=show) as bar, bar.step("only"):
            pass
        assert shown(console) == ""


def test_the_estimate_follows_what_is_slow_now() -> None:
    fast = [(0.1 * i, 0.05 * i) for i in range(11)]  # half of the work in the first second
    assert time_left(fast, 1.0, 1.0) == "about 0:01 left"
    assert time_left(fast, 2.0, 1.0) == "about 0:05 left"  # while the next part takes longer
    slow = [*fast, (3.0, 0.55), (5.0, 0.6)]
    assert time_left(slow, 5.0, 1.0) == "about 0:07 left"
    assert time_left([*slow, (7.0, 1.0)], 7.0, 1.0) == ""


def test_nothing_is_shown_before_the_first_step() -> None:
    console = terminal()
    with meter(1, console=console) as bar:
        time.sleep(0.15)
        assert "0 %" not in shown(console)
        with bar.step("only"):
            time.sleep(0.15)
    assert "only" in shown(console)


def test_a_step_that_takes_longer_than_all_before_has_an_estimate() -> None:
    console = terminal()
    with meter(2, console=console) as bar:
        with bar.step("first") as advance:
            advance.report(1.0)
        with bar.step("second"):
            time.sleep(0.3)
            (task,) = bar._progress.tasks
            assert bar.left(task).startswith("about 0:0")


def test_no_time_has_no_pace() -> None:
    assert time_left([(0.0, 0.0), (0.0, 0.5)], 0.0, 1.0) == ""


def test_fits_of_a_comparison_count_by_their_samples_and_closed_forms_not_at_all() -> None:
    data = load("iris")
    parts: list[float] = []
    candidates = [("sgd", TripletSGD(n_triplets=2_000)), ("scaled", Scaled())]
    metric = MetricCV(candidates, cv=2, random_state=0).set_callbacks(FitAdvance(parts.append))
    assert metric.fit(data.X_train, data.y_train).chosen_ == "sgd"
    done = np.cumsum(parts)
    assert done[-1] == pytest.approx(1)
    for share in (1 / 4, 1 / 2):  # a fit to one half, a fit to the other, then one to all
        assert np.isclose(done, share).any()


class Failing(TripletSGD):
    def fit(self, *_: Any, **__: Any) -> Any:
        raise ValueError("it cannot be")


@pytest.mark.parametrize("other", [LMNN(), Scaled(), Failing()])
def test_parts_of_a_comparison_make_one(other: TripletSGD | LMNN | Scaled) -> None:
    data = load("iris")
    parts: list[float] = []
    metric = MetricCV([("euclidean", Euclidean()), ("other", other)], cv=2, random_state=0)
    metric.set_callbacks(FitAdvance(parts.append)).fit(data.X_train, data.y_train)
    assert sum(parts) == pytest.approx(1)


def test_the_pace_is_that_of_what_counts() -> None:
    with meter(1, console=terminal()) as bar, bar.step("only") as advance:
        time.sleep(0.3)
        advance.report(0.0)
        advance.report(0.5)
        assert bar._seen[0][0] >= 0.3
