"""The guard: rows that were held out are asked about a metric that was learned from the rest."""

from __future__ import annotations

import numpy as np
import pytest

from calipers import TripletSGD
from calipers.arrays import FloatArray, IndexArray
from calipers.estimators import guard
from calipers.estimators.coordinates import Coordinates
from calipers.triplets import RowsInMemory
from heaps import LABELS, ROWS


def _keep(X: FloatArray, y: IndexArray, seed: int) -> list[FloatArray]:
    return [np.eye(2)]


def test_strangers_are_seen() -> None:
    one_feature = np.array([[1.0, 0.0], [0.0, 0.0]])
    answers = guard.held_out(lambda X, y, seed: [one_feature, np.eye(2)], ROWS, LABELS)
    assert answers is not None
    given, collapsed, kept = answers
    for seen in (*given, *kept):
        assert not seen.any()
    for seen in collapsed:
        assert 0.4 < seen.mean() < 0.6  # of two heaps in one
    assert guard.is_better(kept, given)
    assert guard.is_better(given, collapsed)
    assert not guard.is_better(collapsed, given)


def test_the_nearest_count_most() -> None:
    """Of 15: the r-th nearest of those that are not asked counts 1/r; three of them vote."""
    X, labels = np.arange(60.0)[:, None], np.zeros(60, dtype=np.intp)
    labels[[1, 3, 5]] = 1, 1, 2
    asked = np.zeros(60, dtype=np.bool_)
    asked[[0, 1, 59]] = True
    whole = sum(1.0 / r for r in range(1, 16))
    expected = [(1 / 2 + 1 / 4) / whole, (whole - 1 / 2) / whole, 0.0]
    strangers, mistaken = guard._answers(X, labels, asked)
    np.testing.assert_allclose(strangers, expected)
    np.testing.assert_array_equal(mistaken, [False, True, False])


@pytest.mark.parametrize(
    ("first", "second", "both", "expected"),
    [(10, 15, 0, 1.0), (0, 4, 0, 2.0), (0, 4, 500, 2.0), (7, 7, 0, 0.0), (0, 0, 9, 0.0)],
)
def test_a_lead_is_in_standard_errors(first: int, second: int, both: int, expected: float) -> None:
    """One has so many mistakes for itself, the other so many, and some are of both."""
    one = np.repeat([True, False, True], [first, second, both])
    other = np.repeat([False, True, True], [first, second, both])
    assert guard.lead(one, other) == pytest.approx(expected)
    assert guard.lead(other, one) == -guard.lead(one, other)


def test_every_row_is_asked_once_and_never_learned_from_then() -> None:
    marked = np.column_stack([np.arange(240.0), LABELS])
    parts: list[FloatArray] = []

    def learn(X: FloatArray, y: IndexArray, seed: int) -> list[FloatArray]:
        assert seed == len(parts)
        np.testing.assert_array_equal(X[:, 1], y)
        parts.append(X[:, 0])
        return [np.eye(2)]

    guard.held_out(learn, marked, LABELS)
    left_out = [np.setdiff1d(np.arange(240), part) for part in parts]
    np.testing.assert_array_equal(np.sort(np.concatenate(left_out)), np.arange(240))
    for part in left_out:
        np.testing.assert_array_equal(np.bincount(LABELS[part]), [20, 20, 20, 20])


def test_too_few_rows_are_not_asked() -> None:
    assert guard.held_out(_keep, ROWS[:19], LABELS[:19]) is None
    assert guard.held_out(_keep, ROWS[:20], LABELS[:20]) is not None


@pytest.mark.parametrize(
    ("n", "d", "doubt", "others", "expected"),
    [
        (1000, 48, 0.0, 0.9, True),
        (1001, 48, 0.11, 0.9, False),
        (1001, 48, 0.112, 0.9, True),
        (19, 48, 1.0, 0.9, False),
        (20, 48, 0.0, 0.9, True),
        (300, 49, 0.0, 0.9, True),
        (301, 49, 0.11, 0.9, False),
        (301, 128, 0.112, 0.9, True),
        (301, 129, 0.249, 0.9, False),
        (10**6, 129, 0.25, 0.9, True),
        (1001, 48, 0.11, 0.5, False),
        (1001, 48, 0.11, 0.49, True),  # two ninths of the smaller class
        (1001, 48, 0.008, 0.04, False),
        (1001, 48, 0.009, 0.04, True),
        (1001, 129, 0.019, 0.04, False),
        (1001, 129, 0.02, 0.04, True),
    ],
)
def test_many_rows_are_asked_in_doubt_only(
    n: int, d: int, doubt: float, others: float, expected: bool
) -> None:
    assert guard.is_asked(n, d, doubt, others=others) == expected


