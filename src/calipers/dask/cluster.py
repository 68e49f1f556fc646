"""The client of a cluster, named tasks, and waits that end when no worker is left."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from time import monotonic
from typing import Any

LONGEST_WITHOUT_WORKERS = 60.0  # seconds
_POLL_EVERY = 2.0  # seconds
_MERGED_AT_ONCE = 8


class ClusterError(RuntimeError):
    """A task failed, or the cluster has no workers; the message names the task and the reason."""


@contextmanager
def client_of(given: Any) -> Iterator[Any]:
    """Yield the client given, else the current one, else the client of a new local cluster.

    A local cluster is started only if no client is current, and closed at the end of the
    block. Errors raised in the block pass through unchanged.
    """
    try:
        from distributed import Client, LocalCluster, default_client
    except ImportError as missing:
        raise ImportError(
            "calipers.dask needs the packages dask and distributed: pip install 'calipers[dask]'."
        ) from missing
    if given is None:
        try:
            given = default_client()
        except ValueError:  # there is none
            given = None
    if given is not None:
        yield given
        return
    with LocalCluster(dashboard_address=":0") as cluster, Client(cluster) as client:
        yield client


class Tasks:
    """The tasks of one fit, each with a name; any worker can compute any of them again."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self._fit = secrets.token_hex(4)
        self._count = 0

    def key(self, name: str) -> str:
        """Return a unique key for a task; the dashboard groups tasks by its first part."""
        self._count += 1
        return f"calipers-{name}-{self._fit}-{self._count}"

    def submit(self, name: str, function: Callable[..., Any], *arguments: Any) -> Any:
        """Submit a task and return its future; futures among the arguments are its dependencies."""
        return self.client.submit(function, *arguments, key=self.key(name), pure=False)

    def merged(self, name: str, merge: Callable[[list[Any]], Any], futures: list[Any]) -> Any:
        """Merge the results of all futures by a tree of tasks, and return its future."""
        while len(futures) > 1:
            groups = [
                futures[i : i + _MERGED_AT_ONCE] for i in range(0, len(futures), _MERGED_AT_ONCE)
            ]
            futures = [self.submit(name, merge, group) for group in groups]
        return futures[0]

    def results(self, futures: Sequence[Any], what: str = "a task") -> list[Any]:
        """Wait for the futures and return their results, in order.

        Raises
        ------
        ClusterError
            A task failed, or the cluster had no worker for a minute.
        """
        futures = list(futures)
        self._wait(futures, what)
        gathered: list[Any] = self.client.gather(futures)
        return gathered

    def _wait(self, futures: list[Any], what: str) -> None:
        from distributed import wait

        seen = monotonic()
        while not _are_done(futures, what):
            try:
                with self.client.as_current():
                    wait(futures, timeout=_POLL_EVERY)
            except TimeoutError:
                if self.client.scheduler_info(n_workers=-1)["workers"]:
                    seen = monotonic()
                elif monotonic() - seen > LONGEST_WITHOUT_WORKERS:
                    raise ClusterError(
                        f"The cluster has had no worker for {LONGEST_WITHOUT_WORKERS:.0f} s while "
                        f"{what} was waited for: start workers, then fit again."
                    ) from None


def _are_done(futures: list[Any], what: str) -> bool:
    """Return whether all are finished; raise for the first that failed."""
    for place, future in enumerate(futures):
        if future.status in ("error", "cancelled", "lost"):
            raise _failure(what, place, len(futures), future)
    return all(future.status == "finished" for future in futures)


def _failure(what: str, place: int, n: int, future: Any) -> ClusterError:
    cause = future.exception() if future.status == "error" else None
    where = f"{what} {place + 1} of {n}" if n > 1 else what
    if cause is None:
        return ClusterError(f"{where} was {future.status} before it was done: fit again.")
    reason = " ".join(str(cause).split()) or "no reason given"
    kind = type(cause).__name__
    if kind == "KilledWorker":
        reason = (
            "each worker that tried it has died, most likely for want of memory: make partitions "
            "smaller, or give workers more memory"
        )
    error = ClusterError(f"{where} failed ({kind}: {reason}).")
    error.__cause__ = cause
    return error
