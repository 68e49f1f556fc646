"""The paper's algorithms in straightforward NumPy: what one writes down first.

One iteration at a time, the margins of its batch by products with M, a full
eigendecomposition at every update, every iterate added to a running sum.
"""

from __future__ import annotations

from time import perf_counter

import numpy as np
from scipy.special import expit

from benchmarks.problem import Outcome, Problem
from calipers.arrays import FloatArray, IndexArray


def run(problem: Problem, *, seconds: float = np.inf) -> Outcome:
    """Run until the triplets or the seconds are used up."""
    stop = perf_counter() + seconds
    n, b, d = problem.n_iterations, problem.batch_size, problem.X.shape[1]
    uniforms = problem.accept_rng().random(n)
    picks = problem.pick_rng().integers(b, size=n)
    M, total = np.eye(d), np.zeros((d, d))
    accepted = np.zeros(n, dtype=np.bool_)
    done = 0
    while done < n and perf_counter() < stop:
        batch = problem.triplets[done * b : (done + 1) * b]
        total += M
        probability, gradient = _evaluate(problem, M, batch, int(picks[done]))
        if uniforms[done] < probability:
            accepted[done] = True
            if gradient is None:
                gradient = _gradient(problem, M, batch)
            M = project(M - problem.learning_rate / probability * gradient, problem.radius)
        done += 1
    return Outcome(accepted[:done], total / max(done, 1))


def project(M: FloatArray, radius: float) -> FloatArray:
    """Nearest positive semi-definite matrix, scaled into the ball."""
    values, vectors = np.linalg.eigh(M)
    M = (vectors * np.maximum(values, 0.0)) @ vectors.T
    return M / max(1.0, float(np.linalg.norm(M)) / radius)


def _evaluate(
    problem: Problem, M: FloatArray, batch: IndexArray, pick: int
) -> tuple[float, FloatArray | None]:
    """Probability of an update, and the gradient where that had to be known for it."""
    if problem.method in ("sgd", "mini-sgd"):
        return 1.0, None
    if problem.method in ("as-sgd", "hr-sgd"):
        return float(_slopes(problem, M, *_differences(problem.X, batch[pick : pick + 1]))[0]), None
    gradient = _gradient(problem, M, batch)
    return min(1.0, float(np.linalg.norm(gradient)) / problem.largest), gradient


def _differences(X: FloatArray, batch: IndexArray) -> tuple[FloatArray, FloatArray]:
    """Far and near differences: to the negatives, and to the positives."""
    anchors = X[batch[:, 0]]
    return anchors - X[batch[:, 2]], anchors - X[batch[:, 1]]


def _slopes(problem: Problem, M: FloatArray, far: FloatArray, near: FloatArray) -> FloatArray:
    margins = np.sum((far @ M) * far, axis=1) - np.sum((near @ M) * near, axis=1)
    return np.asarray(expit(-problem.smoothness * (margins - 1.0)))


def _gradient(problem: Problem, M: FloatArray, batch: IndexArray) -> FloatArray:
    """Mean over the batch of ``slope * (near near' - far far')``."""
    far, near = _differences(problem.X, batch)
    slopes = _slopes(problem, M, far, near)[:, None]
    return np.asarray((near.T @ (slopes * near) - far.T @ (slopes * far)) / len(batch))
