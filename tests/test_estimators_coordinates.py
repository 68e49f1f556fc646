"""The start of a walk: coordinates, their way back, and which are chosen."""

from __future__ import annotations

from collections import Counter
from typing import Any, cast

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.neighbors import KNeighborsClassifier

from calipers import TripletSGD
from calipers.arrays import FloatArray
from calipers.estimators import coordinates as module
from calipers.estimators.coordinates import KINDS, best_coordinates, coordinates
from calipers.triplets import RowsInMemory
from walks import assert_same_matrix

X, Y = load_iris(return_X_y=True)
SETTINGS: dict[str, Any] = {"n_triplets": 500, "guard": False, "random_state": 0}


def squared(rows: FloatArray, M: FloatArray) -> FloatArray:
    z = rows[:-1] - rows[1:]
    return np.asarray(np.einsum("ni,ij,nj->n", z, M, z))


@pytest.mark.parametrize("kind", KINDS)
def test_a_metric_pulled_back_measures_the_same(kind: str) -> None:
    frame = coordinates(kind, RowsInMemory(X, Y))
    M = np.cov(np.random.default_rng(0).standard_normal((4, 20)))
    np.testing.assert_allclose(squared(X, frame.pull_back(M)), squared(frame.of(X), M), rtol=1e-10)


def test_features_have_unit_spread_and_constant_ones_stay() -> None:
    rows = np.column_stack([X, np.full(150, 7.0)])
    mapped = coordinates("features", RowsInMemory(rows, Y)).of(rows)
    np.testing.assert_allclose(mapped.std(axis=0), [1, 1, 1, 1, 0], atol=1e-12)


@pytest.mark.parametrize("kind", ["features", "classes"])
def test_a_constant_feature_has_no_spread_by_rounding(kind: str) -> None:
    """The deviation of equal numbers may be 6e-16, and a factor of 1e15 drown all others."""
    rows = np.column_stack([X, np.full(150, 0.48)])
    assert rows[:, 4].std() > 0.0
    frame = coordinates(kind, RowsInMemory(rows, Y))
    assert np.abs(cast(Any, frame.factors)).max() < 1e7
    fitted = TripletSGD(start=cast(Any, kind), random_state=0).fit(rows, Y)
    assert fitted.get_mahalanobis_matrix()[4, :4] == pytest.approx(0.0)
    assert (
        np.mean(
            KNeighborsClassifier(3).fit(fitted.transform(rows), Y).predict(fitted.transform(rows))
            == Y
        )
        > 0.95
    )


def test_classes_make_the_spread_within_them_round() -> None:
    rng = np.random.default_rng(0)
    labels = np.arange(20_000) % 2
    rows = rng.standard_normal((20_000, 3)) @ np.array([[5.0, 0, 0], [3, 1, 0], [0, 2, 0.1]])
    rows[:, 0] += 100.0 * labels
    mapped = coordinates("classes", RowsInMemory(rows, labels)).of(rows)
    np.testing.assert_allclose(np.cov(mapped[labels == 0].T), np.eye(3), atol=0.05)


@pytest.mark.parametrize("kind", KINDS)
def test_learning_from_a_start_is_learning_in_its_coordinates(kind: str) -> None:
    frame = coordinates(kind, RowsInMemory(X, Y))
    inside = TripletSGD(**SETTINGS, start="identity").fit(frame.of(X), Y)
    fitted = TripletSGD(**SETTINGS, start=cast(Any, kind)).fit(X, Y)
    expected = frame.pull_back(inside.get_mahalanobis_matrix())
    assert_same_matrix(fitted.get_mahalanobis_matrix(), expected, 1e-10)
    assert fitted.start_ == kind


def test_float32_rows_stay_so() -> None:
    assert all(
        coordinates(k, RowsInMemory(X.astype(np.float32), Y)).of(X.astype(np.float32)).dtype
        == np.float32
        for k in KINDS
    )


def test_a_loud_feature_is_turned_down() -> None:
    rng = np.random.default_rng(0)
    labels = np.arange(300) % 3
    rows = np.column_stack(
        [1e6 * rng.standard_normal(300), 1e-3 * (labels + 0.1 * rng.random(300))]
    )
    assert best_coordinates(RowsInMemory(rows, labels))[0].kind in ("features", "classes")
    fitted = TripletSGD(**SETTINGS).fit(rows, labels)
    assert fitted.start_ != "identity"
    images = fitted.transform(rows)
    away = np.linalg.norm(images[:, None] - images, axis=2) + np.diag(np.full(300, np.inf))
    assert np.mean(labels[away.argmin(axis=1)] == labels) > 0.95


def test_wine_is_not_measured_by_proline_alone() -> None:
    rows, labels = load_wine(return_X_y=True)
    assert best_coordinates(RowsInMemory(rows, labels))[0].kind == "classes"


@pytest.mark.parametrize("kind", ["features", "classes"])
def test_units_of_features_do_not_matter(kind: Any) -> None:
    """However unlike they are; with powers of two all else is the same to the last bit."""
    X, y = load_wine(return_X_y=True)
    units = np.ldexp(1.0, np.random.default_rng(0).permutation(np.arange(-36, 42, 6)))
    usual = TripletSGD(start=kind, **SETTINGS).fit(X, y)
    unlike = TripletSGD(start=kind, **SETTINGS).fit(X * units, y)
    assert unlike.n_updates_ == usual.n_updates_
    pairs = np.stack([X[:-1], X[1:]], axis=1)
    np.testing.assert_allclose(
        unlike.pair_distance(pairs * units), usual.pair_distance(pairs), rtol=1e-6
    )


