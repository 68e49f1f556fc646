"""The folder that keeps what was fetched, and how it notices damage."""

from __future__ import annotations

import hashlib
import os
import sys
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import IO

from calipers.paper.datasets.sources import DatasetError

CACHE_VARIABLE = "CALIPERS_CACHE"
"""Environment variable that names the cache folder."""


def cache_folder() -> Path:
    """Return the folder in ``CALIPERS_CACHE``, else where this platform keeps caches.

    Three lines per platform do not need a library.
    """
    folder = os.environ.get(CACHE_VARIABLE)
    if folder:
        return Path(folder).expanduser()
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        return (Path(local) if local else Path.home() / "AppData" / "Local") / "calipers" / "Cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "calipers"
    shared = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(shared) if shared.startswith("/") else Path.home() / ".cache") / "calipers"


@dataclass(frozen=True)
class Cache:
    """The cache folder as a source: files as they were served, each with its checksum."""

    path: Path

    def path_of(self, file: str) -> Path | None:
        """Return the path of ``file`` if it is here, unchanged since it was fetched.

        Raises
        ------
        DatasetError
            The file has changed.
        """
        candidate = self.path / file
        if not candidate.is_file():
            return None
        noted = noted_checksum(candidate)
        if noted and noted != _checksum_now(candidate, candidate.stat().st_mtime_ns):
            raise DatasetError(
                f"The cached file {str(candidate)!r} has changed since it was downloaded: "
                f"delete it and load the data set again."
            )
        return candidate

    def __str__(self) -> str:
        return str(self.path)


def checksum(stream: IO[bytes]) -> str:
    """Return the sha256 of what is left of a stream, in hexadecimal digits."""
    digest = hashlib.sha256()
    while block := stream.read(1 << 20):
        digest.update(block)
    return digest.hexdigest()


def note_of(path: Path) -> Path:
    """Return the path of the small file that keeps the checksum of ``path``.

    It can be checked by ``sha256sum --check`` too.
    """
    return path.with_name(f"{path.name}.sha256")


def noted_checksum(path: Path) -> str:
    """Return the checksum that was noted for ``path``, empty where none was."""
    try:
        words = note_of(path).read_text(encoding="utf-8").split()
    except FileNotFoundError:
        return ""
    return words[0] if words else ""


@lru_cache(maxsize=64)
def _checksum_now(path: Path, changed: int) -> str:
    """Checksum of a file, once per process and time of change."""
    with path.open("rb") as stream:
        return checksum(stream)
