"""Calipers' MetricCV with its defaults; nothing stops it early."""

from __future__ import annotations

from time import perf_counter

from benchmarks.learners.fitted import Fitted
from calipers import MetricCV, TripletSGD
from calipers.arrays import FloatArray, IndexArray


def fit(X: FloatArray, y: IndexArray, *, seed: int, cap: float) -> Fitted:
    """Fit; the cap means nothing to it."""
    started = perf_counter()
    model = MetricCV(random_state=seed).fit(X, y)
    return Fitted(model.components_, perf_counter() - started, None, False)


def warm_up(X: FloatArray, y: IndexArray, *, seed: int, cap: float) -> None:
    """Compile or load the code that fits need; the search goes by the shape of X."""
    TripletSGD(n_rounds=1, n_triplets=500, random_state=seed).fit(X, y)
