"""The plain content of a packed file."""

from __future__ import annotations

import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, cast

from calipers.io import FileError
from calipers.io.errors import reason

PACKINGS = (".gz", ".bz2", ".xz")
MOST_UNPACKED = 256 << 20
"""Bytes that any packed file may grow to."""
LARGEST_GROWTH = 100
"""Times its own size that a file may grow to beyond that."""


def plain_suffix(path: Path) -> str:
    """Return the ending of a name, without that of a packing.

    Examples
    --------
    >>> plain_suffix(Path("data.CSV.gz"))
    '.csv'
    """
    name = path.name.lower()
    for packing in PACKINGS:
        name = name.removesuffix(packing)
    return Path(name).suffix


@contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """Open the plain content of ``path``, which may be packed by gzip, bzip2 or xz.

    Raises
    ------
    FileError
        The file is not there or damaged, at opening or while reading, or grows beyond all
        measure.
    """
    import lzma

    try:
        with _stream(path) as stream:
            yield stream if path.suffix.lower() not in PACKINGS else _Measured.of(path, stream)
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as problem:
        raise FileError(
            f"Cannot read {str(path)!r} ({reason(problem)}): check its name, or copy it anew."
        ) from problem


def check_growth(path: Path, n_bytes: int) -> None:
    """Raise if a file would grow to ``n_bytes`` that no table of its size has."""
    size = path.stat().st_size
    if n_bytes > max(MOST_UNPACKED, LARGEST_GROWTH * size):
        raise FileError(
            f"{path} has {size:,} bytes, but unpacks to {n_bytes:,} or more: unpack it yourself if "
            "that is meant."
        )


class _Measured(io.RawIOBase):
    """Counts what comes out of a packed file."""

    def __init__(self, path: Path, stream: IO[bytes]) -> None:
        self._path, self._stream, self._count = path, stream, 0

    @classmethod
    def of(cls, path: Path, stream: IO[bytes]) -> IO[bytes]:
        """Return a stream of the same content."""
        return io.BufferedReader(cls(path, stream), 1 << 16)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer)
        data = self._stream.read(len(view))
        view[: len(data)] = data
        self._count += len(data)
        check_growth(self._path, self._count)
        return len(data)

    def seek(self, offset: int, whence: int = 0) -> int:
        self._count = 0
        return self._stream.seek(offset, whence)


def _stream(path: Path) -> IO[bytes]:
    suffix = path.suffix.lower()
    if suffix == ".gz":
        import gzip

        return cast(IO[bytes], gzip.open(path))
    if suffix == ".bz2":
        import bz2

        return bz2.open(path)
    if suffix == ".xz":
        import lzma

        return lzma.open(path)
    return path.open("rb")
