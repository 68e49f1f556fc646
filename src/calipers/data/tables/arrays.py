"""NPY and NPZ: arrays without pickles; an NPY is mapped, not read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from calipers.data.files import FileError
from calipers.data.files.errors import reason
from calipers.data.tables.options import ReadOptions
from calipers.data.tables.packed import check_growth
from calipers.data.tables.table import Table
from calipers.data.tables.text import read_text


def read_npy(path: Path, *, label: str | None = None) -> Table:
    """Map the matrix in an NPY file; ``label`` may name a file of labels."""
    matrix = _checked_matrix(path, load_npy(path), "the array")
    labels = None if label is None else _labels_in(label, len(matrix))
    if labels is not None:
        labels = _checked_labels(str(label), labels, matrix)
    return Table(str(path), named=False, matrix=matrix, labels=labels)


def _labels_in(label: str, n_rows: int) -> npt.NDArray[Any] | None:
    """Read labels from an array or a text, one per line; None if ``label`` names no such file.

    Of several columns it is the one whose values repeat, for IDs do not.
    """
    file = Path(label)
    if file.suffix.lower() == ".npy":
        return load_npy(file)
    if file.suffix.lower() not in (".csv", ".tsv", ".txt") or not file.is_file():
        return None
    columns = read_text(file, ReadOptions(header=False, all_labels=True)).columns
    cells = [column.values for column in columns]
    repeated = [values for values in cells if len({*values.tolist()}) < len(values)]
    if len(repeated) != 1:
        raise FileError(
            f"{file} has {len(repeated)} columns of labels, which repeat: give a file with one."
        )
    is_named = len(repeated[0]) == n_rows + 1
    return repeated[0][is_named:]


def read_npz(path: Path, *, label: str | None = None) -> Table:
    """Read the arrays X and y (or the only matrix, and the only labels or those of that name)."""
    try:
        with path.open("rb") as stream:
            archive = np.load(stream, allow_pickle=False)
            check_growth(path, sum(part.file_size for part in archive.zip.infolist()))
            arrays = {name: archive[name] for name in archive.files}
    except FileError:
        raise
    except Exception as wrong:  # whatever the parsers of headers and archives raise
        raise _broken(path, wrong) from wrong
    name = _name_of_matrix(path, arrays)
    matrix = _checked_matrix(path, arrays[name], name)
    if label is None:
        beside = [other for other in arrays if arrays[other].shape == (len(matrix),)]
        label = beside[0] if len(beside) == 1 else "y"
    if label not in arrays:
        return Table(str(path), named=False, matrix=matrix)
    labels = _checked_labels(f"{path}[{label}]", arrays[label], matrix)
    return Table(str(path), named=False, matrix=matrix, labels=labels)


def load_npy(path: Path) -> npt.NDArray[Any]:
    """Map the array in an NPY file, whatever its shape and type."""
    try:
        loaded = np.load(path, mmap_mode="r", allow_pickle=False)
    except Exception as wrong:  # whatever the parsers of headers and archives raise
        raise _broken(path, wrong) from wrong
    if not isinstance(loaded, np.ndarray):
        loaded.close()
        raise FileError(f"{path} is an NPZ archive: rename it to .npz.")
    return loaded


def _broken(path: Path, wrong: BaseException) -> FileError:
    told = reason(wrong)
    advice = "give arrays of numbers as np.save or np.savez write them"
    if "Object arrays" in told or "Python objects" in told:
        told, advice = "it holds Python objects", "save texts by array.astype(str)"
    elif isinstance(wrong, OSError):
        advice = "check its name"
    elif "pickle" in told:  # numpy goes on to say how to run what may be in there
        told = "it holds something else than numbers"
    return FileError(f"Cannot read {str(path)!r} ({told}): {advice}.")


def _name_of_matrix(path: Path, arrays: dict[str, npt.NDArray[Any]]) -> str:
    if "X" in arrays:
        return "X"
    matrices = [name for name, array in arrays.items() if array.ndim == 2]
    if len(matrices) == 1:
        return matrices[0]
    raise FileError(
        f"{path} has no array 'X', only {', '.join(arrays) or 'nothing'}: save it with "
        "np.savez(path, X=X, y=y)."
    )


def _checked_matrix(path: Path, array: npt.NDArray[Any], name: str) -> npt.NDArray[Any]:
    if array.ndim != 2 or array.dtype.kind not in "biuf" or 0 in array.shape:
        raise FileError(
            f"{path} has {name} of shape {array.shape} and type {array.dtype}: give numbers in "
            "rows and columns, at least one of each."
        )
    is_kept = isinstance(array, np.memmap) or array.dtype.kind != "f"  # whole numbers as labels
    return array if is_kept or array.dtype.itemsize in (4, 8) else array.astype(np.float64)


def _checked_labels(
    source: str, labels: npt.NDArray[Any], matrix: npt.NDArray[Any]
) -> npt.NDArray[Any]:
    if labels.shape != (len(matrix),) or labels.dtype.kind not in "biufUO":
        raise FileError(
            f"{source} has labels of shape {labels.shape} and type {labels.dtype}: give one "
            f"number or text for each of the {len(matrix)} rows."
        )
    return labels
