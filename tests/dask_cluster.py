"""A small cluster of worker processes on loopback, and waits that end."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from time import monotonic, sleep
from typing import Any, TypeVar

Result = TypeVar("Result")
LONGEST = 90.0  # seconds that a call may take before the test fails


@contextmanager
def cluster_of(n_workers: int, memory_limit: int | str = 0) -> Iterator[Any]:
    """Yield a client; processes that die are replaced."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=n_workers,
            threads_per_worker=1,
            processes=True,
            dashboard_address=":0",  # any port that is free
            memory_limit=memory_limit,
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


def pause_once(client: Any, module: str, function: str, file: Path) -> None:
    """Let the first call of a function, on any worker, write its process id and wait."""

    def patch(module: str, function: str, file: str) -> None:
        import importlib
        import os
        import time

        home = importlib.import_module(module)
        true = getattr(home, function)

        def paused(*arguments: Any) -> Any:
            try:
                handle = os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY)
            except FileExistsError:
                return true(*arguments)
            os.write(handle, str(os.getpid()).encode())
            os.close(handle)
            time.sleep(120)  # far longer than the test lets it
            raise AssertionError("this worker was to be killed")

        setattr(home, function, paused)

    client.run(patch, module, function, str(file))


def when_there(file: Path, act: Any) -> Thread:
    """Act on the process id in a file as soon as it is there."""

    def watch() -> None:
        end = monotonic() + LONGEST
        while monotonic() < end and not (file.exists() and file.read_text()):
            sleep(0.05)
        act(int(file.read_text()))

    thread = Thread(target=watch, daemon=True)
    thread.start()
    return thread


def kill(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)
