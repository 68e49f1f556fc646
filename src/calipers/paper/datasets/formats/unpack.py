"""The plain content of a file, whatever it is packed in."""

from __future__ import annotations

import io
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, cast
from zipfile import BadZipFile, ZipFile

from calipers.paper.datasets.formats.lzw import BrokenCodesError, decompress
from calipers.paper.datasets.sources import DatasetError

SUFFIXES = ("", ".Z", ".gz", ".bz2")
"""How the name of a packed file goes on after the name of its content."""

_BROKEN = (BadZipFile, BrokenCodesError, EOFError, OSError, NotImplementedError, zlib.error)


@contextmanager
def opened(path: Path, file: str, *, served: str | None = None) -> Iterator[IO[bytes]]:
    """Open the plain content of ``file``, which is at ``path`` as it is, packed or in a zip.

    Parameters
    ----------
    path : Path
        Where the bytes are.
    file : str
        Name of the plain file.
    served : str, optional
        Name whose ending says how the bytes are packed; by default that of ``path``.

    Raises
    ------
    DatasetError
        The file is damaged or does not hold the member, at opening or while reading.
    """
    name = served or path.name
    try:
        with ExitStack() as stack:
            stream: IO[bytes] = stack.enter_context(path.open("rb"))
            if name.endswith(".zip"):
                archive = stack.enter_context(ZipFile(stream))
                name = _member(archive, file)
                stream = stack.enter_context(archive.open(name))
            yield stack.enter_context(_plain(stream, name))
    except _BROKEN as broken:
        reason = str(broken) or type(broken).__name__
        raise DatasetError(
            f"{file} cannot be read from {str(path)!r} ({reason}): delete that file and "
            "load the data set again."
        ) from broken


def _plain(stream: IO[bytes], name: str) -> IO[bytes]:
    """Undo the packing that the ending of ``name`` tells of."""
    if name.endswith(".Z"):
        return io.BytesIO(decompress(stream.read()))
    if name.endswith(".bz2"):
        import bz2

        return bz2.BZ2File(stream)
    if name.endswith(".gz"):
        import gzip

        return cast(IO[bytes], gzip.GzipFile(fileobj=stream))
    return stream


def _member(archive: ZipFile, file: str) -> str:
    """Name of the member that holds ``file``; a plain one is preferred to a packed one."""
    members = {PurePosixPath(name).name: name for name in archive.namelist()}
    for suffix in SUFFIXES:
        if file + suffix in members:
            return members[file + suffix]
    raise BadZipFile(f"the archive holds {', '.join(sorted(members)) or 'nothing'}")
