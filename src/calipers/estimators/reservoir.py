"""A bounded sample of the rows of a stream, class by class."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from calipers.arrays import IndexArray

ROWS_PER_CLASS = 200


class Reservoir:
    """Up to so many rows of each class, each row of the stream with the same chance.

    Vitter's algorithm R for each class: of the t-th row of a class, when its place is
    drawn among t, takes that place if there is one.

    Parameters
    ----------
    n_features : int
        Length of a row.
    rng : Generator
        Draws the places.
    size : int
        Rows kept of each class.
    """

    def __init__(
        self, n_features: int, rng: np.random.Generator, size: int = ROWS_PER_CLASS
    ) -> None:
        self.rng, self.size = rng, size
        self.codes: dict[Any, int] = {}  # of a label
        self.kept: list[list[npt.NDArray[Any]]] = []  # rows of each class
        self.seen: list[int] = []
        self._none = np.empty((0, n_features))

    def encode(self, y: npt.NDArray[Any]) -> IndexArray:
        """Codes of labels, in the order in which classes were met first."""
        classes, places = np.unique(y, return_inverse=True)
        for label in classes.tolist():
            if label not in self.codes:
                self.codes[label] = len(self.codes)
                self.kept.append([])
                self.seen.append(0)
        known = np.array([self.codes[label] for label in classes.tolist()], dtype=np.intp)
        return np.asarray(known[places])

    def rows(self) -> tuple[npt.NDArray[Any], IndexArray]:
        """The rows that are kept, and their codes."""
        rows = [row for kept in self.kept for row in kept]
        sizes = [len(kept) for kept in self.kept]
        stacked = np.stack(rows) if rows else self._none
        return stacked, np.repeat(np.arange(len(sizes)), sizes)

    def add(self, X: npt.NDArray[Any], codes: IndexArray) -> None:
        """Let rows of the stream pass."""
        for row, code in zip(X, codes.tolist(), strict=True):
            self.seen[code] += 1
            kept = self.kept[code]
            if len(kept) < self.size:
                kept.append(row.copy())
                continue
            place = int(self.rng.integers(self.seen[code]))
            if place < self.size:
                kept[place] = row.copy()
