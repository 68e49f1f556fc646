"""All data sets by name."""

from __future__ import annotations

import os
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path

from calipers.paper.datasets import embedded, paper
from calipers.paper.datasets.paper import Form
from calipers.paper.datasets.remote.cache import Cache, cache_folder
from calipers.paper.datasets.remote.download import Download
from calipers.paper.datasets.remote.homes import names_of
from calipers.paper.datasets.remote.transfer import Report
from calipers.paper.datasets.sources import DatasetError, Source, first_path, sources_for
from calipers.paper.datasets.split import Split, Table, numbered_split

OFFLINE_VARIABLE = "CALIPERS_OFFLINE"
"""Environment variable that forbids downloads when it is set, except to 0."""


def names() -> list[str]:
    """Return every name that `load` knows: the embedded ones, then the paper's.

    Examples
    --------
    >>> names()[:4]
    ['digits', 'iris', 'wine', 'breast_cancer']
    """
    return [*embedded.READERS, *paper.SETS]


def load(
    name: str,
    *,
    data_dir: str | os.PathLike[str] | None = None,
    split: int = 0,
    download: bool | None = None,
    report: Report | None = None,
) -> Split:
    """Load a data set, cut into a training and a test part.

    Files are looked for in ``data_dir``, then in the cache folder (``CALIPERS_CACHE``, by
    default where the platform keeps caches), then at their public homes.

    Parameters
    ----------
    name : str
        One of `names`. Embedded data sets need no file.
    data_dir : path, optional
        Folder with the files of the paper's data sets; by default the folder in the
        environment variable ``CALIPERS_DATA``.
    split : int, default=0
        Number of the 70/30 split, where the data set has no standard one.
    download : bool, optional
        True to download what is not complete here, False never to download; by default
        only what is not here at all is downloaded, so that a partial or simulated file
        will do. ``CALIPERS_OFFLINE=1`` forbids all downloads.
    report : callable, optional
        Called during a download with the name of the file, its bytes so far, and all of
        them or None.

    Returns
    -------
    Split
        Both parts, and a note where something is to be known of them.

    Raises
    ------
    DatasetError
        Unknown name, no such split, or a folder or file that cannot be had or read.

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
    form, paths = _find(name, data_dir=data_dir, download=download, report=report)
    data = form.read(*paths)
    if isinstance(data, Table):
        data = numbered_split(data, split)
    elif split:
        raise DatasetError(
            f"Data set {name!r} has one standard split, number 0, got split={split}."
        )
    return replace(data, note=data.note or form.note)


def require(
    name: str,
    *,
    data_dir: str | os.PathLike[str] | None = None,
    download: bool | None = None,
    report: Report | None = None,
) -> list[Path]:
    """Return the files that `load` would read, without reading them.

    What has to be downloaded is downloaded now, so that it does not interrupt later work.

    Raises
    ------
    DatasetError
        Unknown name, or a folder or file that cannot be had.

    Examples
    --------
    >>> require("digits")
    []
    """
    if name in embedded.READERS:
        return []
    return _find(name, data_dir=data_dir, download=download, report=report)[1]


def has_standard_split(name: str) -> bool:
    """Whether the data set comes with its own training and test part.

    Examples
    --------
    >>> has_standard_split("dna"), has_standard_split("digits")
    (True, False)
    """
    return name in paper.SETS and paper.SETS[name].has_standard_split


def _find(
    name: str,
    *,
    data_dir: str | os.PathLike[str] | None,
    download: bool | None,
    report: Report | None,
) -> tuple[Form, list[Path]]:
    """Return the first form whose files are all here, else the original, downloaded."""
    if name not in paper.SETS:
        raise DatasetError(_unknown(name))
    described, forbidden = paper.SETS[name], _is_offline() or download is False
    cache = cache_folder()
    here: list[Source] = [*sources_for(data_dir), Cache(cache)]
    for form in described.forms:
        if form.complete or forbidden or download is None:
            paths = [first_path(names_of(file), here) for file in form.files]
            found = [path for path in paths if path is not None]
            if len(found) == len(form.files):
                return form, found
    if forbidden:
        raise DatasetError(_missing(name, here))
    homes = Download(cache, report)
    return described.original, [_path(file, here, homes) for file in described.original.files]


def _path(file: str, here: list[Source], homes: Download) -> Path:
    """Path of one file of an original: what is here already is not downloaded again."""
    path = first_path(names_of(file), here) or homes.path_of(file)
    if path is None:
        raise DatasetError(f"{file} has no public home that is known.")
    return path


def _is_offline() -> bool:
    return os.environ.get(OFFLINE_VARIABLE, "0") not in ("", "0")


def _missing(name: str, here: list[Source]) -> str:
    files = " or ".join(" + ".join(form.files) for form in paper.SETS[name].forms)
    places = " or ".join(repr(str(source)) for source in here)
    return (
        f"Data set {name!r} needs {files}, which is not in {places}: put it there, name its "
        "folder with --data-dir (data_dir= in Python) or in the variable CALIPERS_DATA, or "
        f"allow the download, which download=False or {OFFLINE_VARIABLE} forbids."
    )


def _unknown(name: str) -> str:
    near = get_close_matches(name, names(), n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(names())}."
    return f"Unknown data set {name!r}: {hint}"
