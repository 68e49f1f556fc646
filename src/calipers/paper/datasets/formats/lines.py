"""Where in a text something is wrong."""

from __future__ import annotations

from collections.abc import Iterable, Iterator


class MalformedError(ValueError):
    """A line of a data file is not what its format promises.

    Attributes
    ----------
    line : int
        Number of the line, from 1; 0 where no single line is at fault.
    reason : str
        What is wrong with it.
    """

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(f"line {line}: {reason}")
        self.line = line
        self.reason = reason


def numbered(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Yield the lines that are not empty with their numbers, from 1.

    Examples
    --------
    >>> list(numbered(["a", " ", "b"]))
    [(1, 'a'), (3, 'b')]
    """
    return ((number, line) for number, line in enumerate(lines, 1) if line.strip())


def is_number(cell: str) -> bool:
    """Whether ``cell`` is a finite number.

    Examples
    --------
    >>> [is_number(cell) for cell in ("1.", "nan", "x")]
    [True, False, False]
    """
    try:
        return abs(float(cell)) < float("inf")
    except ValueError:
        return False
