"""Every learner with little to do, and samples to give it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris

from calipers import (
    GMML,
    ITML,
    KISSME,
    LEGO,
    LFDA,
    LMNN,
    MCML,
    MLKR,
    MMC,
    NCA,
    OASIS,
    RCA,
    SCML,
    SPML,
    Discriminant,
    Euclidean,
    MetricCV,
    Scaled,
    TripletSGD,
    WithinClass,
)
from calipers.arrays import FloatArray, IndexArray

_FROM_TRIPLETS: dict[str, Any] = {"n_triplets": 500, "n_neighbors": 5, "random_state": 0}
_FEW_PAIRS: dict[str, Any] = {**_FROM_TRIPLETS, "n_triplets": 50}
LEARNERS: dict[str, Any] = {
    "TripletSGD": TripletSGD(**_FROM_TRIPLETS, batch_size=1),
    "SPML": SPML(**_FROM_TRIPLETS),
    "SCML": SCML(**_FROM_TRIPLETS),
    "OASIS": OASIS(**_FROM_TRIPLETS),
    "LEGO": LEGO(**_FROM_TRIPLETS),
    "ITML": ITML(**_FEW_PAIRS),
    "LMNN": LMNN(),
    "MMC": MMC(),
    "MCML": MCML(tol=1e-9),
    "NCA": NCA(batch_size=32, random_state=0),
    "MLKR": MLKR(batch_size=32, random_state=0),
    "Euclidean": Euclidean(),
    "Scaled": Scaled(),
    "WithinClass": WithinClass(),
    "Discriminant": Discriminant(),
    "LFDA": LFDA(),
    "RCA": RCA(),
    "KISSME": KISSME(),
    "GMML": GMML(),
    "MetricCV": MetricCV(
        [("euclidean", Euclidean()), ("sgd", TripletSGD(**_FROM_TRIPLETS, batch_size=1))],
        random_state=0,
    ),
}
FROM_TRIPLETS = ("TripletSGD", "SPML", "SCML", "OASIS", "LEGO", "ITML")
STEPWISE = (*FROM_TRIPLETS, "LMNN", "NCA", "MLKR")
each_learner = pytest.mark.parametrize("name", LEARNERS)
each_from_triplets = pytest.mark.parametrize("name", FROM_TRIPLETS)
each_stepwise = pytest.mark.parametrize("name", STEPWISE)


def little(name: str, **settings: Any) -> Any:
    """An unfitted learner; ``settings`` replace its own."""
    learner = LEARNERS[name]
    return type(learner)(**{**learner.get_params(deep=False), **settings})


def for_triplets(name: str, **settings: Any) -> Any:
    """One that takes triplets; TripletSGD refuses what has no meaning for them."""
    none = {"n_neighbors": None, "n_triplets": None} if name == "TripletSGD" else {}
    return little(name, **{**none, **settings})


def noise(n: int = 30, d: int = 4) -> tuple[FloatArray, IndexArray]:
    """Samples without structure, of three classes."""
    return np.random.default_rng(0).standard_normal((n, d)), np.arange(n) % 3


def iris() -> tuple[FloatArray, IndexArray]:
    """Iris without ties."""
    X, y = load_iris(return_X_y=True)
    return X + 1e-3 * np.random.default_rng(0).standard_normal(X.shape), y


def random_triplets(n_samples: int, n: int, seed: int = 0) -> IndexArray:
    rng = np.random.default_rng(seed)
    return rng.permuted(np.tile(np.arange(n_samples), (n, 1)), axis=1)[:, :3]


def streams(seed: int) -> list[np.random.Generator]:
    """The random streams of an integer random_state: for triplets, and two for the solver."""
    entropy = np.random.RandomState(seed).randint(2**32, size=4, dtype=np.uint32).tolist()
    return [np.random.default_rng(child) for child in np.random.SeedSequence(entropy).spawn(3)]


def metric_of(learner: Any, X: Any, y: Any) -> FloatArray:
    M: FloatArray = learner.fit(X, y).get_mahalanobis_matrix()
    return M
