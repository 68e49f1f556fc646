"""SPML and the walks that do not project at every update, slow and obviously right."""

from __future__ import annotations

import numpy as np

from calipers.arrays import FloatArray, IndexArray
from reference.plain import loss_slope, outer, project


def plain_spml(
    X: FloatArray, triplets: IndexArray, *, ridge: float, margin: float, batch_size: int
) -> tuple[FloatArray, FloatArray]:
    """The last iterate and the mean of all before it."""
    M = np.eye(X.shape[1])
    total = np.zeros_like(M)
    n = len(triplets) // batch_size
    for t in range(1, n + 1):
        total += M
        A = [outer(X, triplet) for triplet in triplets[(t - 1) * batch_size : t * batch_size]]
        violated = [a for a in A if np.sum(M * a) <= margin]
        M = (1.0 - 1.0 / t) * M + sum(violated, np.zeros_like(M)) / (ridge * t)
        M = project(M, np.inf)
    return M, total / n


def _mean_gradient(M: FloatArray, X: FloatArray, batch: IndexArray, L: float) -> FloatArray:
    A = [outer(X, triplet) for triplet in batch]
    return np.asarray(-np.mean([loss_slope(float(np.sum(M * a)), L) * a for a in A], axis=0))


def plain_now_and_then(
    X: FloatArray, triplets: IndexArray, *, batch_size: int, eta: float, R: float, period: int
) -> tuple[FloatArray, FloatArray]:
    """The last iterate and the mean of all before it, neither projected yet."""
    M = np.eye(X.shape[1])
    total = np.zeros_like(M)
    n = len(triplets) // batch_size
    for t in range(1, n + 1):
        total += M
        batch = triplets[(t - 1) * batch_size : t * batch_size]
        M = M - eta * _mean_gradient(M, X, batch, 3.0)
        M = project(M, R) if t % period == 0 else M / max(float(np.linalg.norm(M)) / R, 1.0)
    return M, total / n


def plain_once(
    X: FloatArray,
    triplets: IndexArray,
    *,
    batch_size: int,
    eta: float,
    L: float,
    R: float,
    damping: float,
) -> tuple[FloatArray, FloatArray]:
    """The last iterate and the mean of all before it, neither projected yet."""
    M = np.eye(X.shape[1])
    total, dual = np.zeros_like(M), 0.0
    n = len(triplets) // batch_size
    for t in range(n):
        total += M
        step = eta * _mean_gradient(M, X, triplets[t * batch_size : (t + 1) * batch_size], L)
        values, vectors = np.linalg.eigh(M)
        missing = max(0.0, -values[0]) if values[0] < -1e-13 * np.linalg.norm(M) else 0.0
        if missing > 0.0:
            step = step - eta * dual * np.outer(vectors[:, 0], vectors[:, 0])
        dual = max(0.0, (1.0 - damping) * dual + eta * missing)
        M = M - step
        M = M / max(float(np.linalg.norm(M)) / R, 1.0)
    return M, total / n


def plain_never(
    X: FloatArray, triplets: IndexArray, *, batch_size: int, L: float, trace: float
) -> tuple[FloatArray, FloatArray]:
    """The last iterate and the mean of all before it."""
    M = np.eye(X.shape[1])
    total, gradients = np.zeros_like(M), np.zeros_like(M)
    n = len(triplets) // batch_size
    for t in range(1, n + 1):
        total += M
        gradients += _mean_gradient(M, X, triplets[(t - 1) * batch_size : t * batch_size], L)
        values, vectors = np.linalg.eigh(gradients)
        share = 1.0 / np.sqrt(1.0 + t)
        M = (1.0 - share) * M
        if values[0] < 0.0:
            M = M + share * trace * np.outer(vectors[:, 0], vectors[:, 0])
    return M, total / n
