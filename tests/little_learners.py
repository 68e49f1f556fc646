"""Every learner from triplets with little to do, and rows to give it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from calipers import ITML, LEGO, OASIS, SPML, TripletSGD
from calipers.arrays import FloatArray, IndexArray


def data(n: int = 30, d: int = 4) -> tuple[FloatArray, IndexArray]:
    return np.random.default_rng(0).standard_normal((n, d)), np.arange(n) % 3


def small(**settings: Any) -> TripletSGD:
    """One that takes what it learns, however few the rows are."""
    usual = {"method": "as-sgd", "n_triplets": 50, "guard": False, "random_state": 0}
    return TripletSGD(**{**usual, **settings})


LEARNERS: dict[str, Any] = {
    learner.__name__: learner for learner in (TripletSGD, SPML, OASIS, LEGO, ITML)
}
each_learner = pytest.mark.parametrize("name", LEARNERS)


def little(name: str, **settings: Any) -> Any:
    """Any learner, as TripletSGD is set here by default."""
    return LEARNERS[name](**{"n_triplets": 50, "n_neighbors": 5, "random_state": 0, **settings})


X, Y = data()
WITH_NAN, WITH_INF = X.copy(), X.copy()
WITH_NAN[3, 1], WITH_INF[3, 1] = np.nan, -np.inf
ONE_MISSING_LABEL = np.where(np.arange(30) == 4, np.nan, Y)
