"""Bad input: the full sentence for each kind."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from little_learners import (
    ONE_MISSING_LABEL,
    WITH_INF,
    WITH_NAN,
    X,
    Y,
    each_learner,
    little,
)

# X, y, type of error, sentence
REFUSED_BY_FIT: dict[str, tuple[Any, Any, type[Exception], str]] = {
    "length": (
        X,
        Y[:29],
        ValueError,
        "Found input variables with inconsistent numbers of samples: [30, 29]",
    ),
    "one class": (
        X,
        np.full(30, "cat"),
        ValueError,
        "TripletSGD needs rows of at least 2 classes, got 1 class ('cat'): pass labels with "
        "more than one class, or your own triplets to TripletSGD.fit_triplets.",
    ),
    "no class repeats": (
        X,
        np.arange(30),
        ValueError,
        "TripletSGD needs a class with at least 2 rows, but each of the 30 rows has a class of "
        "its own: pass labels that repeat (classes, not targets or ids).",
    ),
    "fewer rows than neighbours": (
        X[:5],
        [0, 0, 1, 1, 1],
        ValueError,
        "TripletSGD was asked for n_neighbors=5 nearest rows, but X has 5 rows, 4 beside the "
        "anchor: lower n_neighbors to at most 4, or pass more rows.",
    ),
    "all rows equal": (
        np.full((30, 4), 7.0),
        Y,
        ValueError,
        "All 30 rows of X are the same, so that there is no distance to learn: check how X was "
        "made.",
    ),
    "overflow": (
        1e154 * np.sign(X),
        Y,
        ValueError,
        "X has values up to 1e+154, whose fourth powers overflow float64: divide X so that they "
        "stay below 1e+75.",
    ),
    "underflow": (
        1e-160 * np.sign(X),
        Y,
        ValueError,
        "X has no value above 1e-160, so that fourth powers vanish in float64: multiply X so "
        "that its largest value is above 1e-75.",
    ),
    "tiny differences": (
        np.column_stack([np.ones(30), 1e-100 * Y]),
        Y,
        ValueError,
        "Rows of X differ by 1e-100 only, so that fourth powers vanish in float64: multiply X so "
        "that they differ by more than 1e-75, without features that are constant and large.",
    ),
    "sparse": (
        sparse.csr_matrix(X),
        Y,
        TypeError,
        "TripletSGD needs a dense X, got a sparse csr_matrix of shape (30, 4): reduce it first, "
        "e.g. with sklearn.decomposition.TruncatedSVD, or pass X.toarray().",
    ),
}


@each_learner
@pytest.mark.parametrize("case", REFUSED_BY_FIT)
def test_refused_by_fit(case: str, name: str) -> None:
    given_X, given_y, error, sentence = REFUSED_BY_FIT[case]
    if name == "OASIS" and case == "tiny differences":
        pytest.skip("inner products need no differences")
    with pytest.raises(error) as caught:
        little(name).fit(given_X, given_y)
    assert str(caught.value) == sentence.replace("TripletSGD", name)


def test_tiny_differences_are_learned_from_where_features_have_one_spread() -> None:
    given_X, given_y, _, _ = REFUSED_BY_FIT["tiny differences"]
    fitted = little("TripletSGD").set_params(start="features").fit(given_X, given_y)
    assert np.isfinite(fitted.components_).all()


@pytest.mark.parametrize(
    ("given_X", "given_y", "what", "kind"),
    [
        (WITH_NAN, Y, "X", "NaN"),
        (WITH_INF, Y, "X", "infinity"),
        (X, ONE_MISSING_LABEL, "y", "NaN"),
    ],
)
@each_learner
def test_not_finite(given_X: Any, given_y: Any, what: str, kind: str, name: str) -> None:
    """scikit-learn's sentence, which goes on with advice about imputing for NaN in X."""
    with pytest.raises(ValueError, match=f"^Input {what} contains {kind}"):
        little(name).fit(given_X, given_y)
    if what == "X":
        with pytest.raises(ValueError, match=f"^Input X contains {kind}"):
            little(name).fit_triplets(given_X, [[0, 1, 2]])
        with pytest.raises(ValueError, match=f"^Input X contains {kind}"):
            little(name).fit(X, Y).transform(given_X)


REFUSED_TRIPLETS: dict[str, tuple[Any, type[Exception], str]] = {
    "out of range": (
        [[0, 1, 2], [0, 1, 30]],
        ValueError,
        "triplets[1] = (0, 1, 30) points past the last row of X (30 rows): use row numbers from "
        "0 to 29.",
    ),
    "negative": (
        [[0, -1, 2]],
        ValueError,
        "triplets[0] = (0, -1, 2) has a negative row number: count the rows of X from 0 to 29.",
    ),
    "wrong shape": (
        [[0, 1], [1, 2]],
        ValueError,
        "triplets must have shape (n_triplets, 3), one (anchor, near, far) per row, got shape "
        "(2, 2): reshape or transpose it.",
    ),
    "float": (
        [[0.0, 1.0, 2.0]],
        TypeError,
        "triplets must hold integer row numbers of X, got dtype float64: convert with "
        "triplets.astype(int) if the values are whole row numbers.",
    ),
    "i = j": (
        [[4, 4, 2]],
        ValueError,
        "triplets[0] = (4, 4, 2) has its anchor as its near row: the near row must differ from "
        "the anchor, drop or replace this triplet.",
    ),
    "i = k": (
        [[4, 2, 4]],
        ValueError,
        "triplets[0] = (4, 2, 4) has its anchor as its far row: the far row must differ from "
        "the anchor, drop or replace this triplet.",
    ),
    "none": (
        np.empty((0, 3), dtype=int),
        ValueError,
        "triplets is empty, at least one (anchor, near, far) triplet is needed: pass an integer "
        "array of shape (n_triplets, 3).",
    ),
}


