"""Check triplets or pairs given by a user before anything is computed from them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from calipers.arrays import IndexArray, refuse_kinds, refuse_masked

_NUMBER_WORDS = {2: "two", 3: "three"}


def check_triplets(triplets: npt.ArrayLike, n_samples: int) -> IndexArray:
    """Return ``triplets`` as an (n, 3) C-contiguous array of indices, or raise.

    Parameters
    ----------
    triplets : array-like of shape (n, 3)
        Indices (anchor, positive, negative) of samples: the anchor should come closer to the
        positive than to the negative.
    n_samples : int
        The number of samples of X.

    Returns
    -------
    triplets : array of shape (n, 3)
        A copy, of the index type.

    Raises
    ------
    TypeError
        If the indices are not integers.
    ValueError
        If there are none, the shape is wrong, an index is outside 0 .. n_samples - 1, or an
        anchor is its own positive or negative.

    Examples
    --------
    >>> check_triplets([[0, 1, 2], [2, 3, 0]], n_samples=4)
    array([[0, 1, 2],
           [2, 3, 0]])
    >>> check_triplets([[0, 1, 4]], n_samples=4)
    Traceback (most recent call last):
        ...
    ValueError: triplets[0] = (0, 1, 4) points past the last sample of X (4 samples): ...
    """
    given = _indices(triplets, "triplets", ("anchor", "positive", "negative"), n_samples)
    for column, name in ((1, "positive"), (2, "negative")):
        equal = given[:, 0] == given[:, column]
        if equal.any():
            raise ValueError(
                f"{_name_first('triplets', given, equal)} has its anchor as its {name}: "
                f"the {name} must differ from the anchor, drop or replace this triplet."
            )
    return np.array(given, dtype=np.intp, order="C")


def check_pairs(pairs: npt.ArrayLike, y: npt.ArrayLike, n_samples: int) -> IndexArray:
    """Return pairs and their signs as an (n, 3) array of (index, index, sign), or raise.

    Parameters
    ----------
    pairs : array-like of shape (n, 2)
        Indices of samples.
    y : array-like of shape (n,)
        +1 for similar pairs, -1 for dissimilar ones.
    n_samples : int
        The number of samples of X.

    Returns
    -------
    pairs : array of shape (n, 3)
        A copy, of the index type.

    Raises
    ------
    TypeError
        If the indices are not integers.
    ValueError
        If there are none, a shape is wrong, an index is outside 0 .. n_samples - 1, a pair
        holds one sample twice, or y holds anything but +1 and -1.

    Examples
    --------
    >>> check_pairs([[0, 1], [2, 0]], [1, -1], n_samples=3)
    array([[ 0,  1,  1],
           [ 2,  0, -1]])
    >>> check_pairs([[0, 1]], [0], n_samples=3)
    Traceback (most recent call last):
        ...
    ValueError: y[0] = 0 is neither +1 (similar) nor -1 (dissimilar): ...
    """
    given = check_positives(pairs, n_samples)
    refuse_kinds(y, "y")
    signs = np.asarray(y)
    if signs.shape != (len(given),):
        raise ValueError(
            f"y must have shape ({len(given)},), one +1 (similar) or -1 (dissimilar) for each of "
            f"the {len(given)} pairs, got shape {signs.shape}: pass as many as there are pairs."
        )
    wrong = (signs != 1) & (signs != -1)
    if wrong.any():
        place = int(np.argmax(wrong))
        raise ValueError(
            f"y[{place}] = {signs.tolist()[place]!r} is neither +1 (similar) nor -1 (dissimilar): "
            "give every pair one of the two."
        )
    return np.column_stack([given, signs]).astype(np.intp)


def check_positives(pairs: npt.ArrayLike, n_samples: int) -> IndexArray:
    """Return pairs of similar samples as an (n, 2) array, or raise.

    Parameters
    ----------
    pairs : array-like of shape (n, 2)
        Indices of samples.
    n_samples : int
        The number of samples of X.

    Returns
    -------
    pairs : array of shape (n, 2)
        A copy, of the index type.

    Raises
    ------
    TypeError
        If the indices are not integers.
    ValueError
        If there are none, the shape is wrong, an index is outside 0 .. n_samples - 1, or a
        pair holds one sample twice.
    """
    given = _indices(pairs, "pairs", ("one", "other"), n_samples)
    equal = given[:, 0] == given[:, 1]
    if equal.any():
        raise ValueError(
            f"{_name_first('pairs', given, equal)} holds one sample twice: the two samples must "
            "differ, drop or replace this pair."
        )
    return np.array(given, dtype=np.intp, order="C")


def _indices(
    value: npt.ArrayLike, name: str, members: tuple[str, ...], n_samples: int
) -> npt.NDArray[Any]:
    """Return ``value`` as an array of indices of X, one column per member, or raise."""
    refuse_masked(value, name)
    one, whole = name[:-1], f"({', '.join(members)})"
    shape = f"(n_{name}, {len(members)})"
    try:
        given = np.asarray(value)
    except ValueError as error:
        raise ValueError(
            f"{name} must have shape {shape}, got rows of different lengths: "
            f"give every {one} exactly {_NUMBER_WORDS[len(members)]} indices {whole}."
        ) from error
    if given.size == 0:
        raise ValueError(
            f"{name} is empty, at least one {whole} {one} is needed: "
            f"pass an integer array of shape {shape}."
        )
    if given.ndim != 2 or given.shape[1] != len(members):
        raise ValueError(
            f"{name} must have shape {shape}, one {whole} per row, "
            f"got shape {given.shape}: reshape or transpose it."
        )
    if given.dtype.kind not in "iu":
        raise TypeError(
            f"{name} must hold integer indices of samples of X, got dtype {given.dtype}: "
            f"convert with {name}.astype(int) if the values are whole numbers."
        )
    _check_range(name, given, n_samples)
    return given


def _check_range(name: str, given: npt.NDArray[Any], n_samples: int) -> None:
    """Raise for the first tuple with an index that is not one of X."""
    negative = np.any(given < 0, axis=1)
    if negative.any():
        raise ValueError(
            f"{_name_first(name, given, negative)} has a negative index: "
            f"count the samples of X from 0 to {n_samples - 1}."
        )
    past = np.any(given >= n_samples, axis=1)
    if past.any():
        raise ValueError(
            f"{_name_first(name, given, past)} points past the last sample of X "
            f"({n_samples} samples): use indices from 0 to {n_samples - 1}."
        )


def _name_first(name: str, given: npt.NDArray[Any], wrong: npt.NDArray[np.bool_]) -> str:
    """Return ``triplets[17] = (4, 9, 212)`` for the first wrong tuple."""
    place = int(np.argmax(wrong))
    return f"{name}[{place}] = ({', '.join(str(value) for value in given[place])})"
