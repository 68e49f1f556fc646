"""The paper's algorithms in numbers of fifty digits: what the solver would find without rounding.

As `plain`, but nothing is rounded to speak of, so that it also judges `plain`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from mpmath import mp

from calipers.arrays import FloatArray, IndexArray

mp.dps = 50


def projected(M: Any, radius: float) -> Any:
    """Onto the cone, then into the ball."""
    values, Q = mp.eigsy(M)
    kept = mp.diag([max(value, mp.mpf(0)) for value in values])
    M = Q * kept * Q.T
    norm = mp.mnorm(M, "f")
    return M * (radius / norm) if norm > radius else M


def exact_walk(
    X: FloatArray,
    triplets: IndexArray,
    method: str,
    *,
    uniforms: FloatArray,
    picks: IndexArray,
    batch_size: int,
    eta: float,
    L: float,
    R: float,
    W: float,
) -> tuple[FloatArray, FloatArray, list[bool]]:
    """Average, last iterate and decisions."""
    d = X.shape[1]
    rows = [mp.matrix([mp.mpf(float(x)) for x in row]) for row in X]
    M, total = mp.eye(d), mp.zeros(d)
    b = 1 if method in ("sgd", "as-sgd") else batch_size
    accepted = []
    for t in range(len(triplets) // b):
        total += M
        parts = [_outer(rows, triplet) for triplet in triplets[t * b : (t + 1) * b]]
        slopes = [1 / (1 + mp.exp(L * (_inner(M, part) - 1))) for part in parts]
        step = mp.zeros(d)
        for slope, part in zip(slopes, parts, strict=True):
            step += slope * part / b
        chance = {
            "as-sgd": slopes[0],
            "hr-sgd": slopes[int(picks[t]) if b > 1 else 0],
            "ha-sgd": min(mp.mpf(1), mp.mnorm(step, "f") / W),
        }.get(method, mp.mpf(1))
        accepted.append(bool(mp.mpf(float(uniforms[t])) < chance))
        if accepted[-1]:
            M = projected(M + eta / chance * step, R)
    return as_array(total / len(accepted)), as_array(M), accepted


def _outer(rows: list[Any], triplet: IndexArray) -> Any:
    i, j, k = triplet
    far, near = rows[i] - rows[k], rows[i] - rows[j]
    return far * far.T - near * near.T


def _inner(A: Any, B: Any) -> Any:
    return mp.fsum(A[i, j] * B[i, j] for i in range(A.rows) for j in range(A.cols))


def as_array(M: Any) -> FloatArray:
    """Rounded to float64."""
    return np.array(M.tolist(), dtype=float).reshape(M.rows, M.cols)
