"""One process at a time, also when a process dies."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO


@contextmanager
def exclusive(path: Path) -> Iterator[None]:
    """Wait until nobody else holds ``path``, and hold it.

    The operating system lets go of the lock when the process ends, however it ends. The
    empty file stays: to remove it would let two processes hold two files of one name.
    On a file system that knows no locks everybody passes.
    """
    with path.open("ab") as held:
        with suppress(OSError):
            _acquire(held)
        try:
            yield
        finally:
            with suppress(OSError):
                _release(held)


if sys.platform == "win32":
    import msvcrt

    def _acquire(held: IO[bytes]) -> None:
        while True:  # LK_LOCK gives up after ten seconds, a download may take longer
            try:
                held.seek(0)
                return msvcrt.locking(held.fileno(), msvcrt.LK_NBLCK, 1)
            except PermissionError:
                time.sleep(0.2)

    def _release(held: IO[bytes]) -> None:
        held.seek(0)
        msvcrt.locking(held.fileno(), msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _acquire(held: IO[bytes]) -> None:
        fcntl.flock(held, fcntl.LOCK_EX)

    def _release(held: IO[bytes]) -> None:
        fcntl.flock(held, fcntl.LOCK_UN)
