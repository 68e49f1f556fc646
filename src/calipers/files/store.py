"""Header and matrices as a safetensors file: numbers and text, nothing that is run.

The library checks at opening that every matrix lies within the file, so that no more is
read or allocated than the file has.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any

import numpy as np

from calipers.arrays import FloatArray
from calipers.files import header
from calipers.files.contents import Contents
from calipers.files.errors import FileError, reason
from calipers.files.whole import written_whole

_KEY = "calipers"  # of our header among the file's metadata
_COMPONENTS = "components"
_OPTIONAL = ("feature_scale", "similarity")
_KINDS = {"F64": np.float64, "F32": np.float32}
_FOREIGN = (
    (b"\x89PNG", "a PNG picture"),
    (b"PK\x03\x04", "a zip archive"),
    (b"\x1f\x8b", "a gzip file"),
    (b"\x93NUMPY", "a NumPy array"),
    (b"\x80\x02", "a pickle"),
    (b"\x80\x03", "a pickle"),
    (b"\x80\x04", "a pickle"),
    (b"\x80\x05", "a pickle"),
    (b"%PDF", "a PDF document"),
    (b"PAR1", "a Parquet table"),
)


def write(contents: Contents, path: str | os.PathLike[str]) -> None:
    """Write a metric, whole or not at all.

    Raises
    ------
    FileError
        The place cannot be written to, or the contents cannot be read back.
    """
    from safetensors.numpy import save

    matrices = {_COMPONENTS: contents.components}
    for name in _OPTIONAL:
        matrix = getattr(contents, name)
        if matrix is not None:
            matrices[name] = np.ascontiguousarray(matrix, dtype=np.float64)
    for name, matrix in matrices.items():
        if not np.isfinite(matrix).all():
            raise FileError(f"The metric's {name} are not finite: fit it again before it is saved.")
    text = header.as_text(contents, _checksum(matrices))
    if len(text) > header.LONGEST:
        raise FileError(
            f"The names of features and classes take {len(text):,} characters, of at most "
            f"{header.LONGEST:,} in a file: fit with shorter names or with numbers."
        )
    with written_whole(path) as stream:
        stream.write(save(matrices, metadata={_KEY: text}))


def read(path: str | os.PathLike[str]) -> Contents:
    """Read and check what `write` wrote.

    Raises
    ------
    FileError
        The file is not there, not ours, of a later format, or damaged.
    """
    place = _checked_place(path)
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(place, framework="np") as opened:
            found = (opened.metadata() or {}).get(_KEY)
            if found is None:
                raise _foreign(path, "a safetensors file without a calipers header")
            entries, checksum = header.from_text(found)
            matrices = _matrices(opened)
    except header.FutureError as later:
        from calipers.version import __version__

        raise FileError(
            f"{os.fspath(path)!r} was written by calipers {later}, in a format later than "
            f"{header.FORMAT}, the last that calipers {__version__} reads: upgrade calipers."
        ) from None
    except header.HeaderError as wrong:
        raise _damaged(path, str(wrong)) from wrong
    except (SafetensorError, OSError, ValueError, TypeError, MemoryError, OverflowError) as wrong:
        if isinstance(wrong, FileError):
            raise
        raise _damaged(path, reason(wrong)) from wrong
    contents = Contents(
        components=matrices[_COMPONENTS],
        feature_scale=matrices.get("feature_scale"),
        similarity=matrices.get("similarity"),
        **entries,
    )
    _check(path, contents, matrices, checksum)
    return contents


def _checked_place(path: str | os.PathLike[str]) -> Path:
    """Refuse what is no file, and what is well known to be another kind of file."""
    place = Path(path)
    try:
        if not place.exists():
            raise FileError(
                f"There is no file {os.fspath(path)!r}: give the name that was passed to save."
            )
        if not place.is_file():
            raise FileError(f"{os.fspath(path)!r} is not a file: give the name of a saved metric.")
        with place.open("rb") as stream:
            start = stream.read(9)
    except FileError:
        raise
    except (OSError, ValueError) as problem:  # a ValueError for a name with a zero byte
        raise FileError(
            f"Cannot read {os.fspath(path)!r} ({reason(problem)}): check its name and its rights."
        ) from problem
    if not start:
        raise _damaged(path, "it is empty")
    kind = next((kind for beginning, kind in _FOREIGN if start.startswith(beginning)), None)
    if kind is not None and start[8:] != b"{":  # the length of a header may begin as a pickle does
        raise _foreign(path, kind)
    return place


def _matrices(opened: Any) -> dict[str, FloatArray]:
    """Read the matrices that we know, after a look at their kinds and shapes."""
    present = set(opened.keys())
    if _COMPONENTS not in present:
        raise header.HeaderError(f"it has no matrix {_COMPONENTS!r}")
    found: dict[str, FloatArray] = {}
    for name in (_COMPONENTS, *(name for name in _OPTIONAL if name in present)):
        part = opened.get_slice(name)
        shape, kind = tuple(part.get_shape()), part.get_dtype()
        if kind not in _KINDS:
            raise header.HeaderError(f"{name!r} is of kind {kind}, not F64 or F32")
        if name == _COMPONENTS and (len(shape) != 2 or 0 in shape):
            raise header.HeaderError(f"{name!r} has shape {shape}, not (n_components, n_features)")
        found[name] = opened.get_tensor(name)
    d = found[_COMPONENTS].shape[1]
    for name, shape in (("feature_scale", (d,)), ("similarity", (d, d))):
        if name in found and found[name].shape != shape:
            raise header.HeaderError(f"{name!r} has shape {found[name].shape}, not {shape}")
    return found


def _check(
    path: str | os.PathLike[str],
    contents: Contents,
    matrices: dict[str, FloatArray],
    checksum: str,
) -> None:
    """Refuse matrices that have changed, that are not finite or do not fit the names."""
    if _checksum(matrices) != checksum:
        raise _damaged(path, "its matrices do not have the checksum in its header")
    for name, matrix in matrices.items():
        if not np.isfinite(matrix).all():
            raise _damaged(path, f"{name!r} has values that are not finite")
    names, d = contents.feature_names, contents.components.shape[1]
    if names is not None and len(names) != d:
        raise _damaged(path, f"it names {len(names)} features, but has {d}")


def _checksum(matrices: dict[str, FloatArray]) -> str:
    digest = hashlib.sha256()
    for name in sorted(matrices):
        digest.update(np.ascontiguousarray(matrices[name]).data)
    return digest.hexdigest()


def _damaged(path: str | os.PathLike[str], what: str) -> FileError:
    return FileError(
        f"{os.fspath(path)!r} is not a whole metric file ({what}): save the metric again, or "
        "copy the file anew."
    )


def _foreign(path: str | os.PathLike[str], kind: str) -> FileError:
    return FileError(
        f"{os.fspath(path)!r} is {kind}, not a metric: give a file that metric.save or "
        "'calipers fit' wrote."
    )
