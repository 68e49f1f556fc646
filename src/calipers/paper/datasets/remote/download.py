"""The source that fetches files from their public homes into the cache."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from calipers.paper.datasets.formats.unpack import opened
from calipers.paper.datasets.remote.cache import checksum, note_of, noted_checksum
from calipers.paper.datasets.remote.homes import HOMES, Home, served_name
from calipers.paper.datasets.remote.lock import exclusive
from calipers.paper.datasets.remote.transfer import (
    TIMEOUT,
    Limits,
    Report,
    TransferError,
    discard,
    fetch,
    write_note,
)
from calipers.paper.datasets.sources import DatasetError


@dataclass(frozen=True)
class Download:
    """Fetches a file from the first of its homes that has it whole.

    A file appears in the cache under its name only when it is whole and checked. Until
    then it is ``<name>.part``, from which a later attempt goes on.

    Attributes
    ----------
    cache : Path
        Folder for what is fetched; made when needed.
    report : callable, optional
        Called with the name of the file, its bytes so far, and all of them or None.
    timeout : float
        Seconds of silence after which a server is given up.
    homes : mapping
        Where files are published.
    """

    cache: Path
    report: Report | None = None
    timeout: float = TIMEOUT
    homes: Mapping[str, Home] = field(default_factory=lambda: HOMES)

    def path_of(self, file: str) -> Path | None:
        """Fetch ``file`` and return its path, or None where it has no home.

        Raises
        ------
        DatasetError
            No address gave the file, it is not the expected one, or the cache cannot be
            written.
        """
        home = self.homes.get(file)
        if home is None:
            return None
        failures = []
        for url in home.urls:
            try:
                return self._fetched(home, url)
            except TransferError as failure:
                failures.append(f"{url} ({failure})")
            except OSError as refused:
                raise DatasetError(
                    f"The cache folder {str(self.cache)!r} cannot be written "
                    f"({refused.strerror or refused}): name another one in the variable "
                    "CALIPERS_CACHE."
                ) from refused
        raise DatasetError(
            f"{file} could not be downloaded from {' or '.join(failures)}: try again with a "
            f"network, or put the file into {str(self.cache)!r} yourself."
        )

    def __str__(self) -> str:
        return "the public homes"

    def _fetched(self, home: Home, url: str) -> Path:
        """Fetch one address, or wait for another process that is fetching it."""
        final = self.cache / served_name(url)
        self.cache.mkdir(parents=True, exist_ok=True)
        with exclusive(final.with_name(f"{final.name}.lock")):
            if not final.is_file():
                part = final.with_name(f"{final.name}.part")
                limits = Limits(home.most_bytes, needs_length=not home.sha256, timeout=self.timeout)
                fetch(url, part, limits, name=final.name, report=self.report)
                self._check(home, part, final)
                part.replace(final)
        return final

    def _check(self, home: Home, part: Path, final: Path) -> None:
        """Refuse what is not the expected file; note the checksum of what is served."""
        try:
            with opened(part, home.file, served=final.name) as stream:
                _refuse_web_page(stream.read(100))
            with opened(part, home.file, served=final.name) as stream:
                found = checksum(stream)
        except DatasetError as broken:
            discard(part)
            raise TransferError(f"what came is damaged: {broken.__cause__}") from broken
        except TransferError:
            discard(part)
            raise
        if home.sha256 and found != home.sha256:
            discard(part)
            raise TransferError(f"sha256 is {found[:12]}... where {home.sha256[:12]}... is known")
        with part.open("rb") as stream:
            served = checksum(stream)
        noted = noted_checksum(final)
        if noted and noted != served:
            discard(part)
            raise TransferError(
                f"it is not the file that was downloaded first; delete {str(note_of(final))!r} "
                "to accept it"
            )
        write_note(note_of(final), f"{served}  {final.name}\n")


def _refuse_web_page(head: bytes) -> None:
    """Refuse the page that some networks give in place of anything else."""
    if head.lstrip().lower().startswith((b"<!doctype", b"<html")):
        raise TransferError("a web page came instead of the file")
