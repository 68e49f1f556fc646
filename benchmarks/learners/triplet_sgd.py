"""Calipers' TripletSGD by any of its methods, which is done before any cap."""

from __future__ import annotations

from time import perf_counter

from benchmarks.learners.fitted import Fitted
from calipers import TripletSGD
from calipers.arrays import FloatArray, IndexArray


def fit(X: FloatArray, y: IndexArray, *, seed: int, cap: float, method: str) -> Fitted:
    """Fit, with the defaults for all else."""
    model = TripletSGD(method, random_state=seed)
    started = perf_counter()
    model.fit(X, y)
    return Fitted(model.components_, perf_counter() - started, int(model.n_iter_), False)


def warm_up(X: FloatArray, y: IndexArray, *, seed: int, cap: float, method: str) -> None:
    """Compile or load the code that a fit needs; the search goes by the shape of X."""
    TripletSGD(method, n_triplets=500, random_state=seed).fit(X, y)
