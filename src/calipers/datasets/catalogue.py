"""All data sets by name."""

from __future__ import annotations

import os
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path

from calipers.datasets import embedded, paper
from calipers.datasets.sources import DatasetError, locate, sources_for
from calipers.datasets.split import Split, Table, numbered_split


def names() -> list[str]:
    """Return every name that `load` knows: the embedded ones, then the paper's.

    Examples
    --------
    >>> names()[:4]
    ['digits', 'iris', 'wine', 'breast_cancer']
    """
    return [*embedded.READERS, *paper.SETS]


def load(name: str, *, data_dir: str | os.PathLike[str] | None = None, split: int = 0) -> Split:
    """Load a data set, cut into a training and a test part.

    Parameters
    ----------
    name : str
        One of `names`.
    data_dir : path, optional
        Folder with the files of the paper's data sets; by default the folder in the
        environment variable ``CALIPERS_DATA``. Embedded data sets need none.
    split : int, default=0
        Number of the 70/30 split, where the data set has no standard one.

    Returns
    -------
    Split
        Both parts, and a note where the data are not quite what the name promises.

    Raises
    ------
    DatasetError
        Unknown name, no such split, or a folder or file that is not there.

    Examples
    --------
    >>> data = load("digits", split=3)
    >>> data.X_train.shape, data.X_test.shape
    ((1257, 64), (540, 64))
    """
    if split < 0:
        raise DatasetError(f"Splits are numbered from 0, got split={split}.")
    if name in embedded.READERS:
        return numbered_split(embedded.READERS[name](), split)
    paths = require(name, data_dir=data_dir)
    stored = paper.SETS[name]
    data = stored.read(*paths)
    if isinstance(data, Table):
        data = numbered_split(data, split)
    elif split:
        raise DatasetError(
            f"Data set {name!r} has one standard split, number 0, got split={split}."
        )
    return replace(data, note=stored.note)


def require(name: str, *, data_dir: str | os.PathLike[str] | None = None) -> list[Path]:
    """Return the files that `load` would read, without reading them.

    Raises
    ------
    DatasetError
        Unknown name, or a folder or file that is not there.

    Examples
    --------
    >>> require("digits")
    []
    """
    if name in embedded.READERS:
        return []
    if name not in paper.SETS:
        raise DatasetError(_unknown(name))
    sources = sources_for(data_dir)
    return [locate(file, dataset=name, sources=sources) for file in paper.SETS[name].files]


def has_standard_split(name: str) -> bool:
    """Whether the data set comes with its own training and test part.

    Examples
    --------
    >>> has_standard_split("dna"), has_standard_split("digits")
    (True, False)
    """
    return name in paper.SETS and paper.SETS[name].has_standard_split


def _unknown(name: str) -> str:
    near = get_close_matches(name, names(), n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(names())}."
    return f"Unknown data set {name!r}: {hint}"
