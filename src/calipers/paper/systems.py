"""The ten systems of the paper's tables, each as a learner with the paper's settings.

All learners from triplets get the same triplets, drawn once: those that
``TripletSGD.paper(method, random_state=seed).fit`` would draw.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any

import calipers
from calipers.data.datasets import DatasetError
from calipers.paper import published

if TYPE_CHECKING:
    from calipers.arrays import IndexArray
    from calipers.data.datasets import Split

PAPER_TRIPLETS = 100_000
"""N of the paper."""

LARGEST_BATCH = 20_000
"""Training samples beyond which a batch method, whose every step is over all pairs, is not run."""


@dataclass(frozen=True)
class System:
    """One column of the paper's tables.

    Attributes
    ----------
    name, label : str
        How rows call it, and how tables do.
    home : str
        Its public class in `calipers`.
    kind : {"none", "batch", "online", "sgd"}
        Learns nothing; from all pairs at once; from triplets or pairs, as in earlier
        papers; one of the paper's five.
    """

    name: str
    label: str
    home: str
    kind: str

    @property
    def is_here(self) -> bool:
        """Whether this version of calipers has it."""
        return self.home in calipers.__all__

    def make(self, *, seed: int, n_triplets: int = PAPER_TRIPLETS) -> Any:
        """An unfitted learner with the paper's settings."""
        home = getattr(calipers, self.home)
        if self.kind in ("none", "batch"):
            return home()
        if self.kind == "online":
            return home(n_triplets=n_triplets, random_state=seed)
        return home.paper(self.name, n_triplets=n_triplets, random_state=seed)

    def why_not(self, n_train: int) -> str:
        """Why it is not run on so many training samples; empty if it is."""
        if self.kind == "batch" and n_train > LARGEST_BATCH:
            return (
                f"{self.label} is a batch method: each of its steps is over all pairs of the "
                f"{n_train:,} training samples, so it is not run on more than {LARGEST_BATCH:,}"
            )
        return ""


SYSTEMS = {
    system.name: system
    for system in (
        System("euclidean", "Euclidean", "Euclidean", "none"),
        System("lmnn", "LMNN", "LMNN", "batch"),
        System("lego", "LEGO", "LEGO", "online"),
        System("oasis", "OASIS", "OASIS", "online"),
        System("spml", "SPML", "SPML", "online"),
        System("sgd", "SGD", "TripletSGD", "sgd"),
        System("mini-sgd", "Mini-SGD", "TripletSGD", "sgd"),
        System("as-sgd", "AS-SGD", "TripletSGD", "sgd"),
        System("hr-sgd", "HR-SGD", "TripletSGD", "sgd"),
        System("ha-sgd", "HA-SGD", "TripletSGD", "sgd"),
    )
}
"""By name, in the order of the tables' columns."""


def choose(names: Sequence[str] | None = None) -> list[System]:
    """Return the systems asked for, in the tables' order; by default all that are here.

    Examples
    --------
    >>> [system.label for system in choose(["hr-sgd", "euclidean"])]
    ['Euclidean', 'HR-SGD']
    """
    for name in names or ():
        if name not in SYSTEMS:
            raise DatasetError(
                f"Unknown method {name!r}: choose among {', '.join(published.TABULATED_METHODS)}."
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
    from calipers.rounds import random_streams
    from calipers.triplets import DrawnTriplets

    started = perf_counter()
    samples = MemorySamples(data.X_train, data.y_train)
    source = DrawnTriplets(samples, n_triplets, n_neighbors=1, rng=random_streams(seed)[0])
    triplets = next(source.portions(n_triplets))
    return triplets, perf_counter() - started
