"""One BLAS thread per call, chunks over our own."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from calipers.threads import n_threads, parallel_map, single_threaded_blas


def blas_threads() -> set[int]:
    np.zeros((2, 2)) @ np.zeros((2, 2))
    return {info["num_threads"] for info in threadpool_info() if info["user_api"] == "blas"}


def shared_blas_threads() -> set[int]:
    """Of the libraries whose number of threads is one for the whole process."""
    blas_threads()
    found = [info for info in threadpool_info() if info["user_api"] == "blas"]
    return {info["num_threads"] for info in found if info["threading_layer"] != "openmp"}


def test_blas_has_one_thread_inside_and_as_many_as_before_outside() -> None:
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        with single_threaded_blas():
            assert blas_threads() == {1}
            with single_threaded_blas():
                assert blas_threads() == {1}
            assert blas_threads() == {1}
        assert blas_threads() == before


def test_blas_is_given_back_after_an_error() -> None:
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        with pytest.raises(ZeroDivisionError), single_threaded_blas():
            1 / 0  # noqa: B018
        assert blas_threads() == before


def test_blas_stays_single_until_the_last_user_has_left() -> None:
    entered, leave = threading.Event(), threading.Event()

    def hold() -> None:
        with single_threaded_blas():
            entered.set()
            leave.wait(10)

    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        with ThreadPoolExecutor(1) as pool:
            with single_threaded_blas():
                held = pool.submit(hold)
                assert entered.wait(10)
            assert shared_blas_threads() == {1}
            leave.set()
            held.result(10)
        assert blas_threads() == before


def test_another_thread_is_obeyed_while_this_one_has_set_limits() -> None:
    def work() -> set[int]:
        with single_threaded_blas():
            return blas_threads()

    with threadpool_limits(2, user_api="blas"), ThreadPoolExecutor(1) as pool:
        assert pool.submit(work).result(10) == {1}
        assert blas_threads() == {2}


@pytest.mark.parametrize("asked", ["1", "2", "5"])
def test_results_come_in_order(asked: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CALIPERS_NUM_THREADS", asked)
    assert n_threads() == int(asked)
    assert parallel_map(lambda i: i * i, range(50)) == [i * i for i in range(50)]
    assert parallel_map(str, []) == []


def test_more_than_one_thread_works_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CALIPERS_NUM_THREADS", "2")
    barrier = threading.Barrier(2, timeout=10)
    parallel_map(lambda _: barrier.wait(), range(2))


def test_errors_come_through(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CALIPERS_NUM_THREADS", "2")
    with pytest.raises(ZeroDivisionError):
        parallel_map(lambda i: 1 / i, [1, 0, 2])


@pytest.mark.parametrize("asked", ["0", "-1", "two", "", "9" * 20])
def test_nonsense_gets_a_sentence(asked: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CALIPERS_NUM_THREADS", asked)
    with pytest.raises(ValueError, match=r"^CALIPERS_NUM_THREADS must be a whole number"):
        n_threads()
