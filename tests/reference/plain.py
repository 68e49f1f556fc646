"""The paper's algorithms, slow and obviously right.

One batch at a time, d x d matrices formed, a full eigendecomposition at every update,
every iterate added to the average. The real solver must walk the same way.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calipers.arrays import FloatArray, IndexArray


@dataclass
class PlainWalk:
    average: FloatArray
    last: FloatArray
    accepted: list[bool]
    losses: list[float]
    slopes: list[float]


def loss_value(margin: float, L: float) -> float:
    return float(np.logaddexp(0.0, -L * (margin - 1.0)) / L)


def loss_slope(margin: float, L: float) -> float:
    exponent = L * (margin - 1.0)
    return float(1.0 / (1.0 + np.exp(min(exponent, 700.0))))


def project(M: FloatArray, R: float) -> FloatArray:
    values, vectors = np.linalg.eigh((M + M.T) / 2)
    M = (vectors * np.maximum(values, 0.0)) @ vectors.T
    return M / max(float(np.linalg.norm(M)) / R, 1.0)


def outer(X: FloatArray, triplet: IndexArray) -> FloatArray:
    i, j, k = triplet
    far, near = X[i] - X[k], X[i] - X[j]
    return np.outer(far, far) - np.outer(near, near)


def outer_norms(far: FloatArray, near: FloatArray) -> FloatArray:
    """Frobenius norm of ``far far' - near near'`` for each triplet, from the matrices."""
    matrices = far[:, :, None] * far[:, None] - near[:, :, None] * near[:, None]
    return np.asarray(np.linalg.norm(matrices, axis=(1, 2)))


def brought_back(X: FloatArray, triplets: IndexArray, reach: float) -> float:
    """Factor of the squared differences of an anchor whose far rows are beyond reach."""
    squared = np.mean([np.sum((X[i] - X[k]) ** 2) for i, _, k in triplets])
    return min(1.0, reach**2 / float(squared)) if squared > 0 else 1.0


def plain_walk(
    X: FloatArray,
    triplets: IndexArray,
    method: str,
    *,
    uniforms: FloatArray,
    picks: IndexArray | None = None,
    batch_size: int = 10,
    eta: float = 1.0,
    L: float = 3.0,
    R: float = 1000.0,
    W: float | None = None,
    tau_max: float = np.inf,
    batch_sum: bool = False,
    start: float = 1.0,
    crossed: int = 1,
    reach: float = np.inf,
) -> PlainWalk:
    """Walk through the triplets; ``W=None`` means the largest gradient norm so far."""
    b = 1 if method in ("sgd", "as-sgd") else batch_size
    M = start * np.eye(X.shape[1])
    total, largest = np.zeros_like(M), 0.0
    walk = PlainWalk(M, M, [], [], [])
    for t in range(len(triplets) // b):
        total += M
        batch = triplets[t * b : (t + 1) * b]
        anchors = [batch[s : s + crossed**2] for s in range(0, b, crossed**2)]
        A = [
            brought_back(X, anchor, reach) * outer(X, triplet)
            for anchor in anchors
            for triplet in anchor
        ]
        margins = [float(np.sum(M * a)) for a in A]
        slopes = [loss_slope(margin, L) for margin in margins]
        gradient = -sum(s * a for s, a in zip(slopes, A, strict=True)) / b
        if method in ("sgd", "mini-sgd"):
            gamma = 1.0
        elif method == "as-sgd":
            gamma = slopes[0]
        elif method == "hr-sgd":
            assert picks is not None
            gamma = slopes[picks[t]]
        else:
            norm = float(np.linalg.norm(gradient))
            largest = max(largest, norm) if W is None else W
            gamma = min(1.0, norm / largest) if largest > 0 else 0.0
        seen = [picks[t]] if method == "hr-sgd" and picks is not None else range(b)
        walk.losses.append(float(np.mean([loss_value(margins[s], L) for s in seen])))
        walk.slopes.append(float(np.mean([slopes[s] for s in seen])))
        walk.accepted.append(bool(uniforms[t] < gamma))
        if walk.accepted[-1]:
            tau = min(1.0 / gamma, tau_max)
            M = project(M - eta * tau * (b if batch_sum else 1.0) * gradient, R)
    walk.average, walk.last = total / max(1, len(walk.accepted)), M
    return walk
