"""Ranks and scores, compared with sorting everything."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from calipers.data import memmap
from calipers.search import ranking
from calipers.search.ranking import QueryScores, hardest, ranks
from calipers.search.vectors import Vectors, unit


def case(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    queries = unit(rng.normal(size=(30, 5)), "queries")
    documents = unit(rng.normal(size=(70, 5)), "documents")
    documents[40:50] = documents[:10]  # documents that are the same
    pairs = np.argwhere(rng.random((30, 70)) < 0.05)
    return queries, documents, pairs


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("block", [7, 2**21])
def test_ranks_are_those_of_a_stable_sort(
    seed: int, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memmap, "BLOCK_ELEMENTS", block)
    monkeypatch.setattr(ranking, "_QUERIES_PER_CHUNK", 8)
    queries, documents, pairs = case(seed)
    products = np.round(queries.astype(np.float64) @ documents.T, 5)
    order = np.argsort(-products, axis=1, kind="stable")
    expected = [int(np.flatnonzero(order[q] == d)[0]) + 1 for q, d in pairs]
    assert ranks(queries, pairs, Vectors(documents, "documents")).tolist() == expected


def test_documents_are_mapped_before_they_are_ranked() -> None:
    queries, documents, pairs = case(0)
    matrix = np.random.default_rng(1).normal(size=(5, 5))
    mapped = unit(documents @ matrix.T, "documents")
    there = ranks(queries, pairs, Vectors(mapped, "documents"))
    assert np.array_equal(ranks(queries, pairs, Vectors(documents, "documents"), matrix), there)


def test_scores_by_their_definitions() -> None:
    rank = np.array([2, 11, 300, 1])
    scores = QueryScores.of(np.array([[0, 5], [0, 6], [0, 7], [3, 1]]), rank)
    best = 1 + 1 / np.log2(3) + 1 / np.log2(4)
    expected = [[1 / np.log2(3) / best, 1 / 3, 2 / 3, 1 / 2], [1, 1, 1, 1]]
    assert scores.queries.tolist() == [0, 3]
    assert np.allclose(scores.values, expected)


def test_hard_negatives_are_the_nearest_that_are_not_relevant() -> None:
    queries, documents, pairs = case(0)
    products = queries @ documents.T
    products[tuple(pairs.T)] = -2
    found = hardest(queries, documents, pairs, 4)
    for query, own in enumerate(found):
        assert set(products[query, own]) == set(np.sort(products[query])[-4:])


def test_negatives_do_not_keep_what_they_were_chosen_from() -> None:
    vectors = np.random.default_rng(0).normal(size=(2000, 4)).astype(np.float32)
    each = np.column_stack([np.arange(1500), np.arange(1500)])
    tracemalloc.start()
    try:
        hardest(vectors[:1500], vectors, each, 5)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 1500 * 2000 * 8  # bytes of all orders together
