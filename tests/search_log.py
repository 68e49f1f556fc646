"""A search log made up: queries that a rotation takes near the documents that answer them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import expm


class Log(NamedTuple):
    queries: Any
    documents: Any
    pairs: Any


def turned(n: int = 200, d: int = 12, *, angle: float = 0.2, seed: int = 0) -> Log:
    """Every query is its document, turned by one rotation for all, and noise."""
    rng = np.random.default_rng(seed)
    documents = rng.normal(size=(n, d))
    generator = rng.normal(size=(d, d))
    turn = expm(angle * (generator - generator.T))
    queries = documents @ turn + 0.5 * rng.normal(size=(n, d))
    order = rng.permutation(n)
    pairs = np.column_stack([np.argsort(order), np.arange(n)])
    return Log(queries[order].astype(np.float32), documents.astype(np.float32), pairs)


def unrelated(n: int = 200, d: int = 12, *, seed: int = 0) -> Log:
    """Pairs that say nothing."""
    rng = np.random.default_rng(seed)
    documents, queries = rng.normal(size=(2, n, d))
    return Log(queries, documents, np.column_stack([np.arange(n), rng.permutation(n)]))
