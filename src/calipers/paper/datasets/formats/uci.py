"""The texts of the UCI repository: one example a line, its class among the cells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from calipers.arrays import FloatArray, IndexArray
from calipers.paper.datasets.formats.lines import MalformedError, is_number, numbered
from calipers.paper.datasets.split import Table, features, labels

_ALPHABET = tuple("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
_SQUARES = ("b", "o", "x")
_OUTCOMES = ("draw", "loss", "win")


def semeion(text: str) -> Table:
    """Read semeion.data: 256 pixels and ten columns of which one is 1, apart by blanks."""
    cells = _numbers(text, n_columns=266, delimiter=None)
    marks = cells[:, 256:]
    wrong = np.flatnonzero((np.sort(marks, axis=1) != np.eye(10)[-1]).any(axis=1))
    if len(wrong):
        raise _at(text, wrong[0], "one of the last ten values must be 1 and the others 0")
    return Table(features(cells[:, :256]), labels(marks.argmax(axis=1)))


def letter(text: str) -> Table:
    """Read letter-recognition.data: a capital letter and 16 numbers; A is class 0."""
    cells = _cells(text, n_columns=17, delimiter=",")
    codes = _codes(text, cells[:, :1], _ALPHABET)[:, 0]
    return Table(_as_numbers(text, cells[:, 1:]), codes)


def connect4(text: str) -> Table:
    """Read connect-4.data: 42 squares b / o / x as 1 / 2 / 3, and draw / loss / win."""
    cells = _cells(text, n_columns=43, delimiter=",")
    squares = _codes(text, cells[:, :42], _SQUARES) + 1
    return Table(features(squares), _codes(text, cells[:, 42:], _OUTCOMES)[:, 0])


def class_last(text: str, *, n_features: int) -> Table:
    """Read numbers apart by commas, the last of which is the class (isolet, poker)."""
    cells = _numbers(text, n_columns=n_features + 1, delimiter=",")
    return Table(features(cells[:, :-1]), labels(cells[:, -1]))


def _numbers(text: str, *, n_columns: int, delimiter: str | None) -> FloatArray:
    """Read a rectangle of numbers; only a bad one is looked at line by line."""
    lines = _lines(text)
    try:
        cells = np.loadtxt(lines, delimiter=delimiter, comments=None, ndmin=2)
        if cells.shape[1] == n_columns and np.isfinite(cells).all():
            return cells
    except ValueError:
        pass
    _check_width(lines, n_columns, delimiter)
    for number, line in numbered(lines):
        for cell in line.split(delimiter):
            if not is_number(cell):
                raise MalformedError(number, f"{cell.strip()!r} is not a number")
    raise MalformedError(0, "it is not a table of numbers")


def _cells(text: str, *, n_columns: int, delimiter: str) -> npt.NDArray[np.str_]:
    """Read a rectangle of words."""
    lines = _lines(text)
    _check_width(lines, n_columns, delimiter)
    return np.char.strip(np.array([line.split(delimiter) for _, line in numbered(lines)]))


def _lines(text: str) -> list[str]:
    lines = text.splitlines()
    if not any(line.strip() for line in lines):
        raise MalformedError(0, "there are no lines")
    return lines


def _check_width(lines: Sequence[str], n_columns: int, delimiter: str | None) -> None:
    for number, line in numbered(lines):
        n_found = len(line.split(delimiter))
        if n_found != n_columns:
            raise MalformedError(number, f"{n_columns} values are expected, got {n_found}")


def _codes(text: str, cells: npt.NDArray[np.str_], words: tuple[str, ...]) -> IndexArray:
    """Number each cell by its place among the sorted ``words``."""
    codes = np.searchsorted(words, cells).clip(max=len(words) - 1)
    wrong = np.argwhere(np.asarray(words)[codes] != cells)
    if len(wrong):
        row, column = wrong[0]
        allowed = f"{words[0]} to {words[-1]}" if len(words) > 3 else ", ".join(words)
        raise _at(text, row, f"{str(cells[row, column])!r} is not one of {allowed}")
    return labels(codes)


def _as_numbers(text: str, cells: npt.NDArray[np.str_]) -> FloatArray:
    try:
        return features(cells.astype(np.float64))
    except ValueError:
        row, column = next((i, j) for (i, j), cell in np.ndenumerate(cells) if not is_number(cell))
        raise _at(text, row, f"{str(cells[row, column])!r} is not a number") from None


def _at(text: str, row: Any, reason: str) -> MalformedError:
    """Blame the line of the given row; empty lines are no rows."""
    line = [number for number, _ in numbered(text.splitlines())][int(row)]
    return MalformedError(line, reason)
