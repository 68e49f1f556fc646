"""Retrieval scores against a slow and obviously right version."""

from __future__ import annotations

from math import log2
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from calipers.evaluation import retrieval_scores


def plain_scores(
    documents: Any, queries: Any, relevant: set[tuple[int, int]], k: int, *, own: bool
) -> list[float]:
    """Precision, recall, average precision and nDCG, one query and document at a time."""
    table: list[list[float]] = []
    for q, query in enumerate(queries):
        others = [j for j in range(len(documents)) if not (own and j == q)]
        order = sorted(others, key=lambda j: (float(((documents[j] - query) ** 2).sum()), j))
        hits = [(q, j) in relevant for j in order]
        if not any(hits):
            continue
        places = [place for place, hit in enumerate(hits, 1) if hit]
        precisions = [sum(hits[:place]) / place for place in places]
        best = sum(1 / log2(place + 1) for place in range(1, len(places) + 1))
        gain = sum(1 / log2(place + 1) for place in places)
        first = sum(hits[:k])
        table.append([first / k, first / len(places), float(np.mean(precisions)), gain / best])
    return np.mean(table, axis=0).tolist() if table else []


def as_list(scores: Any) -> list[float]:
    return [
        scores.precision_at_k,
        scores.recall_at_k,
        scores.mean_average_precision,
        scores.ndcg,
    ]


@given(
    st.integers(0, 2**32 - 1),
    st.integers(2, 90),
    st.integers(1, 90),
    st.booleans(),
    st.integers(1, 4),
)
def test_by_label_as_the_plain_version(
    seed: int, n: int, m: int, own: bool, n_classes: int
) -> None:
    rng = np.random.default_rng(seed)
    documents = rng.integers(4, size=(n, 2)).astype(float)  # whole numbers, so with many ties
    queries = documents if own else rng.integers(4, size=(m, 2)).astype(float)
    of_documents, of_queries = rng.integers(n_classes, size=n), rng.integers(n_classes, size=m)
    if own:
        of_queries = of_documents
    relevant = {
        (q, j)
        for q in range(len(queries))
        for j in range(n)
        if of_queries[q] == of_documents[j] and not (own and q == j)
    }
    k = int(rng.integers(1, n - own + 1))
    expected = plain_scores(documents, queries, relevant, k, own=own)
    how: dict[str, Any] = {"labels": of_documents, "k": k}
    if not own:
        how["query_labels"] = of_queries
    if not expected:
        with pytest.raises(ValueError, match="No query has a relevant document"):
            retrieval_scores(documents, None if own else queries, **how)
        return
    found = retrieval_scores(documents, None if own else queries, **how)
    np.testing.assert_allclose(as_list(found), expected, rtol=1e-12)


@given(st.integers(0, 2**32 - 1), st.integers(1, 30))
def test_by_pairs_as_the_plain_version(seed: int, n_pairs: int) -> None:
    rng = np.random.default_rng(seed)
    documents, queries = rng.normal(size=(20, 3)), rng.normal(size=(70, 3))
    pairs = np.column_stack([rng.integers(70, size=n_pairs), rng.integers(20, size=n_pairs)])
    relevant = {(int(q), int(j)) for q, j in pairs}
    expected = plain_scores(documents, queries, relevant, 4, own=False)
    found = retrieval_scores(documents, queries, pairs=pairs, k=4)
    np.testing.assert_allclose(as_list(found), expected, rtol=1e-12)
    assert found.n_queries == len({q for q, _ in relevant})


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ({}, "Give either labels or pairs"),
        ({"labels": [0, 1, 0], "pairs": [[0, 1]]}, "Give either labels or pairs"),
        ({"labels": [0, 1]}, "one label for each of 3 documents and 3 queries, got shapes (2,)"),
        ({"labels": [0, 1, 0], "k": 3}, "k must be between 1 and the 2 documents, got 3"),
        ({"pairs": [[0, 3]]}, "index 3 exceeds matrix dimension 3"),
        ({"pairs": [[0.5, 1]]}, "pairs must be integers of shape (n_pairs, 2)"),
    ],
    ids=str,
)
def test_mistakes_get_a_sentence(how: dict[str, Any], expected: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        retrieval_scores(np.eye(3), **({"k": 1} | how))
    assert expected in str(caught.value)
