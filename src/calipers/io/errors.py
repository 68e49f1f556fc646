"""The one exception that files raise."""

from __future__ import annotations


class FileError(ValueError):
    """A file cannot be read or written; the message is one sentence that says what to do."""


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
