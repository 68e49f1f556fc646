"""A small cluster of worker processes on loopback, and waits that end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, TypeVar

Result = TypeVar("Result")
LONGEST = 90.0  # seconds that a call may take before the test fails


@contextmanager
def cluster_of(n_workers: int) -> Iterator[Any]:
    """Yield a client; processes that die are replaced."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=n_workers,
            threads_per_worker=1,
            processes=True,
            dashboard_address=":0",  # any port that is free
            memory_limit=0,
        ) as cluster,
        Client(cluster, set_as_default=False, timeout=60) as client,
    ):
        if n_workers:
            client.wait_for_workers(n_workers, timeout=60)
        yield client


def bounded(function: Callable[[], Result], seconds: float = LONGEST) -> Result:
    """Call the function; a TimeoutError if it has not ended by then."""
    pool = ThreadPoolExecutor(1)
    try:
        return pool.submit(function).result(timeout=seconds)
    finally:
        pool.shutdown(wait=False)
