"""Triplets given by a user: what is accepted, and the full text of every refusal."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from calipers.data.triplets import check_triplets


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.uint64, np.int64])
def test_any_integer_type_becomes_contiguous_indices(dtype: type) -> None:
    given: npt.NDArray[Any] = np.asfortranarray(np.array([[0, 1, 2], [3, 2, 0]], dtype=dtype))
    checked = check_triplets(given, n_samples=4)
    assert checked.dtype == np.intp
    assert checked.flags.c_contiguous
    assert checked.tolist() == given.tolist()


def test_lists_are_accepted_and_arrays_are_copied() -> None:
    assert check_triplets([(0, 1, 2)], n_samples=3).tolist() == [[0, 1, 2]]
    given = np.array([[0, 1, 2]])
    check_triplets(given, n_samples=3)[0, 0] = 9
    assert given[0, 0] == 0


def test_triplets_may_repeat_and_contradict_each_other() -> None:
    assert len(check_triplets([[0, 1, 2], [0, 1, 2], [0, 2, 1]], n_samples=3)) == 3


FIRST_BAD = np.tile([[4, 9, 12]], (30, 1))
FIRST_BAD[17] = [4, 9, 212]

REFUSALS: list[tuple[Any, type[Exception], str]] = [
    (
        FIRST_BAD,
        ValueError,
        "triplets[17] = (4, 9, 212) points past the last sample of X (200 samples): "
        "use indices from 0 to 199.",
    ),
    (
        [[0, 1, 2], [0, -1, 2]],
        ValueError,
        "triplets[1] = (0, -1, 2) has a negative index: count the samples of X from 0 to 199.",
    ),
    (
        [[5, 5, 2]],
        ValueError,
        "triplets[0] = (5, 5, 2) has its anchor as its positive: "
        "the positive must differ from the anchor, drop or replace this triplet.",
    ),
    (
        [[0, 1, 2], [5, 2, 5]],
        ValueError,
        "triplets[1] = (5, 2, 5) has its anchor as its negative: "
        "the negative must differ from the anchor, drop or replace this triplet.",
    ),
    (
        [[0.0, 1.0, 2.0]],
        TypeError,
        "triplets must hold integer indices of samples of X, got dtype float64: "
        "convert with triplets.astype(int) if the values are whole numbers.",
    ),
    (
        [[True, False, True]],
        TypeError,
        "triplets must hold integer indices of samples of X, got dtype bool: "
        "convert with triplets.astype(int) if the values are whole numbers.",
    ),
    (
        np.array([[0, 1, 2]], dtype="timedelta64[s]"),
        TypeError,
        "triplets must hold integer indices of samples of X, got dtype timedelta64[s]: "
        "convert with triplets.astype(int) if the values are whole numbers.",
    ),
    (
        np.ma.masked_equal([[0, 1, 2]], 2),
        ValueError,
        "triplets has 1 masked values, and the numbers below the mask have no meaning: "
        "fill them in, or leave out their samples.",
    ),
    (
        [["a", "b", "c"]],
        TypeError,
        "triplets must hold integer indices of samples of X, got dtype <U1: "
        "convert with triplets.astype(int) if the values are whole numbers.",
    ),
    (
        [0, 1, 2],
        ValueError,
        "triplets must have shape (n_triplets, 3), one (anchor, positive, negative) per row, "
        "got shape (3,): reshape or transpose it.",
    ),
    (
        [[0, 1], [2, 3]],
        ValueError,
        "triplets must have shape (n_triplets, 3), one (anchor, positive, negative) per row, "
        "got shape (2, 2): reshape or transpose it.",
    ),
    (
        [[0, 1, 2], [3, 4]],
        ValueError,
        "triplets must have shape (n_triplets, 3), got rows of different lengths: "
        "give every triplet exactly three indices (anchor, positive, negative).",
    ),
    (
        [[0, 1, 199], [0, 1, 200]],
        ValueError,
        "triplets[1] = (0, 1, 200) points past the last sample of X (200 samples): "
        "use indices from 0 to 199.",
    ),
    (
        [],
        ValueError,
        "triplets is empty, at least one (anchor, positive, negative) triplet is needed: "
        "pass an integer array of shape (n_triplets, 3).",
    ),
    (
        np.empty((0, 3), dtype=np.intp),
        ValueError,
        "triplets is empty, at least one (anchor, positive, negative) triplet is needed: "
        "pass an integer array of shape (n_triplets, 3).",
    ),
]


@pytest.mark.parametrize(("triplets", "kind", "message"), REFUSALS)
def test_refusals_say_what_where_and_what_to_do(
    triplets: Any, kind: type[Exception], message: str
) -> None:
    with pytest.raises(kind, match=f"^{re.escape(message)}$"):
        check_triplets(triplets, n_samples=200)
