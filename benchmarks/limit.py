"""The limit: what a method costs on this machine if only the necessary is done, at full speed.

One matrix product that evaluates the margins that the method needs (two differences for each
triplet it evaluates), plus one Cholesky factorisation of size d per update, which
is the least that can tell whether M is still positive semi-definite.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg.lapack import dpotrf

from benchmarks import blas
from benchmarks.problem import Problem
from calipers.arrays import FloatArray, IndexArray

MOST_DIFFERENCES = 20_000  # in the product that is timed
ENOUGH = 2e6  # multiplications behind one reading of the clock, so that it is no noise


class Limit(NamedTuple):
    """Seconds of the two operations, with one or all BLAS threads, whichever is faster."""

    difference: float  # its share of the product
    factorisation: float

    def seconds(self, problem: Problem, n_updates: int) -> float:
        """For a whole run."""
        return 2 * evaluated(problem, n_updates) * self.difference + n_updates * self.factorisation


def evaluated(problem: Problem, n_updates: int) -> int:
    """Triplets whose margins a method needs: all; for HR-SGD one a batch, and all of an update."""
    if problem.method == "hr-sgd":
        return problem.n_iterations + problem.batch_size * n_updates
    return problem.n_iterations * problem.batch_size


def measure(X: FloatArray, triplets: IndexArray) -> Limit:
    """Time both operations on the data's own differences; the best of several each."""
    some = triplets[: MOST_DIFFERENCES // 2]
    differences = np.vstack([X[some[:, 0]] - X[some[:, column]] for column in (1, 2)])
    d = X.shape[1]
    noise = np.random.default_rng(0).normal(size=(d, d))
    M = noise @ noise.T / d + np.eye(d)
    return Limit(_product_seconds(differences, M) / len(differences), _cholesky_seconds(M))


def _product_seconds(differences: FloatArray, M: FloatArray) -> float:
    out = np.empty_like(differences)
    return blas.fastest(lambda: np.dot(differences, M, out=out))[1]


def _cholesky_seconds(M: FloatArray) -> float:
    """The copy that the factorisation overwrites is made before and not counted."""
    calls = max(1, int(ENOUGH / len(M) ** 3))
    copies = np.empty((calls, *M.shape))

    def factorise() -> None:
        for copy in copies:
            dpotrf(copy.T, lower=1, clean=0, overwrite_a=1)

    def renew() -> None:
        copies[:] = M

    return blas.fastest(factorise, before=renew)[1] / calls
