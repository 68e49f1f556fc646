"""Fewer rows than features: the walk in a basis of the rows is the walk among all features."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from calipers import TripletSGD
from calipers.estimators import guarded
from calipers.estimators.coordinates import basis_of, coordinates
from calipers.triplets import Rows, RowsInMemory

RNG = np.random.default_rng(0)
LABELS = np.arange(60) % 3
MEANS = 2.0 * RNG.standard_normal((3, 80))
ROWS = (MEANS[LABELS] + RNG.standard_normal((60, 80))) * np.exp(RNG.standard_normal(80))


class AmongAllFeatures(TripletSGD):
    """Walks through d x d matrices, whatever the rows."""

    def _spanned(self, rows: Rows) -> Rows:
        return rows


@pytest.mark.parametrize("start", ["identity", "features", "classes"])
@pytest.mark.parametrize("n_stages", [1, 3])
def test_the_metric_is_that_of_all_features(start: Any, n_stages: int) -> None:
    settings: dict[str, Any] = {"n_stages": n_stages, "guard": False, "random_state": 0}
    short = TripletSGD(start=start, **settings).fit(ROWS, LABELS)
    whole = AmongAllFeatures(start=start, **settings).fit(ROWS, LABELS)
    assert short.n_updates_ == whole.n_updates_
    M = whole.get_mahalanobis_matrix()
    tolerance = 1e-9 * np.sqrt(np.outer(np.diag(M), np.diag(M)))
    assert (np.abs(short.get_mahalanobis_matrix() - M) <= tolerance).all()


def test_the_solver_sees_as_many_features_as_rows() -> None:
    fitted = TripletSGD(n_triplets=500, guard=False).fit(ROWS, LABELS)
    assert fitted.components_.shape == (80, 80)
    assert fitted._coordinates.factors is not None
    assert fitted._coordinates.factors.shape == (60, 80)
    assert np.linalg.matrix_rank(fitted.components_) == 80
    named = TripletSGD("mini-sgd", n_triplets=500, guard=False, start="identity")
    assert named.fit(ROWS, LABELS)._coordinates.factors is None  # the paper's radius is of all
    enough = TripletSGD(n_triplets=500, guard=False, start="identity", n_stages=1)
    assert enough.fit(ROWS[:, :60], LABELS)._coordinates.factors is None


def test_the_guard_sees_the_same_neighbours(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether metrics are factored among the rows or among all features."""
    settings: dict[str, Any] = {"n_triplets": 9000, "random_state": 0}
    short = TripletSGD(**settings).fit(ROWS, LABELS)
    monkeypatch.setattr(guarded, "basis_of", lambda X: np.eye(X.shape[1]))
    whole = TripletSGD(**settings).fit(ROWS, LABELS)
    np.testing.assert_array_equal(short.components_, whole.components_)
    assert short.notes_ == whole.notes_


@pytest.mark.parametrize("kind", ["identity", "features", "classes"])
def test_what_a_basis_does_not_see_stays_as_it_was(kind: str) -> None:
    of_all = coordinates(kind, RowsInMemory(ROWS, LABELS))
    seen = of_all.within(basis_of(of_all.of(ROWS)))
    start = of_all.pull_back(np.eye(80))
    np.testing.assert_allclose(seen.pull_back(np.eye(60)), start, atol=1e-9 * np.abs(start).max())
    twice = seen.then(2.0 * np.eye(60), 4.0).pull_back(np.eye(60))
    np.testing.assert_allclose(twice, 4.0 * start, atol=1e-9 * np.abs(start).max())
    differences = np.linalg.norm(of_all.of(ROWS[1:]) - of_all.of(ROWS[:-1]), axis=1)
    short = np.linalg.norm(seen.of(ROWS[1:]) - seen.of(ROWS[:-1]), axis=1)
    np.testing.assert_allclose(short, differences, rtol=1e-9)


def test_rows_that_are_all_the_same_have_a_basis() -> None:
    for rows in (np.ones((5, 9)), np.zeros((5, 9)), 1e300 * ROWS[:5]):
        basis = basis_of(rows)
        np.testing.assert_allclose(basis.T @ basis, np.eye(5), atol=1e-12)
