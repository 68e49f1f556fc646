"""Check triplets or pairs given by a user before anything is computed from them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from calipers.arrays import IndexArray

_COUNTS = {2: "two", 3: "three"}


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
    given = _row_numbers(triplets, "triplets", ("anchor", "near", "far"), n_rows)
    for column, name in ((1, "near"), (2, "far")):
        equal = given[:, 0] == given[:, column]
        if equal.any():
            raise ValueError(
                f"{_name_first('triplets', given, equal)} has its anchor as its {name} row: "
                f"the {name} row must differ from the anchor, drop or replace this triplet."
            )
    return np.array(given, dtype=np.intp, order="C")


def check_pairs(pairs: npt.ArrayLike, y: npt.ArrayLike, n_rows: int) -> IndexArray:
    """Return pairs and their signs as an (n, 3) array of (a, b, sign), or say what is wrong.

    Parameters
    ----------
    pairs : array-like of shape (n, 2)
        Row numbers.
    y : array-like of shape (n,)
        +1 for pairs that should be near, -1 for pairs that should be far.
    n_rows : int
        Rows of the X that they point into.

    Returns
    -------
    pairs : array of shape (n, 3)
        A copy, of the index type.

    Raises
    ------
    TypeError
        If the row numbers are not integers.
    ValueError
        If there are none, a shape is wrong, a number is outside 0 .. n_rows - 1, a pair is
        of one row, or y holds anything but +1 and -1.

    Examples
    --------
    >>> check_pairs([[0, 1], [2, 0]], [1, -1], n_rows=3)
    array([[ 0,  1,  1],
           [ 2,  0, -1]])
    >>> check_pairs([[0, 1]], [0], n_rows=3)
    Traceback (most recent call last):
        ...
    ValueError: y[0] = 0 is neither +1 (near) nor -1 (far): ...
    """
    given = check_positives(pairs, n_rows)
    signs = np.asarray(y)
    if signs.shape != (len(given),):
        raise ValueError(
            f"y must have shape ({len(given)},), one +1 (near) or -1 (far) for each of the "
            f"{len(given)} pairs, got shape {signs.shape}: pass as many as there are pairs."
        )
    wrong = (signs != 1) & (signs != -1)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise ValueError(
            f"y[{row}] = {signs.tolist()[row]!r} is neither +1 (near) nor -1 (far): give every "
            "pair one of the two."
        )
    return np.column_stack([given, signs]).astype(np.intp)


def check_positives(pairs: npt.ArrayLike, n_rows: int) -> IndexArray:
    """Return pairs of rows that should be near as an (n, 2) array, or say what is wrong.

    Parameters
    ----------
    pairs : array-like of shape (n, 2)
        Row numbers.
    n_rows : int
        Rows of the X that they point into.

    Returns
    -------
    pairs : array of shape (n, 2)
        A copy, of the index type.

    Raises
    ------
    TypeError
        If the row numbers are not integers.
    ValueError
        If there are none, the shape is wrong, a number is outside 0 .. n_rows - 1, or a
        pair is of one row.
    """
    given = _row_numbers(pairs, "pairs", ("one", "other"), n_rows)
    equal = given[:, 0] == given[:, 1]
    if equal.any():
        raise ValueError(
            f"{_name_first('pairs', given, equal)} is a row and itself: the two rows must differ, "
            "drop or replace this pair."
        )
    return np.array(given, dtype=np.intp, order="C")


def _row_numbers(
    value: npt.ArrayLike, name: str, columns: tuple[str, ...], n_rows: int
) -> npt.NDArray[Any]:
    """An array of anything that is a table of row numbers of X."""
    one, whole = name[:-1], f"({', '.join(columns)})"
    shape = f"(n_{name}, {len(columns)})"
    try:
        given = np.asarray(value)
    except ValueError as error:
        raise ValueError(
            f"{name} must have shape {shape}, got rows of different lengths: "
            f"give every {one} exactly {_COUNTS[len(columns)]} row numbers {whole}."
        ) from error
    if given.size == 0:
        raise ValueError(
            f"{name} is empty, at least one {whole} {one} is needed: "
            f"pass an integer array of shape {shape}."
        )
    if given.ndim != 2 or given.shape[1] != len(columns):
        raise ValueError(
            f"{name} must have shape {shape}, one {whole} per row, "
            f"got shape {given.shape}: reshape or transpose it."
        )
    if not np.issubdtype(given.dtype, np.integer):
        raise TypeError(
            f"{name} must hold integer row numbers of X, got dtype {given.dtype}: "
            f"convert with {name}.astype(int) if the values are whole row numbers."
        )
    _check_range(name, given, n_rows)
    return given


def _check_range(name: str, given: npt.NDArray[Any], n_rows: int) -> None:
    """Refuse the first row that does not point into X."""
    negative = np.any(given < 0, axis=1)
    if negative.any():
        raise ValueError(
            f"{_name_first(name, given, negative)} has a negative row number: "
            f"count the rows of X from 0 to {n_rows - 1}."
        )
    past = np.any(given >= n_rows, axis=1)
    if past.any():
        raise ValueError(
            f"{_name_first(name, given, past)} points past the last row of X ({n_rows} rows): "
            f"use row numbers from 0 to {n_rows - 1}."
        )


def _name_first(name: str, given: npt.NDArray[Any], wrong: npt.NDArray[np.bool_]) -> str:
    """``triplets[17] = (4, 9, 212)`` for the first wrong row."""
    row = int(np.argmax(wrong))
    return f"{name}[{row}] = ({', '.join(str(value) for value in given[row])})"
