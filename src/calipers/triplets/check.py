"""Check triplets given by a user before anything is computed from them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from calipers.arrays import IndexArray


def check_triplets(triplets: npt.ArrayLike, n_rows: int) -> IndexArray:
    """Return ``triplets`` as an (n, 3) C-contiguous array of row numbers, or say what is wrong.

    Parameters
    ----------
    triplets : array-like of shape (n, 3)
        Row numbers (anchor, near, far): the anchor should come closer to near than to far.
    n_rows : int
        Rows of the X that they point into.

    Returns
    -------
    triplets : array of shape (n, 3)
        A copy, of the index type.

    Raises
    ------
    TypeError
        If the numbers are not integers.
    ValueError
        If there are none, the shape is wrong, a number is outside 0 .. n_rows - 1, or an
        anchor is its own near or far row.

    Examples
    --------
    >>> check_triplets([[0, 1, 2], [2, 3, 0]], n_rows=4)
    array([[0, 1, 2],
           [2, 3, 0]])
    >>> check_triplets([[0, 1, 4]], n_rows=4)
    Traceback (most recent call last):
        ...
    ValueError: triplets[0] = (0, 1, 4) points past the last row of X (4 rows): ...
    """
    given = _as_array(triplets)
    if given.size == 0:
        raise ValueError(
            "triplets is empty, at least one (anchor, near, far) triplet is needed: "
            "pass an integer array of shape (n_triplets, 3)."
        )
    if given.ndim != 2 or given.shape[1] != 3:
        raise ValueError(
            f"triplets must have shape (n_triplets, 3), one (anchor, near, far) per row, "
            f"got shape {given.shape}: reshape or transpose it."
        )
    if not np.issubdtype(given.dtype, np.integer):
        raise TypeError(
            f"triplets must hold integer row numbers of X, got dtype {given.dtype}: "
            "convert with triplets.astype(int) if the values are whole row numbers."
        )
    _check_range(given, n_rows)
    _check_distinct(given)
    return np.array(given, dtype=np.intp, order="C")


def _as_array(triplets: npt.ArrayLike) -> npt.NDArray[Any]:
    """Return an array of anything that has the same length in every row."""
    try:
        return np.asarray(triplets)
    except ValueError as error:
        raise ValueError(
            "triplets must have shape (n_triplets, 3), got rows of different lengths: "
            "give every triplet exactly three row numbers (anchor, near, far)."
        ) from error


def _check_range(given: npt.NDArray[Any], n_rows: int) -> None:
    """Refuse the first triplet that does not point into X."""
    negative = np.any(given < 0, axis=1)
    if negative.any():
        raise ValueError(
            f"{_name_first(given, negative)} has a negative row number: "
            f"count the rows of X from 0 to {n_rows - 1}."
        )
    past = np.any(given >= n_rows, axis=1)
    if past.any():
        raise ValueError(
            f"{_name_first(given, past)} points past the last row of X ({n_rows} rows): "
            f"use row numbers from 0 to {n_rows - 1}."
        )


def _check_distinct(given: npt.NDArray[Any]) -> None:
    """Refuse the first triplet whose anchor is compared with itself."""
    for column, name in ((1, "near"), (2, "far")):
        equal = given[:, 0] == given[:, column]
        if equal.any():
            raise ValueError(
                f"{_name_first(given, equal)} has its anchor as its {name} row: "
                f"the {name} row must differ from the anchor, drop or replace this triplet."
            )


def _name_first(given: npt.NDArray[Any], wrong: npt.NDArray[np.bool_]) -> str:
    """``triplets[17] = (4, 9, 212)`` for the first wrong row."""
    row = int(np.argmax(wrong))
    return f"triplets[{row}] = ({', '.join(str(value) for value in given[row])})"
