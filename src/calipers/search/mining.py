"""What a map learns from: the queries with a pair, their documents, and hard negatives."""

from __future__ import annotations

from typing import Any

import numpy as np

from calipers.arrays import IndexArray
from calipers.search.learning import Examples
from calipers.search.ranking import hardest
from calipers.search.relevance import Relevance
from calipers.search.vectors import Vectors

N_NEGATIVES = 10  # hard negatives of each query
_MOST_DOCUMENTS = 1 << 16  # among which they are looked for


def mined(
    queries: Vectors,
    documents: Vectors,
    relevance: Relevance,
    negatives: IndexArray | None,
    rng: np.random.Generator,
) -> Examples:
    """Find hard negatives: the nearest documents that no pair gives to the query.

    They are looked for among all documents, or among 65,536 drawn at random if there are more.

    Parameters
    ----------
    queries, documents : Vectors
        All embeddings.
    relevance : Relevance
        Pairs.
    negatives : array of shape (n, 2), optional
        More pairs (query, document), of documents that do not answer the query.
    rng : Generator
        Draws documents.
    """
    given = np.empty((0, 2), dtype=np.intp) if negatives is None else negatives
    own = relevance.queries
    given = given[np.isin(given[:, 0], own)]
    searched: Any = np.arange(len(documents))
    if len(documents) > _MOST_DOCUMENTS:
        searched = rng.choice(len(documents), _MOST_DOCUMENTS, replace=False)
    positions = np.union1d(searched, np.concatenate([relevance.pairs[:, 1], given[:, 1]]))
    table = documents.take(positions)
    pairs, given = (
        np.column_stack([np.searchsorted(own, some[:, 0]), np.searchsorted(positions, some[:, 1])])
        for some in (relevance.pairs, given)
    )
    vectors = queries.take(own)
    places = np.searchsorted(positions, np.sort(searched))
    there = pairs[np.isin(pairs[:, 1], places)]
    there = np.column_stack([there[:, 0], np.searchsorted(places, there[:, 1])])
    found = places[hardest(vectors, table[places], there, N_NEGATIVES)]
    hard = np.column_stack([np.repeat(np.arange(len(own)), found.shape[1]), found.ravel()])
    both = np.concatenate([hard, given])
    both = both[np.argsort(both[:, 0], kind="stable")]
    return Examples(vectors, table, positions, pairs, relevance.weights, both)
