"""Ranks and scores, compared with sorting everything."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from calipers.search import ranking
from calipers.search.query_map import unit_vectors
from calipers.search.ranking import Vectors, hardest, measures, nearest_documents, ranks


def unit(vectors: np.ndarray) -> np.ndarray:
    return unit_vectors(vectors, "vectors", range(len(vectors)), np.float32)


def case(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    queries = unit(rng.normal(size=(30, 5)))
    documents = unit(rng.normal(size=(70, 5)))
    documents[40:50] = documents[:10]  # documents that are the same
    pairs = np.argwhere(rng.random((30, 70)) < 0.05)
    return queries, documents, pairs


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("block", [7, 2**21])
def test_ranks_are_those_of_a_stable_sort(
    seed: int, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("calipers.data.samples.BLOCK_ELEMENTS", block)
    monkeypatch.setattr(ranking, "_QUERIES_AT_ONCE", 8)
    queries, documents, pairs = case(seed)
    products = np.round(queries.astype(np.float64) @ documents.T, 5)
    order = np.argsort(-products, axis=1, kind="stable")
    expected = [int(np.flatnonzero(order[q] == d)[0]) + 1 for q, d in pairs]
    assert ranks(queries, pairs, Vectors(documents, "documents")).tolist() == expected


def test_documents_are_mapped_before_they_are_ranked() -> None:
    queries, documents, pairs = case(0)
    matrix = np.random.default_rng(1).normal(size=(5, 5))
    mapped = unit(documents @ matrix.T)
    there = ranks(queries, pairs, Vectors(mapped, "documents"))
    assert np.array_equal(ranks(queries, pairs, Vectors(documents, "documents"), matrix), there)


def test_scores_by_their_definitions() -> None:
    rank = np.array([2, 11, 300, 1])
    scores = measures(np.array([[0, 5], [0, 6], [0, 7], [3, 1]]), rank)
    best = 1 + 1 / np.log2(3) + 1 / np.log2(4)
    expected = [[1 / np.log2(3) / best, 1 / 3, 2 / 3, 1 / 2], [1, 1, 1, 1]]
    assert np.allclose(scores, expected)


def test_hard_negatives_are_the_nearest_that_are_not_relevant() -> None:
    queries, documents, pairs = case(0)
    products = queries @ documents.T
    products[tuple(pairs.T)] = -2
    found = hardest(queries, documents, pairs, 4)
    for query, own in enumerate(found):
        assert set(products[query, own]) == set(np.sort(products[query])[-4:])


@pytest.mark.parametrize("block", [24, 2**21])
def test_the_nearest_documents_are_those_of_sorting(
    block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("calipers.data.samples.BLOCK_ELEMENTS", block)
    rng = np.random.default_rng(0)
    queries, documents = rng.standard_normal((7, 6)), rng.standard_normal((50, 6))
    cosines = queries @ (documents / np.linalg.norm(documents, axis=1, keepdims=True)).T
    order = np.argsort(-cosines, axis=1)
    found = nearest_documents(queries, documents, 5, without=order[:, 1])
    np.testing.assert_array_equal(found, order[:, [0, 2, 3, 4, 5]])


def test_documents_may_be_half_precision_on_disk(tmp_path: Path) -> None:
    np.save(tmp_path / "d.npy", np.random.default_rng(0).normal(size=(50, 5)).astype(np.float16))
    mapped = np.load(tmp_path / "d.npy", mmap_mode="r")
    vectors = Vectors(mapped, "documents")
    assert isinstance(vectors.source, np.memmap)
    expected = unit(np.array(mapped))
    np.testing.assert_array_equal(np.vstack([block for _, block in vectors.blocks()]), expected)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (np.array([[1.0, 0.0], [0.0, 0.0]]), r"documents\[1\] is zero, so it has no direction"),
        (np.array([[1.0, 0.0], [0.0, np.nan]]), r"documents\[1\] has values that are not finite"),
        (np.ones(3), "Expected 2D array"),
        ([["a", "b"]], "not compatible with arrays of bytes/strings"),
        (np.ones((2, 3)) * 1j, "Complex data not supported"),
    ],
)
def test_what_is_no_table_of_embeddings_is_refused(given: object, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        Vectors(given, "documents").take(np.array([0, 1]))  # type: ignore[arg-type]
