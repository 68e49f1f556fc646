"""The systems of the paper's tables, each as a learner with the paper's settings.

All learners from triplets get the same triplets, drawn once: those that
``TripletSGD.paper(method, random_state=seed).fit`` would draw. OASIS and LEGO are run as their
published counts of updates say they were (``python -m benchmarks readings``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from time import perf_counter
from typing import TYPE_CHECKING, Any

import calipers
from calipers.paper.datasets import DatasetError

if TYPE_CHECKING:
    from calipers.arrays import FloatArray, IndexArray
    from calipers.paper.datasets import Split

PAPER_TRIPLETS = 100_000
"""N of the paper."""

QUADRATIC = {"lmnn": 30_000, "mmc": 2_000, "mcml": 1_000}
"""Most training samples of methods whose every step is over all pairs; tables mark such cells."""

CITED: dict[str, Any] = {"tol": 1e-3, "max_iter": 100}
"""Where MMC and MCML stop, so that all runs take half an hour."""

PARAMETERS = "parameters"
"""Asks for the parameter study among the methods."""

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
    home : str
        Its public class in `calipers`.
    kind : {"none", "batch", "online", "sgd"}
        Learns nothing; from all pairs at once; from triplets or pairs, as in earlier
        papers; one of the paper's five.
    reading_of : str
        The method whose published numbers it is compared with, if it is a second reading of it.
    parameter : str
        What the parameter study sets, if it is a part of that.
    value : float
        To which value.
    """

    name: str
    label: str
    home: str
    kind: str
    reading_of: str = ""
    parameter: str = ""
    value: float = 0.0

    @property
    def is_here(self) -> bool:
        """Whether this version of calipers has it."""
        return self.home in calipers.__all__

    @property
    def published(self) -> str:
        """Under which name the paper has its numbers."""
        return self.reading_of or self.name

    @property
    def most(self) -> int | None:
        """Training samples that it learns from at most; None for all."""
        return QUADRATIC.get(self.name)

    def with_value(self, parameter: str, value: float) -> System:
        """The same system in the parameter study."""
        name = f"{self.name}:{parameter}={value:g}"
        return replace(self, name=name, parameter=parameter, value=value)

    def make(self, *, seed: int, n_triplets: int = PAPER_TRIPLETS) -> Any:
        """An unfitted learner with the paper's settings."""
        home = getattr(calipers, self.home)
        if self.kind in ("none", "batch"):
            return home(**CITED) if self.name in ("mmc", "mcml") else home()
        if self.kind == "online":
            form = {"form": "distance"} if self.home == "OASIS" else {}
            learner = home(n_triplets=n_triplets, random_state=seed, **form)
        else:
            name = self.name.partition(":")[0]
            learner = home.paper(name, n_triplets=n_triplets, random_state=seed)
        if self.parameter in learner.get_params():
            whole = isinstance(learner.get_params()[self.parameter], int)
            learner.set_params(**{self.parameter: int(self.value) if whole else self.value})
        elif self.parameter:
            whole = self.parameter == "norm_draws"
            changed = {self.parameter: int(self.value) if whole else self.value}
            learner.set_params(method=replace(learner.method, **changed))
        return learner


SYSTEMS = {
    system.name: system
    for system in (
        System("euclidean", "Euclidean", "Euclidean", "none"),
        System("lmnn", "LMNN", "LMNN", "batch"),
        System("mmc", "MMC", "MMC", "batch"),
        System("mcml", "MCML", "MCML", "batch"),
        System("lego", "LEGO", "LEGO", "online"),
        System("oasis", "OASIS", "OASIS", "online"),
        System("spml", "SPML", "SPML", "online"),
        System("sgd", "SGD", "TripletSGD", "sgd"),
        System("mini-sgd", "Mini-SGD", "TripletSGD", "sgd"),
        System("as-sgd", "AS-SGD", "TripletSGD", "sgd"),
        System("hr-sgd", "HR-SGD", "TripletSGD", "sgd"),
        System("hr-sgd-sum", "HR-SGD, sum", "TripletSGD", "sgd", "hr-sgd"),
        System("ha-sgd", "HA-SGD", "TripletSGD", "sgd"),
        System("ha-sgd-batch", "HA-SGD, batches", "TripletSGD", "sgd", "ha-sgd"),
    )
}
"""By name, in the order of the tables' columns.

MMC and MCML are cited by the paper and not in its tables; the last of HR-SGD and HA-SGD are second
readings (``calipers.solvers.recipes.READINGS``).
"""

STUDIED = {
    system.name: system
    for parameter, values, methods in _SWEPT
    for method in methods
    for value in values
    for system in [SYSTEMS[method].with_value(parameter, value)]
}
"""The parameter study: what R, eta, L and b do, and the numbers that the paper leaves open."""


def choose(names: Sequence[str] | None = None) -> list[System]:
    """Return the requested systems, in the tables' order; by default all that are here.

    The parameter study is none of them.

    Examples
    --------
    >>> [system.label for system in choose(["hr-sgd", "euclidean"])]
    ['Euclidean', 'HR-SGD']
    """
    for name in names or ():
        if name == PARAMETERS:
            continue
        if name not in SYSTEMS:
            raise DatasetError(
                f"Unknown method {name!r}: choose among {', '.join(SYSTEMS)}, {PARAMETERS}."
            )
        if not SYSTEMS[name].is_here:
            raise DatasetError(f"This version of calipers has no {SYSTEMS[name].label}.")
    return [s for s in SYSTEMS.values() if s.is_here and (names is None or s.name in names)]


def paper_settings(n_triplets: int = PAPER_TRIPLETS) -> dict[str, Any]:
    """Return the settings of the paper's batched methods, as plain values.

    Examples
    --------
    >>> paper_settings()["batch_size"], paper_settings()["margin_unit"]
    (10, 'one')
    """
    literal = SYSTEMS["mini-sgd"].make(seed=0, n_triplets=n_triplets)
    parameters = literal.get_params()
    recipe = asdict(parameters["method"])
    left_out = ("method", "n_components", "random_state", "triplets", "sampling", "batched")
    settings = {**parameters, **recipe}
    return {name: value for name, value in settings.items() if name not in left_out}


def draw_triplets(
    data: Split, *, seed: int, n_triplets: int = PAPER_TRIPLETS
) -> tuple[IndexArray, float]:
    """Draw the triplets that all learners of a run share; also return the seconds it took."""
    from calipers.data.samples import MemorySamples
    from calipers.data.triplets import DrawnTriplets
    from calipers.estimators.rounds import random_streams

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
    import numpy as np

    rng = np.random.default_rng(seed)
    chosen = triplets[rng.integers(len(triplets), size=100)]
    others = chosen[np.arange(100), rng.integers(1, 3, size=100)]
    squared = np.sum((X[chosen[:, 0]].astype(float) - X[others]) ** 2, axis=1)
    near, far = np.sqrt(squared.min() + np.array([0.045, 0.945]) * np.ptp(squared))
    return {"near_distance": float(near), "far_distance": float(far)}
