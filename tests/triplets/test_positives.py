"""Triplets from positives against a slow and obviously right version."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import calipers
import calipers.evaluation
from calipers.arrays import IndexArray
from calipers.triplets import from_positives


def plain_triplets(
    X: Any, pairs: list[tuple[int, int]], n_negatives: int, documents: set[int]
) -> list[list[int]]:
    """One pair and one sample at a time."""
    triplets = []
    for query, positive in pairs:
        belongs = {b for a, b in pairs if a == query} | {a for a, b in pairs if b == query}
        others = [i for i in documents if i != query and i not in belongs]
        others.sort(key=lambda i: (float(((X[i] - X[query]) ** 2).sum()), i))
        triplets += [[query, positive, negative] for negative in others[:n_negatives]]
    return triplets


@given(st.data())
def test_the_negatives_are_the_nearest_samples_that_are_no_positives(data: st.DataObject) -> None:
    n = data.draw(st.integers(3, 24))
    X = np.random.default_rng(data.draw(st.integers(0, 99))).integers(0, 4, (n, 2)).astype(float)
    index = st.integers(0, n - 1)
    pairs = data.draw(st.lists(st.tuples(index, index).filter(lambda p: p[0] != p[1]), min_size=1))
    documents = data.draw(st.one_of(st.none(), st.sets(index, min_size=1)))
    k = data.draw(st.integers(1, n))
    expected = plain_triplets(X, pairs, k, set(range(n)) if documents is None else documents)
    listed = None if documents is None else sorted(documents)
    if not expected:
        with pytest.raises(ValueError, match="queries has a negative"):
            from_positives(X, pairs, n_negatives=k, documents=listed)
        return
    found = from_positives(X, pairs, n_negatives=k, documents=listed, random_state=0)
    assert found.dtype == np.intp
    assert sorted(found.tolist()) == sorted(expected)


def questions_and_answers() -> tuple[Any, IndexArray]:
    """400 questions, then their 400 answers: close in four features, noise in the other four."""
    rng = np.random.default_rng(0)
    topics = rng.normal(size=(400, 4))
    signal = np.concatenate([topics, topics + 0.1 * rng.normal(size=(400, 4))])
    X = np.column_stack([signal, 2 * rng.normal(size=(800, 4))])
    return X, np.column_stack([np.arange(400), np.arange(400, 800)])


def test_a_metric_learned_from_positives_finds_them() -> None:
    X, pairs = questions_and_answers()
    documents = np.arange(400, 800)
    triplets = from_positives(X, pairs, documents=documents, random_state=0)
    metric = calipers.TripletSGD(random_state=0).fit_triplets(X, triplets)
    relevant = pairs - [0, 400]

    def found(samples: Any) -> float:
        return calipers.evaluation.recall_at_k(samples[400:], samples[:400], pairs=relevant, k=1)

    assert found(X) < 0.1
    assert found(metric.transform(X)) > 0.85


def test_the_order_is_random_and_repeats_with_the_seed() -> None:
    X, pairs = questions_and_answers()
    first, again, other = (from_positives(X, pairs, random_state=seed) for seed in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert first.tolist() != other.tolist()
    assert sorted(first.tolist()) == sorted(other.tolist())


@pytest.mark.parametrize(
    ("how", "sentence"),
    [
        (
            {"pairs": [[0, 9]]},
            r"pairs\[0\] = \(0, 9\) points past the last sample of X \(4 samples\)",
        ),
        ({"pairs": [[1, 1]]}, r"pairs\[0\] = \(1, 1\) holds one sample twice"),
        ({"n_negatives": 0}, "n_negatives must be at least 1, got 0"),
        ({"documents": [True, False, True, True]}, "use np.flatnonzero if it is a mask"),
        ({"documents": [2, 4]}, "documents must be indices from 0 to 3, got 2 to 4"),
        ({"documents": [1]}, "None of the 1 queries has a negative"),
    ],
)
def test_mistakes_are_told(how: dict[str, Any], sentence: str) -> None:
    asked = {"pairs": [[0, 1]], **how}
    with pytest.raises(ValueError, match=sentence):
        from_positives(np.eye(4), **asked)
