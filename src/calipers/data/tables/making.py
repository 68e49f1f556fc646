"""A column made of texts, a block of cells at a time."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt

from calipers.data.tables.numbers import (
    as_number,
    bare_number,
    is_code,
    is_plain,
    number_and_unit,
    reading,
)
from calipers.data.tables.options import MISSING_IN, Role
from calipers.data.tables.sheets import as_vectors
from calipers.data.tables.table import Column

MOST_DISTINCT = 10_000
"""Different texts of a column that are kept; beyond, only if each is there twice on average."""

_CODE_LINE = re.compile("\n[ \t]*0[0-9]+[ \t]*\n")  # see `is_code`


class ColumnMaker:
    """Makes a column of blocks of cells: numbers or vectors if all cells are, else texts."""

    def __init__(self, name: str, decimal: str, role: Role, *, is_text: bool) -> None:
        self.name, self.decimal = name, decimal
        self.is_exact, self.missing = role != "feature", MISSING_IN[role]
        self.text = "text" if is_text or self.is_exact else ""
        self.numbers: list[npt.NDArray[np.float64]] = []
        self.texts: list[str | None] | None = []  # None: too many different ones to keep
        self.distinct: dict[str, str] = {}
        self.any_number = self.has_lost_texts = False
        self._reading = ""

    def add(self, cells: Sequence[str], n_before: int) -> None:
        """Take the cells of a block, with so many rows before it."""
        if not self.text:
            self._add_numbers(cells, n_before)
        if self.text:
            self._add_texts(cells)

    def _add_numbers(self, cells: Sequence[str], n_before: int) -> None:
        joined = "\n".join(["", *cells, ""])
        if _CODE_LINE.search(joined):
            code = next(filter(is_code, cells))
            self.text = f"the code {code[:30]!r} in row {n_before + cells.index(code) + 1}"
            return
        is_plain_block = self.decimal == "." and is_plain(joined)
        try:
            numbers = np.array(cells if is_plain_block else ["?"], dtype=np.float64)
        except ValueError:
            vectors = _vectors(cells)
            numbers = self._one_by_one(cells, n_before) if vectors is None else vectors
        if self.numbers and numbers.shape[1:] != self.numbers[0].shape[1:]:
            self.text, numbers = "lists of different lengths", np.empty(0)
        self.any_number |= not np.isnan(numbers).all()
        self.numbers.append(numbers)

    def _add_texts(self, cells: Sequence[str]) -> None:
        if self.numbers:  # texts of earlier blocks are gone
            self.has_lost_texts = self.any_number or self.has_lost_texts
            self.texts = [None] * sum(map(len, self.numbers))
            self.numbers.clear()
        if self.texts is None:
            return
        for cell in map(str.strip, cells):
            known = None if cell.lower() in self.missing else self.distinct.setdefault(cell, cell)
            self.texts.append(known)
        is_full = len(self.distinct) > max(MOST_DISTINCT, len(self.texts) // 2)
        if is_full and not self.is_exact and not self._is_mostly_numbers():
            self.texts = None
            self.distinct.clear()

    def _is_mostly_numbers(self) -> bool:
        some = list(islice(self.distinct, MOST_DISTINCT))
        numbers = (as_number(number_and_unit(text)[0], self.decimal) for text in some)
        return 2 * sum(number is not None for number in numbers) > len(some)

    @property
    def reading(self) -> str:
        """How a text of a column of numbers is read that may be no number."""
        return "" if self.text else self._reading

    def column(self) -> Column:
        """Return the column that has come of it."""
        if self.text:
            kept = np.array([] if self.texts is None else self.texts, dtype=object)
            return Column(self.name, kept, self.text)
        return Column(self.name, np.concatenate(self.numbers))

    def _one_by_one(self, cells: Sequence[str], n_before: int) -> npt.NDArray[np.float64]:
        numbers = np.full(len(cells), np.nan)
        for i, cell in enumerate(cells):
            if cell.strip().lower() in self.missing:
                continue
            number = bare_number(cell, self.decimal)
            if number is None:
                self.text = f"{cell[:30]!r} in row {n_before + i + 1}"
                return np.empty(0)
            numbers[i] = number
            self._reading = self._reading or reading(cell, number)
        return numbers


def _vectors(texts: Sequence[str]) -> npt.NDArray[np.float64] | None:
    """Return texts such as "[0.5, 1]", or "[0.5 1.]" by NumPy, as a matrix; None for others."""
    if not texts[0].lstrip().startswith("["):
        return None
    try:
        return as_vectors([_vector(text) for text in texts])
    except (ValueError, RecursionError):
        return None


def _vector(text: str) -> Any:
    if "," in text:
        return json.loads(text)
    return [float(word) for word in text.strip().removeprefix("[").removesuffix("]").split()]
