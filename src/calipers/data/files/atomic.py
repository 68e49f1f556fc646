"""Files that are written completely or not at all.

A file is written as a hidden draft beside its final name, and renamed once it is on the disk.
A draft is called ``.<target>-<machine>-<pid>-<random>.part``: ``<target>`` is a digest of the final
name and ``<machine>`` one of the host and its process numbering. So the next writer of the same
name can tell which drafts were left behind by a writer that was killed.
"""

from __future__ import annotations

import os
import platform
import re
import secrets
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from stat import S_IMODE
from time import time
from typing import IO

from calipers.data.files.errors import FileError, reason

_STALE_SECONDS = 3600.0
_DRAFT = re.compile(
    r"\.(?P<target>[0-9a-f]{12})-(?P<machine>[0-9a-f]{12})-(?P<pid>[0-9]{1,10})-[0-9a-f]{8}\.part"
)


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a draft beside ``path``; it takes that name once it is complete and on the disk.

    Whatever goes wrong before, also an interrupt, leaves what was at ``path`` as it was and
    no draft behind. A killed process cannot remove its draft: the next write of the same name
    does. The draft has the permissions of the file it replaces, or those of a new file.

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
    draft = final.with_name(_draft_name(final))
    try:
        _remove_stale_drafts(final)
        with _created(draft, like=final) as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        draft.replace(final)
        _sync_folder(final.parent)
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


@contextmanager
def _created(draft: Path, *, like: Path) -> Iterator[IO[bytes]]:
    """Create the draft; at no moment may anyone read it who may not read the final file."""
    mode = S_IMODE(like.stat().st_mode) if like.exists() else None

    def opener(name: str, flags: int) -> int:
        return os.open(name, flags, 0o666 if mode is None else mode)

    with open(draft, "xb", opener=opener) as stream:
        if mode is not None:
            draft.chmod(mode)  # the umask has taken away what the target allows
        yield stream


def _draft_name(final: Path) -> str:
    return f".{_target(final)}-{_machine()}-{os.getpid()}-{secrets.token_hex(4)}.part"


def _target(final: Path) -> str:
    """Digest of the name; the name itself may be as long as the file system allows."""
    return sha256(os.fsencode(final.name)).hexdigest()[:12]


@cache
def _machine() -> str:
    """Digest of where a process number means the same process: the host and its namespace."""
    namespace = ""
    with suppress(OSError):
        namespace = str(Path("/proc/self/ns/pid").readlink())
    return sha256(f"{platform.node()} {namespace}".encode()).hexdigest()[:12]


def _remove_stale_drafts(final: Path) -> None:
    """Remove drafts of this name that are an hour old, or whose process is gone."""
    with suppress(OSError):  # a folder that may be written to need not be readable
        for place in final.parent.glob(".*.part"):
            found = _DRAFT.fullmatch(place.name)
            if found is None or found["target"] != _target(final):
                continue
            with suppress(OSError):
                is_gone = found["machine"] == _machine() and not _is_running(int(found["pid"]))
                if is_gone or time() - place.stat().st_mtime > _STALE_SECONDS:
                    place.unlink()


def _is_running(pid: int) -> bool:
    if os.name == "nt":  # where signal 0 is Ctrl-C
        return True
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True


def _sync_folder(folder: Path) -> None:
    """Bring the new name to the disk, where a folder can be synchronised."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
