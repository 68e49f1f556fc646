"""Ctrl-C: a fit ends after the step under way, with the metric so far."""

from __future__ import annotations

import signal
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from calipers.interrupt import InterruptedFitWarning, interrupt_requested
from learners import each_stepwise, for_triplets, iris, little, random_triplets
from watch import After, Watch

X, Y = iris()


def ctrl_c() -> None:
    signal.raise_signal(signal.SIGINT)


@each_stepwise
def test_a_fit_ends_with_the_metric_so_far(name: str) -> None:
    whole = Watch()
    little(name).set_callbacks(whole).fit(X, Y)
    with pytest.warns(
        InterruptedFitWarning, match=f"^{name} was interrupted after 3 of .* steps: the metric is"
    ) as caught:
        learner = little(name).set_callbacks(After(3, ctrl_c)).fit(X, Y)
    assert caught[0].filename == __file__
    assert learner.interrupted_
    np.testing.assert_array_equal(learner.components_, whole.seen[2])
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert not little(name).fit(X, Y).interrupted_


@pytest.mark.parametrize("name", ["TripletSGD", "OASIS", "LEGO"])
def test_the_warning_points_at_the_call_of_fit_triplets(name: str) -> None:
    learner = for_triplets(name).set_callbacks(After(2, ctrl_c))
    with pytest.warns(InterruptedFitWarning) as caught:
        learner.fit_triplets(X, random_triplets(150, 200))
    assert caught[0].filename == __file__


def test_a_second_ctrl_c_ends_at_once() -> None:
    def twice() -> None:
        ctrl_c()
        ctrl_c()

    with pytest.raises(KeyboardInterrupt):
        little("TripletSGD").set_callbacks(After(3, twice)).fit(X, Y)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_fit_within_shares_the_request() -> None:
    """In whatever thread it is; a request ends with the outermost."""
    with interrupt_requested() as outer:

        def inner(_: Any) -> bool:
            with interrupt_requested() as requested:
                return requested.came

        assert not inner(None)
        ctrl_c()
        assert outer.came
        with ThreadPoolExecutor(1) as pool:
            assert list(pool.map(inner, range(2))) == [True, True]
    with interrupt_requested() as requested:
        assert not requested.came


def test_where_ctrl_c_means_something_else_it_stays_so() -> None:
    came: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: came.append(number))
    try:
        with interrupt_requested() as requested:
            ctrl_c()
            assert not requested.came
    finally:
        signal.signal(signal.SIGINT, before)
    assert came == [signal.SIGINT]


def test_outside_of_the_main_thread_nothing_is_changed() -> None:
    def inside() -> bool:
        with interrupt_requested() as requested:
            return requested.came or signal.getsignal(signal.SIGINT) is not before

    before = signal.getsignal(signal.SIGINT)
    with ThreadPoolExecutor(1) as pool:
        assert not pool.submit(inside).result()


def test_where_ctrl_c_is_ignored_it_stays_so() -> None:
    """Under nohup and by jobs in the background."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    learner = little("TripletSGD").set_callbacks(After(3, ctrl_c)).fit(X, Y)
    assert not learner.interrupted_
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
