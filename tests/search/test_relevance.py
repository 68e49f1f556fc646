"""Pairs as users give them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from calipers.search.relevance import read_relevance

SHAPE = (6, 5)


def test_weights_of_the_same_pair_add_up_and_weights_of_0_leave_out() -> None:
    pairs = [[3, 1], [0, 4], [3, 1], [2, 2]]
    found = read_relevance(pairs, SHAPE, sample_weight=[1.0, 2.0, 0.5, 0.0])
    assert found.queries.tolist() == found.names == [0, 3]
    assert found.pairs.tolist() == [[0, 4], [1, 1]]
    assert found.weights.tolist() == [2.0, 1.5]


def test_ids_of_two_kinds_stay_apart() -> None:
    ids = [*"abcdef"], np.array([7, 8, 9, 10, 11])
    found = read_relevance([("b", 9), ("a", 7)], SHAPE, ids)
    assert (found.names, found.pairs.tolist()) == (["a", "b"], [[0, 0], [1, 2]])


@pytest.mark.parametrize(
    ("pairs", "how", "message"),
    [
        ([[0, 0], [1, 9]], {}, r"pairs\[1\] names the document 9, which is not among the 5: count"),
        ([[-1, 2]], {}, r"pairs\[0\] names the query -1, which is not among the 6"),
        ([0, 1], {}, r"pairs must have shape \(n_pairs, 2\)"),
        ([["a", "b"]], {}, r"pairs\[0\] names the query 'a', .*: count from 0, or give ids"),
        ([[0.0, 1.0]], {}, r"pairs\[0\] names the query 0.0, which is not"),
        (np.empty((0, 2)), {}, "pairs is empty"),
        (
            [["x", 1]],
            {"ids": (list("bcdefg"), None)},
            "names the query 'x', which is .*: leave the pair out",
        ),
        ([[0, 1]], {"ids": (list("aacdef"), None)}, "each query, 6, got 6 of which 5 differ"),
        ([[0, 1]], {"ids": (None, [1, 2])}, "each document, 5, got 2 of which 2"),
        ([[0, 0]], {"sample_weight": [-1]}, "Negative values in data passed to `sample_weight`"),
        ([[0, 0]], {"sample_weight": ["often"]}, "could not convert string to float"),
        ([[0, 0]], {"sample_weight": [0.0]}, "must contain at least one non-zero number"),
    ],
)
def test_mistakes_are_told(pairs: Any, how: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_relevance(pairs, SHAPE, **how)


def test_a_table_needs_the_names_of_its_columns() -> None:
    pd = pytest.importorskip("pandas")
    with pytest.raises(ValueError, match="pairs must have the columns 'query' and 'document', got"):
        read_relevance(pd.DataFrame({"query": [0], "answer": [0]}), SHAPE)
