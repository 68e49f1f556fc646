"""The systems that the paper compares, each as a learner with the paper's settings.

All learners from triplets get the same triplets, drawn once: those that
``TripletSGD.paper(method, random_state=seed).fit`` would draw. OASIS and LEGO are run as their
published counts of updates say they were.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Any

import numpy as np

import calipers
from calipers.arrays import FloatArray, IndexArray
from calipers.data.samples import MemorySamples
from calipers.data.triplets import DrawnTriplets
from calipers.paper.datasets import DatasetError, Split
from calipers.solvers.plan import random_streams

PAPER_TRIPLETS = 100_000
"""N of the paper."""

PARAMETERS = "parameters"
"""Asks for the parameter study among the methods."""

_CITED = {"tol": 1e-3, "max_iter": 100}  # where MMC and MCML stop, so that all takes half an hour

_SWEPT: tuple[tuple[str, tuple[float, ...], tuple[str, ...]], ...] = (
    ("radius", (100, 1_000, 10_000), ("mini-sgd", "as-sgd")),
    ("learning_rate", (0.1, 1, 10), ("mini-sgd", "as-sgd")),
    ("smoothness", (1, 3, 10), ("mini-sgd", "as-sgd")),
    ("batch_size", (1, 3, 10, 30, 100), ("mini-sgd", "hr-sgd")),
    ("norm_draws", (5, 10, 20, 50, 100), ("ha-sgd",)),
    ("max_importance_weight", (10, 30, 100), ("hr-sgd-sum",)),
    ("aggressiveness", (0.01, 0.1, 1), ("oasis",)),
    ("ridge", (1e-10, 1e-5, 1e-3, 1e-2), ("spml",)),
)


@dataclass(frozen=True)
class System:
    """One column of the paper's tables, or one of them with another value of a parameter.

    Attributes
    ----------
    name, label : str
        How rows call it, and how tables do.
    learner : str
        Its class in `calipers`.
    published : str
        The method whose published numbers it is compared with.
    settings : mapping
        Parameters that are not the learner's defaults.
    most : int or None
        Training samples that it learns from at most; tables mark such cells.
    parameter : str
        What the parameter study sets, if it is a part of that.
    value : float
        To which value.
    """

    name: str
    label: str
    learner: str
    published: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    most: int | None = None
    parameter: str = ""
    value: float = 0.0

    @property
    def is_sgd(self) -> bool:
        """Whether it is one of the paper's own."""
        return self.learner == "TripletSGD"

    @property
    def takes_triplets(self) -> bool:
        """Whether it learns step by step, from the triplets that are shared."""
        return self.learner in ("TripletSGD", "LEGO", "OASIS", "SPML")

    def with_value(self, parameter: str, value: float) -> System:
        """The same system in the parameter study."""
        name = f"{self.name}:{parameter}={value:g}"
        return replace(self, name=name, parameter=parameter, value=value)

    def make(self, *, seed: int, n_triplets: int = PAPER_TRIPLETS) -> Any:
        """An unfitted learner with the paper's settings."""
        home = getattr(calipers, self.learner)
        if not self.takes_triplets:
            return home(**self.settings)
        drawn = {"n_triplets": n_triplets, "random_state": seed}
        if not self.is_sgd:
            learner = home(**drawn, **self.settings)
        else:
            learner = home.paper(self.name.partition(":")[0], **drawn)
        if self.parameter in learner.get_params():
            learner.set_params(**{self.parameter: self.value})
        elif self.parameter:
            learner.set_params(method=replace(learner.method, **{self.parameter: self.value}))
        return learner


SYSTEMS = {
    system.name: system
    for system in (
        System("euclidean", "Euclidean", "Euclidean", "euclidean"),
        System("lmnn", "LMNN", "LMNN", "lmnn", most=30_000),
        System("mmc", "MMC", "MMC", settings=_CITED, most=2_000),
        System("mcml", "MCML", "MCML", settings=_CITED, most=1_000),
        System("lego", "LEGO", "LEGO", "lego"),
        System("oasis", "OASIS", "OASIS", "oasis", {"form": "distance"}),
        System("spml", "SPML", "SPML", "spml"),
        System("sgd", "SGD", "TripletSGD", "sgd"),
        System("mini-sgd", "Mini-SGD", "TripletSGD", "mini-sgd"),
        System("as-sgd", "AS-SGD", "TripletSGD", "as-sgd"),
        System("hr-sgd", "HR-SGD", "TripletSGD", "hr-sgd"),
        System("hr-sgd-sum", "HR-SGD, sum", "TripletSGD", "hr-sgd"),
        System("ha-sgd", "HA-SGD", "TripletSGD", "ha-sgd"),
        System("ha-sgd-batch", "HA-SGD, batches", "TripletSGD", "ha-sgd"),
    )
}
"""By name, in the order of the tables.

MMC and MCML are cited by the paper and not in its tables; the last of HR-SGD and HA-SGD are second
readings (``calipers.recipes.READINGS``).
"""

STUDIED = {
    system.name: system
    for parameter, values, methods in _SWEPT
    for method in methods
    for value in values
    for system in [SYSTEMS[method].with_value(parameter, value)]
}
"""The parameter study: what R, eta, L and b do, and the numbers that the paper leaves open."""


def choose(names: Sequence[str]) -> list[System]:
    """Return the systems of these names, in the tables' order; the study is none of them.

    Examples
    --------
    >>> [system.label for system in choose(["hr-sgd", "euclidean"])]
    ['Euclidean', 'HR-SGD']
    """
    for name in names:
        if name not in (*SYSTEMS, PARAMETERS):
            raise DatasetError(
                f"Unknown method {name!r}: choose among {', '.join(SYSTEMS)}, {PARAMETERS}."
            )
    return [system for system in SYSTEMS.values() if system.name in names]


def draw_triplets(
    data: Split, *, seed: int, n_triplets: int = PAPER_TRIPLETS
) -> tuple[IndexArray, float]:
    """Draw the triplets that all learners of a run share; also return the seconds it took."""
    started = perf_counter()
    samples = MemorySamples(data.X_train, data.y_train)
    source = DrawnTriplets(samples, n_triplets, n_neighbors=1, rng=random_streams(seed)[0])
    triplets = next(source.portions(n_triplets))
    return triplets, perf_counter() - started


def lego_limits(X: FloatArray, triplets: IndexArray, *, seed: int) -> dict[str, Any]:
    """Return LEGO's limits, by the rule of ITML's program, from a hundred of the pairs it is given.

    Between the smallest and the largest of their squared distances there are a hundred bins of
    equal width. The limits are the centres of the fifth and the ninety-fifth.
    """
    rng = np.random.default_rng(seed)
    chosen = triplets[rng.integers(len(triplets), size=100)]
    others = chosen[np.arange(100), rng.integers(1, 3, size=100)]
    squared = np.sum((X[chosen[:, 0]] - X[others]) ** 2, axis=1)
    near, far = np.sqrt(squared.min() + np.array([0.045, 0.945]) * np.ptp(squared))
    return {"near_distance": float(near), "far_distance": float(far)}
