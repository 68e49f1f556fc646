"""The one exception that files raise, and how text from elsewhere is shown."""

from __future__ import annotations

_BLANKS = dict.fromkeys(map(ord, "\u00a0\u2007\u2009\u202f"), " ")

LONGEST_SHOWN = 36
"""Characters of a feature's name beside a bar: with the bar they fit a line of 80."""


class SentenceError(ValueError):
    """An error whose message may quote text from a file or a server; it is escaped."""

    def __init__(self, sentence: str) -> None:
        super().__init__(escaped(sentence))


class FileError(SentenceError):
    """A file cannot be read or written; the message is one sentence that says what to do."""


def needs_package(what: str, package: str, install: str | None = None) -> str:
    """Say that a package is missing, and how to install it: ``install``, or the package itself.

    The command names no extra of this package, for those exist only where it was released.

    >>> needs_package("to_onnx", "onnx")
    'to_onnx needs the package onnx: pip install onnx.'
    """
    return f"{what} needs the package {package}: pip install {install or package}."


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
