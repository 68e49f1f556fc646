"""The search against a brute force that sorts all directly summed distances."""

from __future__ import annotations

import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from calipers.arrays import IndexArray
from calipers.data.neighbors._descent import build_tree, evaluated_share, search_in_tree
from calipers.data.neighbors._product import (
    AnchorBlock,
    Anchors,
    Frame,
    error_bound,
    search_by_products,
)
from calipers.data.neighbors.search import nearest_same_and_other

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
    for path in PATHS:
        assert_same_lists(path(X, labels, anchors, n_same=k[0], n_other=k[1]), expected)


def search_by_tree(
    X: npt.NDArray[Any], labels: IndexArray, anchors: IndexArray, *, n_same: int, n_other: int
) -> Lists:
    return search_in_tree(build_tree(X, labels), anchors, n_same=n_same, n_other=n_other)


PATHS = [search_by_products, search_by_tree]

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


@settings(deadline=None, max_examples=300)
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


@pytest.mark.parametrize("d", [1, 3, 10, 40])
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


def test_no_anchors_give_empty_lists() -> None:
    same, other = nearest_same_and_other(
        np.eye(3), np.zeros(3, np.intp), np.array([], np.intp), n_same=2, n_other=1
    )
    assert same.shape == (0, 2)
    assert other.shape == (0, 1)


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
        for path in [nearest_same_and_other, *PATHS]:
            assert_same_lists(path(given_X, labels, anchors, n_same=2, n_other=3), expected)


def test_samples_in_a_memory_map(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(400, 12))
    np.save(tmp_path / "samples.npy", X)
    memmap = np.load(tmp_path / "samples.npy", mmap_mode="r")
    labels, anchors = rng.integers(0, 3, 400), np.arange(50)
    for path in [nearest_same_and_other, *PATHS]:
        got = path(memmap, labels, anchors, n_same=1, n_other=2)
        assert_same_lists(got, plain_search(X, labels, anchors, 1, 2))


@pytest.mark.parametrize("path", PATHS)
def test_lists_do_not_depend_on_the_number_of_threads(
    path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(3)
    X = rng.integers(0, 3, (9000, 12)).astype(float)
    labels, anchors = rng.integers(0, 3, 9000), np.arange(0, 9000, 2)
    results = []
    for n_threads in ("1", "2"):
        monkeypatch.setenv("CALIPERS_NUM_THREADS", n_threads)
        results.append(path(X, labels, anchors, n_same=2, n_other=2))
    assert_same_lists(*results)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("d", [2, 30, 500])
def test_error_bound_holds_for_products_in_either_type(dtype: type, d: int) -> None:
    rng = np.random.default_rng(d)
    X = rng.normal(size=(300, d)) * rng.choice([1e-3, 1.0, 50.0], size=(300, 1)) + 5.0
    X[::3] = X[1::3] + 1e-7 * rng.normal(size=X[::3].shape)
    frame = Frame.of(X)
    placed = frame.place(X, dtype)
    norms = (placed.astype(np.float64) ** 2).sum(axis=1)
    form = norms[:, None] + norms - 2 * (placed @ placed.T).astype(np.float64)
    squared = ((X[:, None] - X) ** 2).sum(axis=2) * frame.scale**2
    bound = error_bound(d, dtype) * (norms[:, None] + norms)
    assert (np.abs(form - squared) <= bound + 1e-30).all()


def test_a_sample_whose_norm_overflows_float32_is_not_ruled_out() -> None:
    X = np.random.default_rng(9).normal(size=(5000, 1))
    scale = Frame.of(X).scale
    X[[1, 2, 3], 0] = np.array([0.3e19, -1.35e19, 1.9e19]) / scale  # 1.9e19 ** 2 overflows
    assert Frame.of(X).scale == scale  # the frame was not computed from these
    labels = np.zeros(5000, np.intp)
    labels[[1, 2, 3]] = 1
    check(X, labels, np.array([1, 2, 3]), (1, 1))


def test_tight_clusters_turn_to_float64_products() -> None:
    rng = np.random.default_rng(4)
    X = tight_clusters(rng, 6000, 20)
    labels = np.zeros(6000, np.intp)
    anchors = Anchors(X[:100], labels[:100], np.arange(100))
    block = AnchorBlock(anchors, Frame.of(X), (1, 0))
    assert block.dtype is np.float32
    block.offer_all(X, labels)
    assert block.dtype is np.float64


@pytest.mark.parametrize(("n", "d", "most_megabytes"), [(60_000, 50, 20), (6_000, 2_000, 90)])
def test_memory_beyond_the_data_is_bounded(
    n: int, d: int, most_megabytes: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CALIPERS_NUM_THREADS", "2")
    rng = np.random.default_rng(5)
    X = rng.normal(size=(n, d))  # 24 or 96 MB; all distances would take 960 or 96 MB
    labels, anchors = rng.integers(0, 5, len(X)), np.arange(2000)
    search_by_products(X[:3000], labels[:3000], anchors[:50], n_same=1, n_other=1)  # compile
    tracemalloc.start()
    search_by_products(X, labels, anchors, n_same=1, n_other=1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < most_megabytes * 1e6


def test_tree_is_used_only_where_few_samples_are_evaluated(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(6)
    labels, anchors = rng.integers(0, 3, 4000), rng.permutation(4000)[:2500]
    used = []

    def record(name: str, path: Any) -> None:
        def recorded(*args: Any, **sizes: int) -> Any:
            used.append(name)
            return path(*args, **sizes)

        monkeypatch.setattr(f"calipers.data.neighbors.search.{name}", recorded)

    record("search_in_tree", search_in_tree)
    record("search_by_products", search_by_products)
    for X in (rng.normal(size=(4000, 3)), rng.normal(size=(4000, 25))):
        got = nearest_same_and_other(X, labels, anchors, n_same=1, n_other=2)
        assert_same_lists(got, plain_search(X, labels, anchors, 1, 2))
    nearest_same_and_other(X[:, :3], labels, anchors[:100], n_same=1, n_other=2)
    assert used == ["search_in_tree", "search_by_products", "search_by_products"]


def test_share_evaluated_grows_with_the_dimension() -> None:
    rng = np.random.default_rng(7)
    labels = rng.integers(0, 70, 3000)  # more classes than a node has bits for
    shares = [
        evaluated_share(build_tree(rng.normal(size=(3000, d)), labels), 1, 1) for d in (1, 4, 16)
    ]
    assert shares[0] < shares[1] < shares[2]
    assert evaluated_share(build_tree(np.eye(3000, 2), labels), 0, 0) == 0


def test_tree_with_more_classes_than_bits() -> None:
    rng = np.random.default_rng(8)
    X = rng.integers(0, 6, (3000, 4)).astype(float)
    check(X, rng.integers(0, 150, 3000), rng.permutation(3000)[:200], (2, 2))
