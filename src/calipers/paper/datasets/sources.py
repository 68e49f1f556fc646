"""Where the files of a data set come from.

A source answers one question: the path of a file of that name, or None. A folder of the
user's is one; the cache and the download in `remote` are the others.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from calipers.data.files.errors import SentenceError

FOLDER_VARIABLE = "CALIPERS_DATA"
"""Environment variable that names the data folder when no argument does."""


class DatasetError(SentenceError):
    """The catalogue cannot serve what was requested; the message says what to do."""


class Source(Protocol):
    """A place that may have a file."""

    def path_of(self, file: str) -> Path | None:
        """Return the path of ``file``, or None where this source does not have it."""


@dataclass(frozen=True)
class Folder:
    """A folder of the user's that holds the files under their own names."""

    path: Path

    def path_of(self, file: str) -> Path | None:
        """Return the path of ``file`` in the folder, or None."""
        candidate = self.path / file
        return candidate if candidate.is_file() else None

    def __str__(self) -> str:
        return str(self.path)


def sources_for(data_dir: str | os.PathLike[str] | None) -> list[Source]:
    """Return the user's folder as a source: the given one, else the one in the environment.

    Examples
    --------
    >>> [str(source) for source in sources_for("my-data")]
    Traceback (most recent call last):
    calipers.paper.datasets.sources.DatasetError: The data folder 'my-data' does not exist.
    """
    given = data_dir if data_dir is not None else os.environ.get(FOLDER_VARIABLE)
    if not given:
        return []
    folder = Path(given).expanduser()
    if not folder.is_dir():
        raise DatasetError(f"The data folder {str(folder)!r} does not exist.")
    return [Folder(folder)]


def first_path(names: Sequence[str], sources: Sequence[Source]) -> Path | None:
    """Return the path of the first of ``names`` in the first source that has any, or None."""
    for source in sources:
        for name in names:
            path = source.path_of(name)
            if path is not None:
                return path
    return None
