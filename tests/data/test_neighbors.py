"""The search against a brute force that sorts all directly summed distances."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as hnp

from calipers.arrays import IndexArray
from calipers.data.neighbors import (
    Anchors,
    Passing,
    _Block,
    error_bound,
    merge,
    nearest_same_and_other,
    vote,
)

Lists = tuple[IndexArray, IndexArray]


def plain_search(
    X: npt.NDArray[Any], labels: IndexArray, anchors: IndexArray, n_same: int, n_other: int
) -> Lists:
    """Sort all samples of either kind by (distance, index)."""
    same = np.full((len(anchors), n_same), -1, dtype=np.intp)
    other = np.full((len(anchors), n_other), -1, dtype=np.intp)
    for place, anchor in enumerate(anchors):
        differences = X.astype(np.float64) - X[anchor].astype(np.float64)
        squared_distances = np.cumsum(differences**2, axis=1)[:, -1]  # left to right
        order = np.argsort(squared_distances, kind="stable")
        order = order[order != anchor]
        own = labels[order] == labels[anchor]
        for found, indices in ((same, order[own]), (other, order[~own])):
            kept = indices[: found.shape[1]]
            found[place, : len(kept)] = kept
    return same, other


def assert_same_lists(got: Lists, expected: Lists) -> None:
    np.testing.assert_array_equal(got[0], expected[0])
    np.testing.assert_array_equal(got[1], expected[1])


def check(X: npt.NDArray[Any], labels: IndexArray, anchors: IndexArray, k: tuple[int, int]) -> None:
    expected = plain_search(X, labels, anchors, *k)
    got = nearest_same_and_other(X, labels, anchors, n_same=k[0], n_other=k[1])
    assert_same_lists(got, expected)
    halves = []
    middle = len(X) // 2
    for start, stop in ((0, middle), (middle, len(X))):
        passing = Passing(Anchors(X[anchors], labels[anchors], anchors), n_same=k[0], n_other=k[1])
        passing.offer(X[start:stop], labels[start:stop], start)
        halves.append(passing.found())
    assert_same_lists((merge(halves).same, merge(halves).other), expected)


values = st.sampled_from(
    [
        st.integers(0, 1).map(float),
        st.integers(-3, 3).map(float),
        st.integers(0, 15).map(lambda v: v / 7.5 - 1),  # ties that rounding breaks
        st.floats(-1e3, 1e3, width=32),
        st.sampled_from([0.0, 1e-30, 1e30, -1e30, 1e-200]),
    ]
)


@st.composite
def problems(draw: st.DrawFn) -> tuple[npt.NDArray[Any], IndexArray, IndexArray, tuple[int, int]]:
    n, d = draw(st.integers(2, 40)), draw(st.integers(1, 50))
    X = draw(hnp.arrays(np.float64, (n, d), elements=draw(values)))
    X = X + draw(st.sampled_from([0.0, 0.0, 1e6, -1e12]))
    labels = draw(hnp.arrays(np.intp, n, elements=st.integers(0, draw(st.integers(0, 6)))))
    anchors = draw(st.lists(st.integers(0, n - 1), unique=True, max_size=n))
    k = draw(st.integers(0, 7)), draw(st.integers(0, 7))
    return X, labels, np.array(anchors, dtype=np.intp), k


@settings(deadline=None, max_examples=60)
@given(problems())
def test_small_problems_with_ties_and_extremes(
    problem: tuple[npt.NDArray[Any], IndexArray, IndexArray, tuple[int, int]],
) -> None:
    check(*problem)


def tied(rng: np.random.Generator, n: int, d: int) -> npt.NDArray[np.float64]:
    return rng.integers(0, 2, (n, d)).astype(float)


def integers(rng: np.random.Generator, n: int, d: int) -> npt.NDArray[np.float64]:
    return rng.integers(1, 5, (n, d)).astype(float)


def far_from_origin(rng: np.random.Generator, n: int, d: int) -> npt.NDArray[np.float64]:
    return rng.normal(size=(n, d)) + 1e7


def tight_clusters(rng: np.random.Generator, n: int, d: int) -> npt.NDArray[np.float64]:
    return rng.integers(0, 3, (n, 1)) + 1e-6 * rng.normal(size=(n, d))


def with_outliers(rng: np.random.Generator, n: int, d: int) -> npt.NDArray[np.float64]:
    X = rng.normal(size=(n, d))
    X[1 :: n // 7] *= 1e60  # beyond float32, and not all in the sample of the frame
    return X


def constant(rng: np.random.Generator, n: int, d: int) -> npt.NDArray[np.float64]:
    return np.full((n, d), 0.1)


@pytest.mark.parametrize("d", [1, 40])
@pytest.mark.parametrize(
    "make", [tied, integers, far_from_origin, tight_clusters, with_outliers, constant]
)
def test_several_tiles_and_kinds_of_data(make: Any, d: int) -> None:
    rng = np.random.default_rng(d)
    X = make(rng, 5000, d)
    labels = rng.integers(0, 3, len(X))
    labels[17] = 3  # a singleton class
    anchors = np.concatenate([[17], rng.permutation(len(X))[:70]])
    anchors = anchors[np.sort(np.unique(anchors, return_index=True)[1])]
    check(X, labels, anchors, (3, 5))


def test_more_features_than_samples_and_two_samples() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 700))
    check(X, rng.integers(0, 2, 30), np.arange(30), (2, 2))
    check(X[:2], np.array([0, 1]), np.arange(2), (1, 1))
    check(X[:2], np.array([0, 0]), np.arange(2), (1, 1))


def test_float32_read_only_and_strided_samples_give_the_lists_of_their_float64_copy() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(600, 24)).astype(np.float32)
    labels, anchors = rng.integers(0, 4, 300), np.arange(0, 300, 3)
    expected = plain_search(X[::2, 1::2], labels, anchors, 2, 3)
    X.flags.writeable = False
    labels.flags.writeable = False
    anchors.flags.writeable = False
    kinds: list[npt.NDArray[Any]] = [
        X[::2, 1::2],
        np.asfortranarray(X[::2, 1::2]),
        X[::2, 1::2].astype(np.float64),
    ]
    for given_X in kinds:
        got = nearest_same_and_other(given_X, labels, anchors, n_same=2, n_other=3)
        assert_same_lists(got, expected)


def test_lists_do_not_depend_on_the_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    X = rng.integers(0, 3, (9000, 12)).astype(float)
    labels, anchors = rng.integers(0, 3, 9000), np.arange(0, 9000, 2)
    results = []
    for n_threads in ("1", "2"):
        monkeypatch.setenv("CALIPERS_NUM_THREADS", n_threads)
        results.append(nearest_same_and_other(X, labels, anchors, n_same=2, n_other=2))
    assert_same_lists(*results)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("d", [2, 100])
def test_error_bound_holds_for_products_in_either_type(dtype: type, d: int) -> None:
    rng = np.random.default_rng(d)
    X = rng.normal(size=(300, d)) * rng.choice([1e-3, 1.0, 50.0], size=(300, 1)) + 5.0
    X[::3] = X[1::3] + 1e-7 * rng.normal(size=X[::3].shape)
    block = _Block(Anchors(X, np.zeros(300, np.intp), np.arange(300)), 1, 1)
    block.take_products_in(dtype)
    placed, _ = block.place(X)
    norms = (placed.astype(np.float64) ** 2).sum(axis=1)
    form = norms[:, None] + norms - 2 * (placed @ placed.T).astype(np.float64)
    squared = ((X[:, None] - X) ** 2).sum(axis=2)
    bound = error_bound(d, dtype) * (norms[:, None] + norms)
    assert (np.abs(form - squared) <= bound + 1e-30).all()


@pytest.mark.parametrize("scale", [1e-30, 1e-19, 1e18, 1e25, 1e100])
def test_samples_beyond_the_range_of_float32(scale: float) -> None:
    rng = np.random.default_rng(9)
    X = rng.normal(size=(2000, 3))
    X[[1, 2, 3]] *= 40.0  # whose products alone may overflow
    check(scale * X, rng.integers(0, 2, 2000), np.arange(50), (2, 2))


def test_tight_clusters_turn_to_float64_products() -> None:
    rng = np.random.default_rng(4)
    X = tight_clusters(rng, 6000, 20)
    labels = np.zeros(6000, np.intp)
    block = _Block(Anchors(X[:100], labels[:100], np.arange(100)), 1, 0)
    assert block.dtype is np.float32
    block.offer(X, labels, 0)
    assert block.dtype is np.float64


@pytest.mark.parametrize(("n", "d", "most_megabytes"), [(60_000, 50, 20), (3_000, 2_000, 90)])
def test_memory_beyond_the_data_is_bounded(
    n: int, d: int, most_megabytes: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CALIPERS_NUM_THREADS", "2")
    rng = np.random.default_rng(5)
    X = rng.normal(size=(n, d))  # 24 or 48 MB; all distances would take 960 or 48 MB
    labels, anchors = rng.integers(0, 5, len(X)), np.arange(2000)
    tracemalloc.start()
    nearest_same_and_other(X, labels, anchors, n_same=1, n_other=1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < most_megabytes * 1e6


@given(
    hnp.arrays(np.intp, st.tuples(st.integers(0, 6), st.integers(1, 7)), elements=st.integers(0, 3))
)
def test_most_votes_win_and_the_nearest_breaks_ties(labels: IndexArray) -> None:
    for classes, winner in zip(labels.tolist(), vote(labels).tolist(), strict=True):
        most = max(classes.count(c) for c in classes)
        assert winner == next(c for c in classes if classes.count(c) == most)
