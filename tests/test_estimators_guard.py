"""The guard: learning that does harm, by rows that were held out, is not kept."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_wine

from calipers import TripletSGD
from calipers.arrays import FloatArray, IndexArray
from calipers.estimators import defaults, guard
from calipers.triplets import RowsInMemory

RNG = np.random.default_rng(0)
LABELS = np.arange(240) % 4
CORNERS = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
ROWS = CORNERS[LABELS] + 0.1 * RNG.standard_normal((240, 2))  # four heaps: easy as they are


def _collapse(X: FloatArray, y: IndexArray, seed: int) -> FloatArray:
    """A learner that does harm: it sees one feature only."""
    return np.array([[1.0, 0.0], [0.0, 0.0]])


def _keep(X: FloatArray, y: IndexArray, seed: int) -> FloatArray:
    return np.eye(2)


def test_harm_is_seen() -> None:
    wrong = guard.held_out(_collapse, RowsInMemory(ROWS, LABELS))
    assert wrong is not None
    assert wrong.given == 0
    assert wrong.learned > 60
    assert wrong.differ == wrong.learned
    assert wrong.harm


def test_where_nothing_changes_there_is_no_harm() -> None:
    wrong = guard.held_out(_keep, RowsInMemory(ROWS, LABELS))
    assert wrong == (0, 0, 0)
    assert not wrong.harm


@pytest.mark.parametrize(
    ("learned", "is_harm"), [(24, False), (25, False), (26, True), (10, False)]
)
def test_harm_must_be_more_than_chance(learned: int, is_harm: bool) -> None:
    assert guard.Wrong(20, learned, 25).harm == is_harm


def test_every_row_is_asked_once_and_never_learned_from_then() -> None:
    marked = np.column_stack([np.arange(240.0), LABELS])
    parts: list[FloatArray] = []

    def learn(X: FloatArray, y: IndexArray, seed: int) -> FloatArray:
        assert seed == len(parts)
        np.testing.assert_array_equal(X[:, 1], y)
        parts.append(X[:, 0])
        return np.eye(2)

    guard.held_out(learn, RowsInMemory(marked, LABELS))
    left_out = [np.setdiff1d(np.arange(240), part) for part in parts]
    np.testing.assert_array_equal(np.sort(np.concatenate(left_out)), np.arange(240))
    for part in left_out:
        np.testing.assert_array_equal(np.bincount(LABELS[part]), [20, 20, 20, 20])


def test_too_few_rows_are_not_asked() -> None:
    assert guard.held_out(_keep, RowsInMemory(ROWS[:99], LABELS[:99])) is None
    assert guard.held_out(_keep, RowsInMemory(ROWS[:100], LABELS[:100])) is not None


@pytest.mark.parametrize(
    ("n", "d", "expected"),
    [(5000, 48, True), (5001, 48, False), (1000, 49, True), (1001, 49, False)],
)
def test_many_rows_need_no_guard(n: int, d: int, expected: bool) -> None:
    assert defaults.is_guarded(n, d) == expected


def test_classes_of_one_or_two_rows_are_left_out() -> None:
    labels = np.concatenate([LABELS[:-3], [4, 5, 5]])

    def learn(X: FloatArray, y: IndexArray, seed: int) -> FloatArray:
        assert y.max() == 3
        return np.eye(2)

    assert guard.held_out(learn, RowsInMemory(ROWS, labels)) is not None


def test_what_cannot_be_learned_says_nothing() -> None:
    def learn(X: FloatArray, y: IndexArray, seed: int) -> FloatArray:
        raise ValueError

    assert guard.held_out(learn, RowsInMemory(ROWS, LABELS)) is None


# In the estimator: a step far too long and upside down is what does harm here


def noise(**settings: Any) -> TripletSGD:
    """Fitted to labels that the rows as they are say much about, and to steps that spoil them."""
    model = TripletSGD(
        "sgd", n_triplets=300, learning_rate=1e6, start="identity", random_state=0, **settings
    )
    return model.fit(ROWS, LABELS)  # type: ignore[no-any-return]


def test_an_estimator_that_does_harm_stays_euclidean(monkeypatch: pytest.MonkeyPatch) -> None:
    harm = guard.Wrong(10, 30, 20)
    monkeypatch.setattr(guard, "held_out", lambda learn, rows: harm)
    fitted = noise()
    np.testing.assert_array_equal(fitted.get_mahalanobis_matrix(), np.eye(2))
    (note,) = (note for note in fitted.notes_ if "Euclidean" in note)
    assert "240 rows" in note
    assert "30 are taken for another class" in note
    assert "guard=False" in note
    assert np.any(noise(guard=False).get_mahalanobis_matrix() != np.eye(2))
    assert fitted.fit_triplets(ROWS, [[0, 4, 1]] * 30).get_mahalanobis_matrix()[0, 1] != 0.0


@pytest.mark.parametrize(
    ("settings", "n_copies"), [({"guard": False}, 1), ({"n_components": 1}, 1), ({}, 21)]
)
def test_who_is_not_guarded(
    settings: dict[str, Any], n_copies: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(learn: object, rows: object) -> None:
        raise AssertionError

    rows, labels = np.tile(ROWS, (n_copies, 1)), np.tile(LABELS, n_copies)
    monkeypatch.setattr(guard, "held_out", never)
    TripletSGD(n_triplets=100, random_state=0, **settings).fit(rows, labels)
    with pytest.raises(AssertionError):
        TripletSGD(n_triplets=100, random_state=0).fit(ROWS, LABELS)


def test_the_folds_are_learned_from_with_the_same_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """But for the seed, a third of the triplets, and no guard."""
    learned = []
    held_out = guard.held_out

    def listen(learn: guard.Learner, rows: RowsInMemory) -> guard.Wrong | None:
        def tell(X: FloatArray, y: IndexArray, seed: int) -> FloatArray | None:
            L = learn(X, y, seed)
            assert L is not None
            same = TripletSGD("sgd", n_triplets=100, smoothness=2.0, guard=False, random_state=seed)
            learned.append(np.array_equal(L, same.fit(X, y).components_))
            return L

        return held_out(tell, rows)

    monkeypatch.setattr(guard, "held_out", listen)
    TripletSGD("sgd", n_triplets=300, smoothness=2.0, random_state=5).fit(ROWS, LABELS)
    assert learned == [True, True, True]


def test_the_guard_does_not_change_what_is_learned() -> None:
    X, y = load_wine(return_X_y=True)
    settings: dict[str, Any] = {"n_triplets": 3000}
    guarded, not_guarded = (
        TripletSGD(guard=g, random_state=np.random.RandomState(3), **settings).fit(X, y)
        for g in (True, False)
    )
    np.testing.assert_array_equal(guarded.components_, not_guarded.components_)


def test_an_interrupted_fold_leaves_what_was_learned(monkeypatch: pytest.MonkeyPatch) -> None:
    alone = TripletSGD(n_triplets=100, guard=False, random_state=0).fit(ROWS, LABELS)
    fit, fits = TripletSGD.fit, []

    def interrupted(self: TripletSGD, X: FloatArray, y: IndexArray) -> TripletSGD:
        fitted: TripletSGD = fit(self, X, y)
        fitted.interrupted_ = True
        fits.append(fitted)
        return fitted

    fitted = TripletSGD(n_triplets=100, random_state=0)
    monkeypatch.setattr(TripletSGD, "fit", interrupted)
    fit(fitted, ROWS, LABELS)
    assert len(fits) == 1
    assert fitted.interrupted_
    np.testing.assert_array_equal(fitted.components_, alone.components_)


def test_what_was_interrupted_is_not_asked_about(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "held_out", lambda learn, rows: guard.Wrong(10, 30, 20))
    fitted = TripletSGD(n_triplets=100, random_state=0).fit(ROWS, LABELS)
    np.testing.assert_array_equal(fitted.components_, np.eye(2))
    learn = TripletSGD._learn

    def stopped(self: TripletSGD, *args: Any, **settings: Any) -> TripletSGD:
        learned: TripletSGD = learn(self, *args, **settings)
        learned.interrupted_ = True
        return learned

    monkeypatch.setattr(TripletSGD, "_learn", stopped)
    fitted.fit(ROWS, LABELS)
    assert np.any(fitted.components_ != np.eye(2))
