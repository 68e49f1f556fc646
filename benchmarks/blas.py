"""How many BLAS threads a competitor gets: as many as make it fastest here.

On a machine with other work BLAS with all its threads can be a hundred times slower than
with one, which would flatter whoever does without. So one and all are tried on the
operation that matters, and the faster is taken.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from threadpoolctl import threadpool_info, threadpool_limits

from benchmarks.clock import timed
from calipers.arrays import FloatArray

TRIES = 10


def all_threads() -> int:
    """Threads that BLAS takes if nobody asks for fewer."""
    pools = [pool for pool in threadpool_info() if pool["user_api"] == "blas"]
    return max((pool["num_threads"] for pool in pools), default=1)


def _nothing() -> None:
    pass


def fastest(
    call: Callable[[], object], *, before: Callable[[], object] = _nothing
) -> tuple[int, float]:
    """One or all threads, whichever is faster on the whole, and the best seconds of either.

    ``before`` is called before each call and not counted; nor is the first call. The
    choice goes by the sum: a lucky reading says little about a long run.
    """

    def reading() -> float:
        before()
        return timed(call)[0]

    readings = {}
    for threads in sorted({1, all_threads()}):
        with threadpool_limits(threads, user_api="blas"):
            readings[threads] = [reading() for _ in range(TRIES + 1)][1:]
    chosen = min(readings, key=lambda threads: sum(readings[threads]))
    return chosen, min(map(min, readings.values()))


def for_eigendecomposition(d: int) -> int:
    """The number of threads that suits a matrix of size d."""
    noise = np.random.default_rng(0).normal(size=(d, d))
    M = noise @ noise.T
    return fastest(lambda: np.linalg.eigh(M))[0]


def for_product(X: FloatArray) -> int:
    """The number of threads that suits products of samples with samples."""
    some = X[:2000]
    return fastest(lambda: some @ some.T)[0]
