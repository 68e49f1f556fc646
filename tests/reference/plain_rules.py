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
    gamma: float,
) -> tuple[FloatArray, FloatArray]:
    """Mahdavi et al.: the last iterate and the mean of all before it, neither projected yet."""
    M = np.eye(X.shape[1])
    total, dual = np.zeros_like(M), 0.0
    n = len(triplets) // batch_size
    for t in range(n):
        total += M
        gradient = _mean_gradient(M, X, triplets[t * batch_size : (t + 1) * batch_size], L)
        values, vectors = np.linalg.eigh(M)
        g, of_g = -values[0], -np.outer(vectors[:, 0], vectors[:, 0])
        M = M - eta * (gradient + dual * of_g)
        M = M / max(float(np.linalg.norm(M)) / R, 1.0)
        dual = max(0.0, (1.0 - gamma * eta) * dual + eta * g)
    return M, total / n


def plain_never(
    X: FloatArray,
    triplets: IndexArray,
    *,
    batch_size: int,
    L: float,
    trace: float,
    lipschitz: float,
) -> tuple[FloatArray, FloatArray]:
    """Hazan and Kale: the last iterate and the mean of all before it."""
    first = M = np.eye(X.shape[1])
    total, gradients = np.zeros_like(M), np.zeros_like(M)
    n = len(triplets) // batch_size
    for t in range(1, n + 1):
        total += M
        gradients += _mean_gradient(M, X, triplets[(t - 1) * batch_size : t * batch_size], L)
        sigma = lipschitz / (np.sqrt(2.0) * trace) * t**-0.25
        values, vectors = np.linalg.eigh(gradients / t + 2.0 * sigma * (M - first))
        q = vectors[:, 0]
        lowest = trace * np.outer(q, q) if values[0] < 0.0 else np.zeros_like(M)
        M = (1.0 - t**-0.5) * M + t**-0.5 * lowest
    return M, total / n
