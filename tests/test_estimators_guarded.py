"""Estimators that are guarded: learning that does harm is not kept, and means are taken."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_wine

from calipers import TripletSGD
from calipers.arrays import FloatArray, IndexArray
from calipers.estimators import guard
from calipers.estimators.blend import MEANS, Shares
from calipers.estimators.coordinates import coordinates
from calipers.estimators.inputs import DataWarning
from calipers.estimators.interrupt import InterruptedFitWarning
from calipers.triplets import RowsInMemory
from heaps import LABELS, ROWS
from watch import Watch


@pytest.mark.parametrize(
    ("sizes", "d", "is_learned"),
    [
        ([20, 20, 2, 1], 4, None),
        ([10, 10], 4, None),
        ([40, 2, 2, 1], 4, False),  # all but one are too small to hold a row out
        ([40, 2, 2, 1], 60, False),
        ([2] * 25, 4, True),  # all are: pairs are learned from
        ([12] + [2] * 12, 4, True),
    ],
)
def test_where_nobody_can_be_asked(
    sizes: list[int], d: int, is_learned: bool | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """None: enough rows can."""
    said: list[Any] = []
    held_out = guard.held_out

    def listen(learn: guard.Learner, X: FloatArray, labels: IndexArray) -> Any:
        said.append(held_out(learn, X, labels))
        return said[-1]

    monkeypatch.setattr(guard, "held_out", listen)
    labels = np.repeat(np.arange(len(sizes)), sizes)
    X = np.random.default_rng(0).standard_normal((len(labels), d))
    with warnings.catch_warnings(category=DataWarning, action="ignore"):
        fitted = TripletSGD(n_triplets=500, random_state=0).fit(X, labels)
    notes = [note for note in fitted.notes_ if "but one have fewer than 3 rows, too" in note]
    assert len(notes) == (is_learned is False)
    assert all("guard=False" in note for note in notes)
    if is_learned is None:
        assert said
        assert said[0]
    else:
        is_euclidean = np.array_equal(fitted.components_, np.eye(d))
        assert is_euclidean != is_learned


def answers(*wrong: int | range) -> Any:
    """In place of `guard.held_out`: so many of 240 rows, or these, see but strangers, and err.

    As given, then as learned; what is to be learned is learned from all rows.
    """
    rows = [range(each) if isinstance(each, int) else each for each in wrong]

    def held_out(learn: guard.Learner, X: FloatArray, labels: IndexArray) -> Any:
        maps = learn(X, labels, 0)
        wrong = [np.isin(np.arange(240), each) for each in rows[: 1 + len(maps)]]
        return [guard.Answers(each.astype(np.float64), each) for each in wrong]

    return held_out


def blended(
    X: FloatArray,
    y: IndexArray,
    few: TripletSGD,
    many: list[TripletSGD],
    shares: Shares,
    start: str,
) -> FloatArray:
    """The mean, by the shares, of metrics whose mean squared distance is that of ``few``."""
    C, rows = np.cov(X.T, bias=True), RowsInMemory(X, y)
    metrics = [
        few.get_mahalanobis_matrix(),
        sum(m / np.sum(m * C) for m in (one.get_mahalanobis_matrix() for one in many)),
        *(coordinates(kind, rows).pull_back(np.eye(X.shape[1])) for kind in (start, "classes")),
    ]
    mean = sum(share * m / np.sum(m * C) for share, m in zip(shares, metrics, strict=True))
    return np.asarray(np.sum(metrics[0] * C) * mean)


def noise(**settings: Any) -> TripletSGD:
    """Fitted to labels that the rows say much about, by a step far too long and upside down."""
    model = TripletSGD(
        "sgd", n_triplets=300, learning_rate=1e6, start="identity", random_state=0, **settings
    )
    return model.fit(ROWS, LABELS)  # type: ignore[no-any-return]


def test_an_estimator_that_does_harm_stays_euclidean(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "held_out", answers(10, 30, 40, 40))
    fitted = noise()
    np.testing.assert_array_equal(fitted.get_mahalanobis_matrix(), np.eye(2))
    (note,) = (note for note in fitted.notes_ if "Euclidean" in note)
    assert "Of 240 rows that were held out, 12.5% are taken" in note  # 30: a mean is not taken
    assert "4.2% without" in note
    assert "(nearer ones count more) 12.5% and 4.2% are of another" in note
    assert "guard=False" in note
    assert np.any(noise(guard=False).get_mahalanobis_matrix() != np.eye(2))
    assert fitted.fit_triplets(ROWS, [[0, 4, 1]] * 30).get_mahalanobis_matrix()[0, 1] != 0.0


@pytest.mark.parametrize(
    ("settings", "n_copies"), [({"guard": False}, 1), ({"n_components": 1}, 1), ({}, 5)]
)
def test_who_is_not_guarded(
    settings: dict[str, Any], n_copies: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*given: object) -> None:
        raise AssertionError

    rows, labels = np.tile(ROWS, (n_copies, 1)), np.tile(LABELS, n_copies)
    monkeypatch.setattr(guard, "held_out", never)
    TripletSGD(n_triplets=100, random_state=0, **settings).fit(rows, labels)
    with pytest.raises(AssertionError):
        TripletSGD(n_triplets=100, random_state=0).fit(ROWS, LABELS)
    with pytest.raises(AssertionError):  # labels that rows say nothing about
        TripletSGD(n_triplets=100, random_state=0).fit(
            np.tile(ROWS, (5, 1)), np.random.default_rng(1).permutation(1200) % 4
        )


def test_the_folds_are_learned_from_with_the_same_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """But for the seed, a third of the triplets, the start that was chosen, and no guard."""
    n_maps: list[int] = []
    held_out = guard.held_out

    def listen(learn: guard.Learner, X: FloatArray, labels: IndexArray) -> Any:
        def tell(X: FloatArray, y: IndexArray, seed: int) -> Any:
            few, many = (
                TripletSGD("sgd", n_neighbors=k, random_state=seed, **settings).fit(X, y)
                for k in (3, 20)
            )
            maps = learn(X, y, seed)
            np.testing.assert_array_equal(maps[0], few.components_)
            for shares, mean in zip(MEANS, maps[1:], strict=len(maps) > 1):
                M = blended(X, y, few, [many], shares, "identity")
                np.testing.assert_allclose(mean.T @ mean, M, rtol=1e-9)
            n_maps.append(len(maps))
            return maps

        return held_out(tell, X, labels)

    settings: dict[str, Any] = {"n_triplets": 100, "smoothness": 2.0, "guard": False}
    monkeypatch.setattr(guard, "held_out", listen)
    model = TripletSGD("sgd", n_triplets=300, smoothness=2.0, random_state=5)
    model.fit(ROWS, LABELS)
    assert n_maps == [3] * 3
    model.set_params(n_neighbors=3).fit(ROWS, LABELS)
    assert n_maps == [3] * 3 + [1] * 3


@pytest.mark.parametrize(
    ("wrong", "is_part", "expected"),
    [
        ((90, 40, 40, 40), False, 1),
        ((90, 40, 41, 45), False, 1),  # a little worse, on one row
        ((90, 40, 42, 45), False, 0),
        ((90, 40, 45, 41), False, 2),
        ((90, 40, 39, 38), False, 2),
        ((90, 40, 25, 26), True, 0),
        ((90, 40, 23, 30), True, 1),
        ((90, 40, 30, 23), True, 2),
        ((38, 40, 40, 40), False, None),
        ((40, 40, 40, 40), False, 1),
        ((range(60, 81), 8, 8, 8), False, None),  # a little better, on other rows
        ((range(60, 82), 8, 8, 8), False, 1),
    ],
)
def test_what_is_clearly_better(
    wrong: tuple[Any, ...], is_part: bool, expected: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No metric (None), what few neighbours teach (0), or one of its means (1, 2)."""
    if is_part:
        monkeypatch.setattr(guard, "MOST_ROWS", 239)
    monkeypatch.setattr(guard, "held_out", answers(*wrong))
    model = TripletSGD(n_triplets=900, start="features", random_state=0)
    given, labels = guard.some_of(RowsInMemory(ROWS, LABELS))
    M = model.fit(ROWS, LABELS).get_mahalanobis_matrix()
    if expected is None:
        np.testing.assert_array_equal(M, np.eye(2))
        return
    few = clone(model).set_params(guard=False).fit(ROWS, LABELS)
    if not expected:
        np.testing.assert_array_equal(M, few.get_mahalanobis_matrix())
        return
    settings = {"guard": False, "n_neighbors": 20, "n_triplets": 300}
    many = clone(model).set_params(**settings).fit(given, labels)
    mean = blended(given, labels, few, [many], MEANS[expected - 1], "features")
    np.testing.assert_allclose(M, mean, rtol=1e-9)


