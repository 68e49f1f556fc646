"""The plain content of a packed file."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

from calipers.files import FileError
from calipers.files.errors import reason

PACKINGS = (".gz", ".bz2", ".xz")


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
        The file is not there or damaged, at opening or while reading.
    """
    import lzma

    try:
        with _stream(path) as stream:
            yield stream
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as problem:
        raise FileError(
            f"Cannot read {str(path)!r} ({reason(problem)}): check its name, or copy it anew."
        ) from problem


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
