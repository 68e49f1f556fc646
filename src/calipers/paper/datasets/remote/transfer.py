"""Bytes from an address to a file, going on where it was cut.

Python's own HTTP client does all of it in a hundred lines; of the libraries for this task
pooch checks and keeps files but starts anew after a cut, and one more dependency is not
worth a bar.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from typing import TypeAlias

Report: TypeAlias = Callable[[str, int, int | None], None]
"""Called with the name of a file, its bytes so far, and all of them where that is known."""

TIMEOUT = 30.0
"""Seconds of silence after which a server is given up."""

_MOST_CUTS = 10
_PIECE = 1 << 16
_LEAST = 1 << 10  # bytes within the time limit; less is silence too


class TransferError(Exception):
    """An address did not give the whole file; the text is the reason in a few words."""


class _CutError(TransferError):
    """The connection ended early; what came is kept and the rest can be requested."""


@dataclass(frozen=True)
class _Tag:
    """What tells one version of a file from the next: the address and the server's mark."""

    url: str
    mark: str

    @classmethod
    def of(cls, part: Path) -> _Tag | None:
        """Read the tag of a partial file."""
        try:
            url, mark = _tag_path(part).read_text(encoding="utf-8").splitlines()
        except (OSError, ValueError):
            return None
        return cls(url, mark)

    def write(self, part: Path) -> None:
        """Keep the tag beside the partial file."""
        write_note(_tag_path(part), f"{self.url}\n{self.mark}")


@dataclass(frozen=True)
class Limits:
    """What an answer may be.

    Attributes
    ----------
    most_bytes : int
        Bytes that the file may have.
    needs_length : bool
        Whether the server must say how long the file is, for half a file is not noticed else.
    timeout : float
        Seconds of silence after which the server is given up.
    """

    most_bytes: int
    needs_length: bool = False
    timeout: float = TIMEOUT


def _own(name: str, flags: int) -> int:
    """Open a file that no link leads elsewhere."""
    return os.open(name, flags | getattr(os, "O_NOFOLLOW", 0), 0o666)


def write_note(path: Path, text: str) -> None:
    """Write a small file beside another; a link of that name is not followed."""
    with open(path, "w", encoding="utf-8", opener=_own) as stream:
        stream.write(text)


def _tag_path(part: Path) -> Path:
    return part.with_name(f"{part.name}.tag")


def _size(part: Path) -> int:
    return part.stat().st_size if part.exists() else 0


def discard(part: Path) -> None:
    """Remove a partial file and its tag."""
    part.unlink(missing_ok=True)
    _tag_path(part).unlink(missing_ok=True)


def fetch(url: str, part: Path, limits: Limits, *, name: str, report: Report | None = None) -> None:
    """Fetch an address into ``part``, from where an earlier attempt was cut.

    A connection that is cut is opened again, as long as each brings something new.

    Raises
    ------
    TransferError
        No network, no such file, or silence; what came stays for the next time. Or more than
        the file can have; then nothing stays.
    """
    reached = _size(part)
    for _ in range(_MOST_CUTS):
        try:
            _attempt(url, part, limits, name=name, report=report)
        except _CutError:
            if _size(part) < reached + _LEAST:
                raise
            reached = _size(part)
        else:
            _tag_path(part).unlink(missing_ok=True)
            return
    raise TransferError(f"the connection was cut {_MOST_CUTS} times")


def _attempt(url: str, part: Path, limits: Limits, *, name: str, report: Report | None) -> None:
    """Open one connection and write what it brings."""
    tag = _Tag.of(part)
    start = _size(part) if tag and tag.url == url and tag.mark else 0
    with _response(url, start, tag.mark if tag else "", limits.timeout) as response:
        start, total = _announced(response, start)
        if total is None and limits.needs_length:
            raise TransferError("the server does not say how long the file is")
        _Tag(url, _mark(response)).write(part)
        with open(part, "ab" if start else "wb", opener=_own) as out:
            done = start
            for piece in _pieces(response, limits.timeout):
                done += len(piece)
                if max(done, total or 0) > limits.most_bytes:
                    discard(part)
                    raise TransferError(f"it has more than {limits.most_bytes:,} bytes")
                out.write(piece)
                if report is not None:
                    report(name, done, total)
    if total is not None and done < total:
        raise _CutError(f"the connection was cut after {done:,} of {total:,} bytes")


def _announced(response: HTTPResponse, start: int) -> tuple[int, int | None]:
    """Return where the answer begins, and how long the file is if the server says so."""
    if response.status == 206:
        said = response.headers.get("Content-Range", "")
        if not start or not said.startswith(f"bytes {start}-"):
            raise TransferError(f"a part of the file came that was not requested ({said[:40]})")
    elif response.status == 200:  # the server sends it whole: new version, or no ranges
        start = 0
    else:
        raise TransferError(f"HTTP {response.status} is no answer with a file")
    length = response.headers.get("Content-Length", "")
    return start, start + int(length) if length.isdecimal() else None


@contextmanager
def _response(url: str, start: int, mark: str, timeout: float) -> Iterator[HTTPResponse]:
    """Ask for the bytes from ``start`` on, if the file is still the marked version."""
    from urllib.error import HTTPError
    from urllib.request import Request, urlopen

    headers = {"User-Agent": "calipers"}
    if start:
        headers |= {"Range": f"bytes={start}-", "If-Range": mark}
    try:
        response = urlopen(Request(url, headers=headers), timeout=timeout)
    except HTTPError as refused:
        refused.close()
        if refused.code == 416 and start:  # nothing is left of it: begin anew
            with _response(url, 0, "", timeout) as response:
                yield response
            return
        raise TransferError(f"HTTP {refused.code} {refused.reason}") from refused
    except (OSError, HTTPException, ValueError) as failure:
        raise TransferError(_reason(failure, timeout)) from failure
    with response:
        yield response


def _mark(response: HTTPResponse) -> str:
    """The server's mark of this version; a weak one may not be used to go on."""
    entity = response.headers.get("ETag", "")
    return entity if entity.startswith('"') else response.headers.get("Last-Modified", "")


def _pieces(response: HTTPResponse, timeout: float) -> Iterator[bytes]:
    """Yield what arrives until the end; give up on silence and on a mere trickle."""
    began, received = time.monotonic(), 0
    while True:
        try:
            piece = response.read1(_PIECE)
        except (OSError, HTTPException) as failure:
            raise _CutError(_reason(failure, timeout)) from failure
        if not piece:
            return
        received += len(piece)
        yield piece
        if time.monotonic() - began > timeout:
            if received < _LEAST:
                raise _CutError(f"fewer than {_LEAST:,} bytes came within {timeout:g} s")
            began, received = time.monotonic(), 0


def _reason(failure: BaseException, timeout: float) -> str:
    """Say why in a few words."""
    cause = getattr(failure, "reason", failure)
    if isinstance(cause, TimeoutError):
        return f"no answer within {timeout:g} s"
    return getattr(cause, "strerror", None) or str(cause) or type(cause).__name__
