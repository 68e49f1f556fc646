"""Passive-aggressive updates of a bilinear similarity, a span of triplets at a time.

W only changes at an update, so the scores of a span are computed by one matrix product
and *carried* through the changes inside the span: ``W += tau p z'`` adds
``tau (p'p_t)(z'z_t)`` to the score of a later triplet t. W itself is changed once per span.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from calipers.arrays import FloatArray, IndexArray
from calipers.compiled import forget_stale, inner, kernel
from calipers.kernels.algebra import BY_HAND, REORDER, dot, multiply

NIL = 1e-10  # a loss below this share of what the score is made of is rounding


class Block(NamedTuple):
    """Upcoming triplets (p, p+, p-) and what is found about them."""

    anchors: FloatArray  # (n, d): p
    differences: FloatArray  # (n, d): z = p+ - p-
    scores: FloatArray  # (n,), written: p'Wz when it was the triplet's turn
    steps: FloatArray  # (n,), written: tau, 0 where there was no update


@kernel(fastmath=REORDER)
def gather_rows(
    X: FloatArray, triplets: IndexArray, anchors: FloatArray, differences: FloatArray
) -> None:
    """Write ``x_i`` to ``anchors`` and ``x_j - x_k`` to ``differences``."""
    for t in range(len(triplets)):
        i, j, k = triplets[t]
        for a in range(X.shape[1]):
            anchors[t, a] = np.float64(X[i, a])
            differences[t, a] = np.float64(X[j, a]) - np.float64(X[k, a])


@kernel(makes_arrays=True)
def scores_of(W: FloatArray, anchors: FloatArray, differences: FloatArray, out: FloatArray) -> None:
    """``p'Wz`` for every triplet."""
    product = np.empty(anchors.shape)
    multiply(anchors, W, product)
    for t in range(len(anchors)):
        out[t] = dot(product[t], differences[t])


@kernel(makes_arrays=True)
def walk_bilinear(W: FloatArray, block: Block, aggressiveness: float, span: int) -> None:
    """Walk through a block, computing scores for ``span`` triplets at a time.

    ``span = 0``: the block's scores are already those of the present W.
    """
    n = len(block.scores)
    length = n if span == 0 else span
    for first in range(0, n, length):
        part = slice(first, min(n, first + length))
        P, Z = block.anchors[part], block.differences[part]
        scores, steps = block.scores[part], block.steps[part]
        if span > 0:
            scores_of(W, P, Z, scores)
        count = _walk_span(P, Z, scores, steps, aggressiveness)
        if count > 0:
            _change(W, P, Z, steps, count)


@inner(fastmath=REORDER)
def _walk_span(
    P: FloatArray, Z: FloatArray, scores: FloatArray, steps: FloatArray, aggressiveness: float
) -> int:
    """Decide on every triplet of a span; returns the number of updates."""
    count = 0
    for t in range(len(P)):
        steps[t] = 0.0
        loss = 1.0 - scores[t]
        if loss <= 0.0:
            continue
        squared = dot(P[t], P[t]) * dot(Z[t], Z[t])
        if squared == 0.0 or loss <= NIL * max(1.0, np.sqrt(squared)):
            continue
        tau = min(aggressiveness, loss / squared)
        steps[t] = tau
        count += 1
        for s in range(t + 1, len(P)):
            scores[s] += tau * dot(P[t], P[s]) * dot(Z[t], Z[s])
    return count


@inner(fastmath=REORDER, makes_arrays=True)
def _change(W: FloatArray, P: FloatArray, Z: FloatArray, steps: FloatArray, count: int) -> None:
    """``W += sum(tau p z')``."""
    d = len(W)
    if count * d * d < BY_HAND:
        for t in np.flatnonzero(steps):
            for i in range(d):
                factor = steps[t] * P[t, i]
                for j in range(d):
                    W[i, j] += factor * Z[t, j]
        return
    left, right = np.empty((count, d)), np.empty((count, d))
    for k, t in enumerate(np.flatnonzero(steps)):
        for i in range(d):
            left[k, i] = steps[t] * P[t, i]
            right[k, i] = Z[t, i]
    W += np.dot(left.T, right)


forget_stale(walk_bilinear)
