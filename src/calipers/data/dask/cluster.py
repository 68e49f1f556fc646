"""The client of a cluster, named tasks, and waits that end when no worker is left."""

from __future__ import annotations

import secrets
from asyncio import run_coroutine_threadsafe
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError, wait
from contextlib import contextmanager, suppress
from time import monotonic
from typing import Any

from calipers.data.files.errors import needs_package

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
        install = "'dask[array,dataframe,distributed]'"
        raise ImportError(needs_package("calipers.data.dask", "distributed", install)) from missing
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
        with explained(f"the task {name!r}"):
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
        with explained(what):
            self._until(lambda seconds: self._are_done(futures, what, seconds), what)
            loop: Any = self.client.loop.asyncio_loop
            gathering = run_coroutine_threadsafe(_gathered(self.client, futures), loop)
            self._until(lambda seconds: bool(wait([gathering], seconds).done), what)
            return list(gathering.result())

    def _until(self, is_done: Callable[[float], bool], what: str) -> None:
        """Ask until it is done; raise if there has been no worker for long."""
        seen = monotonic()
        while not is_done(_POLL_EVERY):
            if self.client.scheduler_info(n_workers=-1).get("workers"):
                seen = monotonic()
            elif monotonic() - seen > LONGEST_WITHOUT_WORKERS:
                raise ClusterError(
                    f"The cluster has had no worker for {LONGEST_WITHOUT_WORKERS:.0f} s while "
                    f"{what} was waited for: start workers, then fit again."
                )

    def _are_done(self, futures: list[Any], what: str, seconds: float) -> bool:
        """Wait a little; return whether all are finished, raise for the first that failed."""
        import distributed

        with self.client.as_current(), suppress(TimeoutError, CancelledError):
            distributed.wait(futures, timeout=seconds)
        for place, future in enumerate(futures):
            if future.status in ("error", "cancelled"):  # what is lost is computed again
                raise _failure(what, place, len(futures), future)
        return all(future.status == "finished" for future in futures)


@contextmanager
def explained(what: str) -> Iterator[None]:
    """Raise `ClusterError` where the client or the scheduler has gone away."""
    from distributed.client import ClosedClientError
    from distributed.comm import CommClosedError

    try:
        yield
    except (CancelledError, ClosedClientError, CommClosedError) as gone:
        raise _gone(what, gone) from gone


def _gone(what: str, gone: BaseException | None) -> ClusterError:
    reason = " ".join(str(gone or "").split())
    return ClusterError(
        f"The cluster was restarted, closed or lost its scheduler while {what} was waited for"
        f"{f' ({reason[:200]})' if reason else ''}: fit again when it is there."
    )


async def _gathered(client: Any, futures: list[Any]) -> list[Any]:
    found: list[Any] = await client.gather(futures, asynchronous=True)
    return found


def _failure(what: str, place: int, n: int, future: Any) -> ClusterError:
    where = f"{what} {place + 1} of {n}" if n > 1 else what
    if future.status == "cancelled":
        return _gone(where, None)
    cause = future.exception()
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
