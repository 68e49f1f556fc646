"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import secrets
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from stat import S_IMODE
from typing import IO

from calipers.files.errors import FileError, reason


@contextmanager
def written_whole(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a draft beside ``path``; it takes that name once it is complete and on the disk.

    Whatever goes wrong before, also an interrupt, leaves what was at ``path`` as it was and
    no draft behind.

    Parameters
    ----------
    path : path-like
        Final name; a link is followed.

    Yields
    ------
    binary file
        The draft, to write to.

    Raises
    ------
    FileError
        The place cannot be written to.
    """
    final = _checked_name(os.fspath(path))
    draft = final.with_name(f".{secrets.token_hex(4)}.part")
    try:
        with draft.open("xb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        if final.exists():
            draft.chmod(S_IMODE(final.stat().st_mode))
        draft.replace(final)
        _make_durable(final.parent)
    except OSError as problem:
        raise FileError(
            f"Cannot write {os.fspath(path)!r} ({reason(problem)}): name another place, or free "
            "this one; what was there before is unchanged."
        ) from problem
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)


def check_writable(path: str | os.PathLike[str]) -> None:
    """Raise `FileError`, before any work is done, if nothing can be written at ``path``."""
    final = _checked_name(os.fspath(path))
    try:
        tempfile.TemporaryFile(dir=final.parent).close()
    except OSError as problem:
        raise FileError(
            f"Cannot write into the folder {str(final.parent)!r} ({reason(problem)}): name "
            "another place."
        ) from problem


def _checked_name(given: str) -> Path:
    """Follow links; refuse what is no name of a file in a folder that exists."""
    try:
        final = Path(os.path.realpath(given))
        is_folder, is_other = final.is_dir(), final.exists() and not final.is_file()
        has_folder = final.parent.is_dir()
    except (OSError, ValueError) as problem:  # too long, or with a zero byte
        raise FileError(
            f"{given!r} is no name for a file ({reason(problem)}): name another place."
        ) from problem
    if is_folder:
        raise FileError(f"{given!r} is a folder: give the name of a file in it.")
    if is_other:
        raise FileError(f"{given!r} is a device or a pipe, not a file: name another place.")
    if not has_folder:
        raise FileError(
            f"The folder {str(final.parent)!r} of {final.name!r} does not exist: create it first."
        )
    return final


def _make_durable(folder: Path) -> None:
    """Bring the new name to the disk, where a folder can be synchronised."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
