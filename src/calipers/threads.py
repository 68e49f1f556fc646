"""One BLAS thread per call, our own threads across fixed chunks.

Threaded BLAS may split a product differently for another number of threads and so change the
last bits of the result, and on a busy machine it is far slower for the sizes met here. Calipers
therefore holds BLAS to one thread while it works, and maps chunks over its own threads. The
limits of the chunks do not depend on the number of threads.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache, lru_cache
from threading import Lock
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from threadpoolctl import OpenBLASController, ThreadpoolController

Item = TypeVar("Item")
Result = TypeVar("Result")

_lock = Lock()
_n_users = 0
_shared_limits: Any = None
# Newer threadpoolctl obeys only the thread that set limits; where it has none to clear, do nothing.
_clear_owner: Callable[..., object] = getattr(OpenBLASController, "clear_controlling_thread", dict)


@contextmanager
def single_threaded_blas() -> Iterator[None]:
    """Hold BLAS to one thread until the last of all concurrent users has left.

    A library built on OpenMP keeps a thread limit for each calling thread, so every user sets
    its own. The other libraries have one limit per process, which the first user sets and the
    last one restores.
    """
    global _n_users, _shared_limits
    shared, by_thread = _libraries(len(sys.modules))
    with _lock:
        if _n_users == 0:
            _clear_owner(force=True)
            _shared_limits = shared.limit(limits=1)
        _n_users += 1
    try:
        with by_thread.limit(limits=1):
            yield
    finally:
        with _lock:
            _n_users -= 1
            if _n_users == 0:
                _clear_owner(force=True)
                _shared_limits.restore_original_limits()
                _clear_owner(force=True)


@lru_cache(maxsize=1)
def _libraries(n_modules: int) -> tuple[Any, Any]:
    """Return the BLAS libraries with one thread limit, and those with one for each thread.

    The search takes 2 ms, so it is repeated only after an import.
    """
    blas = ThreadpoolController().select(user_api="blas")
    by_thread = [info["filepath"] for info in blas.info() if info["threading_layer"] == "openmp"]
    shared = [info["filepath"] for info in blas.info() if info["filepath"] not in by_thread]
    return blas.select(filepath=shared), blas.select(filepath=by_thread)


def n_threads() -> int:
    """Return the number of threads to use: ``CALIPERS_NUM_THREADS``, else the usable cores."""
    given = os.environ.get("CALIPERS_NUM_THREADS")
    if given is not None:
        if not (given.isdecimal() and 0 < int(given) < 10_000):
            raise ValueError(
                f"CALIPERS_NUM_THREADS must be a whole number from 1 to 9999, got {given[:20]!r}."
            )
        return int(given)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@cache
def _pool(process: int, size: int) -> ThreadPoolExecutor:
    """Return the pool of this process and size; a forked child must not use its parent's."""
    return ThreadPoolExecutor(size, thread_name_prefix="calipers")


def parallel_map(work: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
    """Return ``[work(item) for item in items]``, computed by `n_threads` threads.

    >>> parallel_map(abs, [-1, 2, -3])
    [1, 2, 3]
    """
    items = list(items)
    if len(items) < 2 or n_threads() == 1:
        return [work(item) for item in items]
    return list(_pool(os.getpid(), n_threads()).map(work, items))


_TILE_PRODUCTS = 2**25  # multiplications of a tile of a matrix product: about a millisecond


def parallel_product(A: npt.NDArray[Any], B: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return ``A @ B`` by tiles of A's rows; their limits depend on the shapes alone.

    >>> parallel_product(np.eye(2), np.array([[1.0], [2.0]])).ravel()
    array([1., 2.])
    """
    out = np.empty((len(A), B.shape[1]))
    size = max(1, _TILE_PRODUCTS // max(1, B.size))
    tiles = [slice(first, first + size) for first in range(0, len(A), size)]
    parallel_map(lambda tile: np.matmul(A[tile], B, out=out[tile]), tiles)
    return out


class InOrder:
    """Sum arrays in the order of their numbers, whatever order threads bring them in.

    >>> total, in_order = np.zeros(1), InOrder()
    >>> in_order.add(1, np.array([2.0]), total)
    >>> total  # number 0 is missing
    array([0.])
    >>> in_order.add(0, np.array([1.0]), total)
    >>> total
    array([3.])
    """

    def __init__(self) -> None:
        self._lock, self._waiting, self._next = Lock(), dict[int, npt.NDArray[Any]](), 0

    def add(self, number: int, array: npt.NDArray[Any], total: npt.NDArray[Any]) -> None:
        """Add an array to the total once those before it have been."""
        with self._lock:
            self._waiting[number] = array
            while self._next in self._waiting:
                np.add(total, self._waiting.pop(self._next), out=total)
                self._next += 1
