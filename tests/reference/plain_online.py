"""OASIS, LEGO and ITML, slow and obviously right: one triplet or pair at a time."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from calipers.arrays import FloatArray, IndexArray
from reference.plain import project


@dataclass
class PlainRun:
    matrix: FloatArray
    updated: list[bool] = field(default_factory=list)
    values: list[float] = field(default_factory=list)  # loss, or squared distance, at its turn


def plain_oasis(X: FloatArray, triplets: IndexArray, C: float = 0.1) -> PlainRun:
    run = PlainRun(np.eye(X.shape[1]))
    for i, j, k in triplets:
        V = np.outer(X[i], X[j] - X[k])
        loss = max(0.0, 1.0 - float(np.sum(run.matrix * V)))
        norm = float(np.linalg.norm(V))
        run.values.append(loss)
        run.updated.append(norm > 0 and loss > 1e-10 * max(1.0, norm))
        if run.updated[-1]:
            run.matrix = run.matrix + min(C, loss / norm**2) * V
    return run


def plain_oasis_distance(X: FloatArray, triplets: IndexArray, C: float = 0.1) -> PlainRun:
    """The same steps on squared distances, each followed by the projection onto the cone."""
    run = PlainRun(np.eye(X.shape[1]))
    for i, j, k in triplets:
        A = np.outer(X[i] - X[k], X[i] - X[k]) - np.outer(X[i] - X[j], X[i] - X[j])
        loss = max(0.0, 1.0 - float(np.sum(run.matrix * A)))
        norm = float(np.linalg.norm(A))
        run.updated.append(norm > 0 and loss > 1e-10 * max(1.0, norm))
        if run.updated[-1]:
            run.matrix = project(run.matrix + min(C, loss / norm**2) * A, np.inf)
    return run


def pairs_of(triplets: IndexArray) -> IndexArray:
    return np.array([pair for i, j, k in triplets for pair in ((i, j, 1), (i, k, -1))])


def lego_root(yhat: float, y: float, eta: float) -> float:
    """Positive root of eta yhat w^2 + (1 - eta y yhat) w - yhat."""
    q = eta * y * yhat - 1.0
    s = float(np.hypot(q, 2.0 * np.sqrt(eta) * yhat))
    return (q + s) / (2.0 * eta * yhat) if q >= 0.0 else 2.0 * yhat / (s - q)


def usual(A: FloatArray, z: FloatArray) -> float:
    return float(np.trace(A)) / len(A) * float(z @ z)


def plain_lego(
    X: FloatArray, pairs: IndexArray, *, near: float, far: float, eta: float = 1.0
) -> PlainRun:
    """``near`` and ``far`` are squared distances."""
    run = PlainRun(np.eye(X.shape[1]))
    for a, b, sign in pairs:
        z, A = X[a] - X[b], run.matrix
        yhat = float(z @ A @ z)
        y = near if sign > 0 else far
        run.values.append(yhat)
        violated = yhat > near if sign > 0 else yhat < far
        run.updated.append(violated and yhat > 1e-12 * max(1.0, usual(A, z)))
        if run.updated[-1]:
            ybar = lego_root(yhat, y, eta)
            run.matrix = A - (yhat - ybar) / yhat**2 * np.outer(A @ z, A @ z)
    return run


@dataclass
class PlainItml:
    M: FloatArray
    duals: FloatArray
    slacks: FloatArray
    updated: list[bool] = field(default_factory=list)
    changes: list[float] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)


def plain_itml(
    X: FloatArray, pairs: IndexArray, *, near: float, far: float, gamma: float, passes: int
) -> PlainItml:
    duals = np.zeros(len(pairs))
    slacks = np.where(pairs[:, 2] > 0, near, far)
    run = PlainItml(np.eye(X.shape[1]), duals, slacks)
    for _ in range(passes):
        before, loss = duals.copy(), 0.0
        for c, (a, b, sign) in enumerate(pairs):
            z, M = X[a] - X[b], run.M
            p = float(z @ M @ z)
            loss += max(0.0, p / near - 1 if sign > 0 else 1 - p / far) / len(pairs)
            if p <= 1e-12 * usual(M, z):
                run.updated.append(False)
                continue
            if sign > 0:
                alpha = min(duals[c], gamma / (gamma + 1) * (1 / p - 1 / slacks[c]))
                beta = alpha / (1 - alpha * p)
                slacks[c] = 1 / (1 / slacks[c] + alpha / gamma)
            else:
                alpha = min(duals[c], gamma / (gamma + 1) * (1 / slacks[c] - 1 / p))
                beta = -alpha / (1 + alpha * p)
                slacks[c] = 1 / (1 / slacks[c] - alpha / gamma)
            duals[c] -= alpha
            run.updated.append(alpha != 0.0)
            run.M = M + beta * np.outer(M @ z, M @ z)
        run.losses.append(loss)
        size = np.abs(duals).sum() + np.abs(before).sum()
        run.changes.append(float(np.abs(duals - before).sum() / size) if size else 0.0)
    return run
