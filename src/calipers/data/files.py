"""Files that are complete or absent, and the one exception that files raise."""

from __future__ import annotations

import os
import secrets
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from stat import S_IMODE
from typing import IO

_BLANKS = dict.fromkeys(map(ord, "\u00a0\u2007\u2009\u202f"), " ")

LONGEST_SHOWN = 36
"""Characters of a feature's name beside a bar: with the bar they fit a line of 80."""


class SentenceError(ValueError):
    """An error whose message may quote text from a file or a server; it is escaped."""

    def __init__(self, sentence: str) -> None:
        super().__init__(escaped(sentence))


class FileError(SentenceError):
    """A file cannot be read or written; the message is one sentence that says what to do."""


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a draft beside ``path``; it takes that name once it is complete and on the disk.

    Whatever goes wrong before, also an interrupt, leaves what was at ``path`` as it was and
    no draft behind. The draft has the permissions of the file it replaces, or those of a new file.

    Parameters
    ----------
    path : path-like
        Final name; a link is followed.

    Yields
    ------
    binary file
        The draft, to write to.

    Raises
    ------
    FileError
        The place cannot be written to.
    """
    final = _checked_name(os.fspath(path))
    draft = final.with_name(f".{final.name[:40]}-{secrets.token_hex(8)}.part")
    try:
        with _created(draft, like=final) as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        draft.replace(final)
    except OSError as problem:
        raise FileError(
            f"Cannot write {os.fspath(path)!r} ({reason(problem)}): name another place, or free "
            "this one; what was there before is unchanged."
        ) from problem
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)


def check_writable(path: str | os.PathLike[str]) -> None:
    """Raise `FileError`, before any work is done, if nothing can be written at ``path``."""
    final = _checked_name(os.fspath(path))
    try:
        tempfile.TemporaryFile(dir=final.parent).close()
    except OSError as problem:
        raise FileError(
            f"Cannot write into the folder {str(final.parent)!r} ({reason(problem)}): name "
            "another place."
        ) from problem


def _checked_name(given: str) -> Path:
    """Follow links; refuse what is no name of a file in a folder that exists."""
    try:
        final = Path(os.path.realpath(given))
        is_other = final.exists() and not final.is_file()
    except (OSError, ValueError) as problem:  # too long, or with a zero byte
        raise FileError(
            f"{given!r} is no name for a file ({reason(problem)}): name another place."
        ) from problem
    if is_other:
        raise FileError(f"{given!r} is a folder or a device, not a file: name another place.")
    return final


@contextmanager
def _created(draft: Path, *, like: Path) -> Iterator[IO[bytes]]:
    """Create the draft; at no moment may anyone read it who may not read the final file."""
    mode = S_IMODE(like.stat().st_mode) if like.exists() else None

    def opener(name: str, flags: int) -> int:
        return os.open(name, flags, 0o666 if mode is None else mode)

    with open(draft, "xb", opener=opener) as stream:
        if mode is not None:
            draft.chmod(mode)  # the umask has taken away what the target allows
        yield stream


def needs_package(what: str, package: str, extra: str) -> str:
    """Say that a package is missing, and by which extra of this one it is installed.

    >>> needs_package("Reading a.csv", "pandas", "tables")
    "Reading a.csv needs the package pandas: pip install 'calipers[tables]'."
    """
    return f"{what} needs the package {package}: pip install 'calipers[{extra}]'."


def escaped(text: object) -> str:
    r"""Return text on one line that does nothing to a terminal: controls as ``\x1b``.

    These are all characters that are not printed: escapes, ends of lines, marks that turn the
    direction of writing, halves of characters. Blanks of another width are blanks.

    Examples
    --------
    >>> print(escaped("a\x1b[31m\n\u202eb"), escaped("1\u202f000\xa0€"))
    a\x1b[31m\n\u202eb 1 000 €
    """
    shown = str(text).translate(_BLANKS)
    if shown.isprintable():
        return shown
    return "".join(
        sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in shown
    )


def shortened(name: str) -> str:
    """Return a name of at most `LONGEST_SHOWN` characters, which leaves room for bars beside it.

    The middle is left out, for names often differ at the end.

    >>> shortened("mean absolute deviation of the diameter in mm")
    'mean absolute dev...e diameter in mm'
    """
    n_last = (LONGEST_SHOWN - 3) // 2
    if len(name) <= LONGEST_SHOWN:
        return name
    return f"{name[: LONGEST_SHOWN - 3 - n_last]}...{name[-n_last:]}"


def reason(problem: BaseException) -> str:
    """Return why something failed, in few words and on one line.

    Examples
    --------
    >>> reason(OSError(28, "No space left on device"))
    'No space left on device'
    >>> reason(EOFError())
    'EOFError'
    """
    words = getattr(problem, "strerror", None) or str(problem) or type(problem).__name__
    return " ".join(str(words).split())[:300].rstrip(".")
