"""The plain content of a packed file."""

from __future__ import annotations

import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, AnyStr, Generic, cast

from calipers.data.files import FileError
from calipers.data.files.errors import reason

PACKINGS = (".gz", ".bz2", ".xz")
MOST_UNPACKED = 256 << 20
"""Bytes that any packed file may grow to."""
MOST_TEXT = 32 << 20
"""Bytes of text that any packed file may grow to; text takes longer to read than numbers."""
LARGEST_GROWTH = 100
"""Times its own size that a file may grow to beyond that."""
LARGEST_TEXT_GROWTH = 10
"""The same of a packed text, which takes a second per megabyte or so to read."""
LONGEST_ROW = 32 << 20
"""Characters that one row of a text may have."""


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


def largest_size(path: Path, *, most: int | None = None, growth: int = LARGEST_GROWTH) -> int:
    """Return the bytes that the content of a file may take."""
    return max(MOST_UNPACKED if most is None else most, growth * path.stat().st_size)


def check_growth(
    path: Path,
    n_bytes: int,
    *,
    when: str = "",
    most: int | None = None,
    growth: int = LARGEST_GROWTH,
) -> None:
    """Raise if a file would grow to ``n_bytes`` that no table of its size has."""
    size = path.stat().st_size
    if n_bytes <= largest_size(path, most=most, growth=growth):
        return
    if when:
        raise FileError(
            f"{path} has {size:,} bytes, but {n_bytes:,} {when}: reduce it first, e.g. with "
            "sklearn.decomposition.TruncatedSVD."
        )
    raise FileError(
        f"{path} has {size:,} bytes, but unpacks to {n_bytes:,} or more: unpack it yourself if "
        "that is meant."
    )


class BoundedLines(Generic[AnyStr]):
    """The lines of a file; those of one row may not be longer than `LONGEST_ROW` together.

    Parameters
    ----------
    path : Path
        Name of the file, for the message.
    stream : file
        Open for reading.
    """

    def __init__(self, path: Path, stream: IO[AnyStr]) -> None:
        self._path, self._left = path, LONGEST_ROW
        self._stream: IO[AnyStr] = stream

    def begin_row(self) -> None:
        """Count anew: the lines so far have been read as rows."""
        self._left = LONGEST_ROW

    def __iter__(self) -> Iterator[AnyStr]:
        while line := self._stream.readline(self._left + 1):
            self._left -= len(line)
            if self._left < 0:
                raise FileError(
                    f"{self._path} has a row of more than {LONGEST_ROW:,} characters: check its "
                    "ends of lines, quotes and format."
                )
            yield line


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
        most = min(MOST_TEXT, MOST_UNPACKED)
        check_growth(self._path, self._count, most=most, growth=LARGEST_TEXT_GROWTH)
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
