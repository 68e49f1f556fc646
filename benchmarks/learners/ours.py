"""Calipers with its defaults: mining and solving."""

from __future__ import annotations

from typing import Any

import calipers
from calipers.arrays import FloatArray, IndexArray


def fit(X: FloatArray, y: IndexArray, *, seed: int, learner: str = "TripletSGD") -> Any:
    """Fit."""
    return getattr(calipers, learner)(random_state=seed).fit(X, y)


def warm_up(X: FloatArray, y: IndexArray, *, learner: str = "TripletSGD") -> None:
    """Compile or load the code that a fit needs; the search goes by the shape of X."""
    fit(X, y, seed=0, learner=learner)
