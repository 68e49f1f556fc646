"""Write and read a file: numbers and text, nothing that is run.

What is written passes the same checks as what is read. What is read is compared with its checksum
before anything but the format is believed, and no more is allocated than the file has.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import numpy as np

from calipers.data.files import signatures
from calipers.data.files.atomic import atomic_write
from calipers.data.files.errors import FileError, reason
from calipers.metric.file import container, header
from calipers.metric.file.container import Arrays, DamagedError, ForeignError
from calipers.metric.file.contents import Contents
from calipers.metric.file.encoder import n_features_of

_METRIC_KEY = "calipers"  # of our header among the file's metadata
_COMPONENT_DTYPES = (np.float64, np.float32)


def write(contents: Contents, path: str | os.PathLike[str]) -> None:
    """Write a file, completely or not at all.

    Raises
    ------
    FileError
        The place cannot be written to, or the contents could not be read back.
    """
    try:
        text = header.to_text(contents)
        if len(text) > header.LONGEST:
            raise FileError(
                f"The names of features and classes take {len(text):,} characters, of at most "
                f"{header.LONGEST:,} in a file: fit with shorter names or with numbers."
            )
        _check_arrays(Contents(arrays=contents.arrays, **header.entries_of(header.parse(text))))
        packed = container.pack(_METRIC_KEY, text, contents.arrays)
    except FileError:
        raise
    except (DamagedError, TypeError, ValueError) as wrong:  # the latter of what JSON has not
        raise FileError(
            f"The {contents.kind} cannot be saved ({reason(wrong)}): correct that, or fit it again."
        ) from wrong
    with atomic_write(path) as stream:
        stream.write(packed)


def read(path: str | os.PathLike[str]) -> Contents:
    """Read and check what `write` wrote.

    Raises
    ------
    FileError
        The file is not there, not ours, of another format, or damaged.
    """
    try:
        with _opened(path) as stream:
            reader = container.Reader(stream, _METRIC_KEY)
            found = header.parse(reader.text)
            contents = Contents(arrays=reader.arrays(), **header.entries_of(found))
        _check_arrays(contents)
    except header.OtherFormatError as other:
        raise _of_other_format(path, other) from None
    except ForeignError as wrong:
        raise FileError(
            f"{os.fspath(path)!r} is {wrong}, not a metric: give a file that metric.save or "
            "'calipers fit' wrote."
        ) from None
    except (DamagedError, MemoryError, OSError) as wrong:
        raise FileError(
            f"{os.fspath(path)!r} is not a whole metric file ({reason(wrong)}): save the metric "
            "again, or copy the file anew."
        ) from wrong
    return contents


@contextmanager
def _opened(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a file; refuse what is no file, and what is well known to be another kind of file."""
    place, name = Path(path), os.fspath(path)
    try:
        if not place.exists():
            raise FileError(f"There is no file {name!r}: give the name that was passed to save.")
        if not place.is_file():
            raise FileError(f"{name!r} is not a file: give the name of a saved metric.")
        stream = place.open("rb")
    except FileError:
        raise
    except (OSError, ValueError) as problem:  # a ValueError for a name with a zero byte
        raise FileError(
            f"Cannot read {name!r} ({reason(problem)}): check its name and its permissions."
        ) from problem
    with stream:
        start = stream.read(signatures.N_BYTES)
        if not start:
            raise DamagedError("it is empty")
        kind = signatures.content_of(start)
        if kind not in (None, signatures.SAFETENSORS):
            raise ForeignError(kind)
        stream.seek(0)
        yield stream


def _check_arrays(contents: Contents) -> None:
    """Refuse arrays that are missing, of another dtype or shape, or not finite."""
    arrays = contents.arrays
    if "components" not in arrays:
        raise DamagedError("it has no array 'components'")
    shape = arrays["components"].shape
    if len(shape) != 2 or 0 in shape:
        raise DamagedError(f"'components' has shape {shape}, not (n_components, n_features)")
    k, d = shape
    expected = {"components": (k, d), "offset": (k,), "feature_scale": (d,), "similarity": (d, d)}
    if "document_components" in arrays:  # from any number of features into the same space
        expected["document_components"] = (k, *arrays["document_components"].shape[1:2])
    for name in expected.keys() & arrays.keys():
        _check_array(arrays, name, expected[name])
    if contents.kind == "metric" and contents.encoder is not None:
        n_encoded = n_features_of(contents.encoder)
        if n_encoded != d:
            raise DamagedError(f"its encoder makes {n_encoded} features, but it has {d}")
    names = contents.feature_names
    if names is not None and len(names) != d:
        raise DamagedError(f"it names {len(names)} features, but has {d}")


def _check_array(arrays: Arrays, name: str, shape: tuple[int, ...]) -> None:
    array = arrays[name]
    if array.dtype not in _COMPONENT_DTYPES:
        raise DamagedError(f"{name!r} is of dtype {array.dtype}, not float64 or float32")
    if array.shape != shape:
        raise DamagedError(f"{name!r} has shape {array.shape}, not {shape}")
    if not np.isfinite(array).all():
        raise DamagedError(f"{name!r} has values that are not finite")


def _of_other_format(path: str | os.PathLike[str], other: header.OtherFormatError) -> FileError:
    if other.version < header.FORMAT:
        return FileError(
            f"{os.fspath(path)!r} is a metric of format {other.version}, which this version does "
            "not read: fit and save it again."
        )
    from calipers.version import __version__

    return FileError(
        f"{os.fspath(path)!r} was written by calipers {other.written_by}, in a format later than "
        f"{header.FORMAT}, the last that calipers {__version__} reads: upgrade calipers."
    )