def test_means_are_of_all_folds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Metrics of many neighbours count together as much as one would."""
    held_out = guard.held_out

    def easy(learn: guard.Learner, X: FloatArray, labels: IndexArray) -> Any:
        found = held_out(learn, X, labels)
        assert found is not None
        return answers(90, 40, 38, 39)(lambda X, y, seed: found[1:], X, labels)

    monkeypatch.setattr(guard, "held_out", easy)
    model = TripletSGD(n_triplets=900, start="features", random_state=0)
    M = model.fit(ROWS, LABELS).get_mahalanobis_matrix()
    few = clone(model).set_params(guard=False).fit(ROWS, LABELS)
    settings = {"guard": False, "n_neighbors": 20, "n_triplets": 300}
    folds = guard._dealt(LABELS)
    many = [
        clone(few)
        .set_params(**settings, random_state=fold)
        .fit(ROWS[folds != fold], LABELS[folds != fold])
        for fold in range(3)
    ]
    np.testing.assert_allclose(M, blended(ROWS, LABELS, few, many, MEANS[0], "features"), rtol=1e-9)


def test_the_guard_does_not_change_what_is_learned() -> None:
    X, y = load_wine(return_X_y=True)
    settings: dict[str, Any] = {"n_triplets": 3000, "n_neighbors": 3}
    guarded, not_guarded = (
        TripletSGD(guard=g, random_state=np.random.RandomState(3), **settings).fit(X, y)
        for g in (True, False)
    )
    np.testing.assert_array_equal(guarded.components_, not_guarded.components_)


def test_an_interrupted_fold_ends_the_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    fit, fits = TripletSGD.fit, []

    def interrupted(self: TripletSGD, X: FloatArray, y: IndexArray) -> TripletSGD:
        fitted: TripletSGD = fit(self, X, y)
        fitted.interrupted_ = True
        fits.append(fitted)
        return fitted

    fitted = TripletSGD(n_triplets=100, random_state=0)
    monkeypatch.setattr(TripletSGD, "fit", interrupted)
    with pytest.warns(InterruptedFitWarning, match="after 0 of"):
        fit(fitted, ROWS, LABELS)
    assert len(fits) == 1
    assert fitted.interrupted_
    assert fitted.n_updates_ == 0
    M = fitted.get_mahalanobis_matrix()
    np.testing.assert_allclose(M, M[0, 0] * np.eye(2))


@pytest.mark.parametrize("n_wrong", [(10, 30, 40, 40), (50, 40, 30, 35)])
def test_callbacks_see_what_a_fit_ends_with(
    n_wrong: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guard, "held_out", answers(*n_wrong))
    watch = Watch()
    fitted = TripletSGD(n_triplets=900, random_state=0).set_callbacks(watch).fit(ROWS, LABELS)
    np.testing.assert_array_equal(watch.seen[-1], fitted.components_)
    stopped = TripletSGD(n_triplets=900, random_state=0).set_callbacks(Watch(stop_after=2))
    np.testing.assert_array_equal(stopped.fit(ROWS, LABELS).components_, watch.seen[1])


def test_advice_is_of_one_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "held_out", answers(50, 40, 30, 35))
    triplets = [[0, 4, 1]] * 30
    for learn in (TripletSGD.fit_triplets, TripletSGD.partial_fit_triplets):
        fitted, new = TripletSGD(n_triplets=900, random_state=0), TripletSGD(random_state=0)
        fitted.fit(ROWS, LABELS)
        expected = learn(new, ROWS, triplets).components_
        np.testing.assert_array_equal(learn(fitted, ROWS, triplets).components_, expected)
