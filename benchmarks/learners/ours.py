"""Calipers with its defaults: mining and solving."""

from __future__ import annotations

from calipers import TripletSGD
from calipers.arrays import FloatArray, IndexArray


def fit(X: FloatArray, y: IndexArray, *, seed: int) -> TripletSGD:
    """Fit."""
    model = TripletSGD(random_state=seed)
    model.fit(X, y)
    return model


def warm_up(X: FloatArray, y: IndexArray) -> None:
    """Compile or load the code that a fit needs; the search goes by the shape of X."""
    fit(X, y, seed=0)