def test_what_is_not_clearly_better_is_not_taken() -> None:
    """All coordinates of pure noise are as good; the rows stay as they are, mostly."""
    kinds = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        rows, labels = rng.standard_normal((200, 5)), rng.integers(3, size=200)
        kinds.append(best_coordinates(RowsInMemory(rows, labels))[0].kind)
    assert kinds.count("identity") >= 5


def test_the_spread_within_classes_is_judged_by_rows_it_has_not_seen() -> None:
    """Rows of a fold may be anything to the coordinates in which they are anchors."""
    used = coordinates("classes", RowsInMemory(X, Y), unseen=2).factors
    other = X.copy()
    other[2::3] += 100.0 * np.arange(len(X) // 3)[:, None]
    np.testing.assert_array_equal(
        used, coordinates("classes", RowsInMemory(other, Y), unseen=2).factors
    )
    assert np.any(used != coordinates("classes", RowsInMemory(other, Y)).factors)
    rows, anchors = RowsInMemory(other, Y), np.arange(2, len(X), 3)
    seen = module.mistaken(rows.mapped(coordinates("classes", rows, unseen=2).of), anchors)
    wrong = module._mistaken_in("classes", rows, np.arange(len(X)))
    np.testing.assert_array_equal(wrong[2::3], seen)


@pytest.mark.parametrize("kind", KINDS)
def test_coordinates_and_a_matrix_after_them(kind: str) -> None:
    L = np.random.default_rng(1).standard_normal((3, 4))
    first = coordinates(kind, RowsInMemory(X, Y))
    np.testing.assert_allclose(first.then(L).of(X), first.of(X) @ L.T, rtol=1e-9, atol=1e-9)


def test_three_nearest_rows_vote() -> None:
    """Of rows as near, those of lower number are asked; where all differ the nearest decides."""
    rows = np.array([[0.0], [1.0], [2.0], [2.5], [9.0], [9.0], [9.0], [9.0]])
    labels = np.array([0, 0, 1, 0, 1, 1, 2, 2])
    wrong = module.mistaken(RowsInMemory(rows, labels), np.arange(8))
    votes = [[0, 1, 0], [0, 1, 0], [0, 0, 0], [1, 0, 0], [1, 2, 2], [1, 2, 2], [1, 1, 2], [1, 1, 2]]
    winners = [Counter(vote).most_common(1)[0][0] for vote in votes]
    np.testing.assert_array_equal(wrong, winners != labels)
    heaps = np.array([[0.0], [1.0], [-1.5], [2.0], [50.0]])
    kinds = np.array([0, 0, 1, 2, 1])
    np.testing.assert_array_equal(
        module.mistaken(RowsInMemory(heaps, kinds), np.array([0, 1, 2])), [False, False, True]
    )


def test_pairs_in_many_classes_do_not_ask_for_the_spread_within_classes() -> None:
    """The one other row of a class is never the majority of three, but decides if it is nearest."""
    rng = np.random.default_rng(0)
    centres = rng.standard_normal((70, 100))
    labels = np.repeat(np.arange(70), 2)
    rows = centres[labels] + 0.3 * rng.standard_normal((140, 100))
    assert module.mistaken(RowsInMemory(rows, labels), np.arange(140)).mean() < 0.6
    assert best_coordinates(RowsInMemory(rows, labels))[0].kind == "identity"


def test_the_spread_within_classes_is_not_tried_on_many_rows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows, labels = load_wine(return_X_y=True)
    assert best_coordinates(RowsInMemory(rows, labels))[0].kind == "classes"
    monkeypatch.setattr(module, "FEW_ROWS", len(rows) - 1)
    assert best_coordinates(RowsInMemory(rows, labels))[0].kind == "features"


def test_many_rows_are_looked_at_in_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_ROWS", 100)
    monkeypatch.setattr(module, "MOST_ANCHORS", 90)
    rows, labels = load_wine(return_X_y=True)
    best, share = best_coordinates(RowsInMemory(rows, labels))
    assert best.kind in ("features", "classes")
    assert 0.0 <= share < 0.1  # of the anchors, after a third of them was mistaken
    assert share * 90 == pytest.approx(round(share * 90))


def test_classes_whose_rows_are_all_the_same() -> None:
    rows, labels = np.repeat(np.eye(3), 5, axis=0), np.repeat(np.arange(3), 5)
    assert np.isfinite(coordinates("classes", RowsInMemory(rows, labels)).of(rows)).all()


def test_triplets_have_no_classes() -> None:
    triplets = np.array([[0, 1, 99]] * 20)
    assert TripletSGD().fit_triplets(X, triplets).start_ == "identity"
    assert TripletSGD(start="features").fit_triplets(X, triplets).start_ == "features"
    with pytest.raises(ValueError, match=r"TripletSGD\(start='classes'\) needs the classes"):
        TripletSGD(start="classes").fit_triplets(X, triplets)