@each_learner
@pytest.mark.parametrize("case", REFUSED_TRIPLETS)
def test_refused_triplets(case: str, name: str) -> None:
    triplets, error, sentence = REFUSED_TRIPLETS[case]
    with pytest.raises(error) as caught:
        little(name).fit_triplets(X, triplets)
    assert str(caught.value) == sentence


@each_learner
def test_sparse_rows_for_triplets_are_refused_too(name: str) -> None:
    with pytest.raises(TypeError) as caught:
        little(name).fit_triplets(sparse.csr_array(X), [[0, 1, 2]])
    assert str(caught.value).startswith(f"{name} needs a dense X, got a sparse csr_array")


REFUSED_PAIRS: dict[str, tuple[Any, Any, type[Exception], str]] = {
    "out of range": (
        [[0, 1], [0, 30]],
        [1, -1],
        ValueError,
        "pairs[1] = (0, 30) points past the last row of X (30 rows): use row numbers from 0 to 29.",
    ),
    "negative": (
        [[0, -1]],
        [1],
        ValueError,
        "pairs[0] = (0, -1) has a negative row number: count the rows of X from 0 to 29.",
    ),
    "wrong shape": (
        [[0, 1, 2]],
        [1],
        ValueError,
        "pairs must have shape (n_pairs, 2), one (one, other) per row, got shape (1, 3): reshape "
        "or transpose it.",
    ),
    "ragged": (
        [[0, 1], [2]],
        [1, 1],
        ValueError,
        "pairs must have shape (n_pairs, 2), got rows of different lengths: give every pair "
        "exactly two row numbers (one, other).",
    ),
    "float": (
        [[0.0, 1.0]],
        [1],
        TypeError,
        "pairs must hold integer row numbers of X, got dtype float64: convert with "
        "pairs.astype(int) if the values are whole row numbers.",
    ),
    "one row": (
        [[1, 2], [4, 4]],
        [1, 1],
        ValueError,
        "pairs[1] = (4, 4) is a row and itself: the two rows must differ, drop or replace this "
        "pair.",
    ),
    "none": (
        np.empty((0, 2), dtype=int),
        [],
        ValueError,
        "pairs is empty, at least one (one, other) pair is needed: pass an integer array of shape "
        "(n_pairs, 2).",
    ),
    "signs of another number": (
        [[0, 1], [1, 2]],
        [1],
        ValueError,
        "y must have shape (2,), one +1 (near) or -1 (far) for each of the 2 pairs, got shape "
        "(1,): pass as many as there are pairs.",
    ),
    "other signs": (
        [[0, 1], [1, 2]],
        [1, 0],
        ValueError,
        "y[1] = 0 is neither +1 (near) nor -1 (far): give every pair one of the two.",
    ),
    "words for signs": (
        [[0, 1]],
        ["near"],
        ValueError,
        "y[0] = 'near' is neither +1 (near) nor -1 (far): give every pair one of the two.",
    ),
    "NaN for a sign": (
        [[0, 1]],
        [np.nan],
        ValueError,
        "y[0] = nan is neither +1 (near) nor -1 (far): give every pair one of the two.",
    ),
}


@pytest.mark.parametrize("name", ["LEGO", "ITML"])
@pytest.mark.parametrize("case", REFUSED_PAIRS)
def test_refused_pairs(case: str, name: str) -> None:
    pairs, signs, error, sentence = REFUSED_PAIRS[case]
    with pytest.raises(error) as caught:
        little(name).fit_pairs(X, pairs, signs)
    assert str(caught.value) == sentence


@pytest.mark.parametrize("name", ["LEGO", "ITML"])
def test_rows_for_pairs_are_checked_too(name: str) -> None:
    with pytest.raises(TypeError, match=f"^{name} needs a dense X, got a sparse csr_array"):
        little(name).fit_pairs(sparse.csr_array(X), [[0, 1]], [1])
    with pytest.raises(ValueError, match=r"^Input X contains NaN"):
        little(name).fit_pairs(WITH_NAN, [[0, 1]], [1])


@pytest.mark.parametrize("name", ["LEGO", "ITML"])
def test_near_must_be_below_far(name: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        little(name, near_distance=2.0, far_distance=2.0).fit(X, Y)
    assert str(caught.value) == (
        f"{name} needs near_distance below far_distance, got near_distance=2 and far_distance=2 "
        "(those not set are taken from X): lower near_distance or raise far_distance."
    )
