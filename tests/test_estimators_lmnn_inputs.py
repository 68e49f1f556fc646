"""LMNN and bad input: the full sentence for each kind."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from calipers.arrays import IndexArray
from calipers.estimators.inputs import DataWarning
from calipers.estimators.lmnn import LMNN
from lmnn_by_definition import X, Y, by_definition, fit


def alone(n: int) -> IndexArray:
    """Labels of which the first n are classes of their own."""
    return np.where(np.arange(30) < n, 100 + np.arange(30), Y)


REFUSED: dict[str, tuple[Any, Any, type[Exception], str]] = {
    "length": (
        X,
        Y[:29],
        ValueError,
        "Found input variables with inconsistent numbers of samples: [30, 29]",
    ),
    "no class repeats": (
        X,
        np.arange(30),
        ValueError,
        "LMNN needs a class with at least 2 rows, but each of the 30 rows has a class of its own: "
        "pass labels that repeat (classes, not targets or ids).",
    ),
    "fewer rows than neighbours": (
        X[:3],
        [0, 0, 1],
        ValueError,
        "LMNN was asked for n_neighbors=3 nearest rows, but X has 3 rows, 2 beside the anchor: "
        "lower n_neighbors to at most 2, or pass more rows.",
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
    "tiny differences": (
        np.column_stack([np.ones(30), 1e-100 * Y]),
        Y,
        ValueError,
        "Rows of X differ by 2e-100 only, so that fourth powers vanish in float64: multiply X so "
        "that they differ by more than 1e-75, without features that are constant and large.",
    ),
    "sparse": (
        sparse.csr_array(X),
        Y,
        TypeError,
        "LMNN needs a dense X, got a sparse csr_array of shape (30, 4): reduce it first, e.g. "
        "with sklearn.decomposition.TruncatedSVD, or pass X.toarray().",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str) -> None:
    rows, labels, error, sentence = REFUSED[case]
    with pytest.raises(error) as caught:
        fit(rows, labels)
    assert str(caught.value) == sentence


def test_one_class_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^LMNN needs rows of at least 2 classes, got 1 class"):
        fit(X, np.zeros(30))


@pytest.mark.parametrize("kind", [np.nan, np.inf])
def test_not_finite(kind: float) -> None:
    rows = X.copy()
    rows[3, 1] = kind
    with pytest.raises(ValueError, match=r"^Input X contains (NaN|infinity)"):
        fit(rows)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"n_neighbors": 0}, "an int in the range [1, inf). Got 0 instead."),
        ({"push_weight": 0.0}, "a float in the range (0.0, 1.0]. Got 0.0 instead."),
        ({"push_weight": 1.5}, "a float in the range (0.0, 1.0]. Got 1.5 instead."),
        ({"max_iter": 0}, "an int in the range [1, inf). Got 0 instead."),
        ({"tol": -1.0}, "a float in the range [0.0, inf). Got -1.0 instead."),
        ({"n_components": 0}, "an int in the range [1, inf) or None. Got 0 instead."),
    ],
)
def test_refused_settings(settings: dict[str, Any], sentence: str) -> None:
    (name,) = settings
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        fit(**settings)
    assert str(caught.value) == f"The {name!r} parameter of LMNN must be {sentence}"


def test_more_components_than_features() -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        fit(n_components=5)
    assert str(caught.value) == (
        "LMNN was asked for n_components=5, but X has 4 features: ask for at most 4, or None for "
        "all."
    )


def test_small_classes_have_fewer_targets_and_it_is_said_once() -> None:
    labels = np.where(np.arange(30) < 3, 7, Y)
    with pytest.warns(DataWarning) as caught:
        fitted = LMNN().fit(X, labels)
    assert [str(warning.message) for warning in caught] == [
        "1 of 4 classes have no more than n_neighbors=3 rows (7): their rows have all others of "
        "the class as targets."
    ]
    assert caught[0].filename == __file__
    objective, _, _ = by_definition(fitted.get_mahalanobis_matrix(), X, labels)
    assert fitted.objective_ == pytest.approx(objective, rel=1e-9)


def test_classes_of_one_row_are_impostors_only() -> None:
    with pytest.warns(DataWarning) as caught:
        fitted = fit(X, alone(2))
    assert [str(warning.message) for warning in caught] == [
        "2 of 5 classes have one row only (100, 101): they have no near row, so they serve as far "
        "rows only."
    ]
    objective, _, _ = by_definition(fitted.get_mahalanobis_matrix(), X, alone(2))
    assert fitted.objective_ == pytest.approx(objective, rel=1e-9)


@pytest.mark.parametrize("unit", [1e-74, 1e-30, 1e30, 1e74])
def test_extreme_scales(unit: float) -> None:
    plain, scaled = fit(), fit(unit * X)
    assert scaled.objective_ == pytest.approx(plain.objective_, rel=1e-4)
    assert np.isfinite(scaled.components_).all()


def test_constant_and_repeated_features() -> None:
    rows = np.column_stack([X, np.full(30, 3.0), X[:, 0]])
    fitted = fit(rows)
    assert fitted.converged_
    assert fitted.objective_ <= fit().objective_ * (1 + 1e-3)
    assert len(fitted.notes_) == 1