def test_of_few_others_few_that_are_mistaken_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tenth of the rows is of other classes, and half of that tenth is where it should not be."""
    labels = np.repeat([0, 1], [1080, 120])
    X = np.random.default_rng(1).standard_normal((1200, 2))
    X[1140:] += 20.0
    asked: list[object] = []
    monkeypatch.setattr(guard, "held_out", lambda learn, X, labels: asked.append(X))
    TripletSGD(n_triplets=500, random_state=0).fit(X, labels)
    assert asked
    asked.clear()
    TripletSGD(n_triplets=500, random_state=0).fit(X, (X[:, 0] > 10.0).astype(int))
    assert not asked


def test_doubt_about_a_start_that_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = RowsInMemory(ROWS, LABELS)
    noise = RowsInMemory(ROWS, np.random.default_rng(1).permutation(LABELS))
    as_given = Coordinates("identity")
    assert guard.doubt_about(rows, as_given) == 0.0
    assert 0.5 < guard.doubt_about(noise, as_given) < 1.0
    flat = Coordinates("learned", np.array([[1.0, 0.0], [0.0, 0.0]]))
    assert guard.doubt_about(rows, flat) > 0.25
    assert guard.doubt_about(RowsInMemory(ROWS, np.zeros(240, dtype=np.intp)), as_given) == 1.0
    monkeypatch.setattr(guard, "FEW_ROWS", 100)
    monkeypatch.setattr(guard, "held_out", lambda learn, X, labels: asked.append(X))
    asked: list[object] = []
    model = TripletSGD(start="identity", n_triplets=500, random_state=0).fit(ROWS, LABELS)
    assert not asked
    model.fit(ROWS, noise.labels)
    assert asked


def test_of_many_rows_some_are_asked_and_fewer_folds(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []

    def learn(X: FloatArray, y: IndexArray, seed: int) -> list[FloatArray]:
        sizes.append(len(X))
        return [np.eye(2)]

    monkeypatch.setattr(guard, "MOST_ROWS", 200)
    monkeypatch.setattr(guard, "ENOUGH", 100)
    some, labels = guard.some_of(RowsInMemory(ROWS, np.sort(LABELS)))
    assert np.bincount(labels).tolist() == [50, 50, 50, 50]
    wrong = guard.held_out(learn, some, labels)
    assert wrong is not None
    assert len(sizes) == 2
    assert [len(seen) for of_one in wrong for seen in of_one] == [400 - sum(sizes)] * 4
    assert 130 <= min(sizes) <= max(sizes) <= 136


def test_classes_of_one_or_two_rows_are_left_out() -> None:
    X, labels = guard.some_of(RowsInMemory(ROWS, np.concatenate([LABELS[:-3], [4, 5, 5]])))
    np.testing.assert_array_equal(X, ROWS[:-3])
    np.testing.assert_array_equal(labels, LABELS[:-3])


def test_what_cannot_be_learned_says_nothing() -> None:
    def learn(X: FloatArray, y: IndexArray, seed: int) -> list[FloatArray]:
        raise ValueError

    assert guard.held_out(learn, ROWS, LABELS) is None


def test_rows_around_are_at_most_all_that_are_not_asked() -> None:
    X, labels = np.arange(8.0)[:, None], np.array([0, 0, 0, 0, 0, 0, 1, 1])
    strangers, mistaken = guard._answers(X, labels, np.arange(8) < 3)
    whole = sum(1.0 / r for r in range(1, 6))
    np.testing.assert_allclose(strangers, [(1 / 4 + 1 / 5) / whole] * 3)
    assert not mistaken.any()


@pytest.mark.parametrize(
    ("strangers", "mistaken", "expected"),
    [
        ((100, 100), (50, 50), True),  # the same rows: nothing changes
        ((100, 100), (50, 51), False),
        ((25, 0), (50, 50), True),  # five standard errors
        ((24, 0), (50, 50), False),
        ((16, 0), (51, 50), True),  # four, and one
        ((15, 0), (51, 50), False),
        ((4, 0), (59, 50), True),
        ((0, 1), (86, 50), True),
        ((0, 1), (85, 50), False),
        ((200, 0), (50, 51), False),  # more are mistaken
    ],
)
def test_both_answers_count(
    strangers: tuple[int, int], mistaken: tuple[int, int], expected: bool
) -> None:
    """So many rows see but strangers, and so many are mistaken, without and with a metric."""
    rows = np.arange(240)
    given, learned = (
        guard.Answers((rows < around).astype(np.float64), rows < wrong)
        for around, wrong in zip(strangers, mistaken, strict=True)
    )
    assert guard.is_better(learned, given) == expected
