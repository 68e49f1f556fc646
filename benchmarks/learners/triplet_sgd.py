"""Calipers' TripletSGD by any of its methods, stopped after a while."""

from __future__ import annotations

from time import perf_counter
from typing import Any

from benchmarks.learners.cap import Cap
from benchmarks.learners.fitted import Fitted
from calipers import TripletSGD
from calipers.arrays import FloatArray, IndexArray


def fit(X: FloatArray, y: IndexArray, *, seed: int, cap: float, method: Any) -> Fitted:
    """Fit, with the defaults for all else."""
    watch = Cap(cap)
    started = perf_counter()
    model = TripletSGD(method, random_state=seed).set_callbacks(watch)
    model.fit(X, y)
    seconds = perf_counter() - started
    return Fitted(model.components_, seconds, int(model.n_iter_), watch.capped)


def warm_up(X: FloatArray, y: IndexArray, *, seed: int, cap: float, method: Any) -> None:
    """Compile or load the code that a fit needs; the search goes by the shape of X."""
    TripletSGD(method, n_rounds=1, n_triplets=500, random_state=seed).fit(X, y)
