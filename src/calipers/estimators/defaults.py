"""What `TripletSGD` does where it is not told: see "Why the defaults" in the documentation."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from types import MappingProxyType
from typing import Any, NamedTuple

PAPER_SETTINGS: Mapping[str, Any] = MappingProxyType(
    {
        "n_triplets": 100_000,
        "batch_size": 10,
        "learning_rate": 1.0,
        "smoothness": 3.0,
        "radius": 1000.0,
        "n_neighbors": 1,
        "scale": "none",
        "gradient_bound": "triplet",
        "tau_max": None,
        "batch_reduce": "mean",
        "average": True,
        "projection": "every",
        "start": "identity",
        "n_stages": 1,
        "guard": False,
    }
)
"""The literal reading of the paper: ``TripletSGD(method="as-sgd", **PAPER_SETTINGS)``."""

MOST_TRIPLETS = 100_000  # the paper's number
CHEAP = 48  # up to this many features an update costs little
BATCH, RATE, SMOOTHNESS = 10, 1.0, 3.0  # the paper's numbers
VERY_MANY = 10  # neighbours
WORK = 1_500_000_000  # anchors times the square of the features, beyond which it takes minutes
FEWEST_UPDATES = 20  # of a stage, for which batches are smaller
FEATURES_AN_ANCHOR = 6  # of very many features, which make projections dear, batches are larger


class Kind(NamedTuple):
    """What suits data of few features, or of many."""

    stages: int
    neighbors: int
    passes: float  # over all rows in a stage,
    fewest: int  # but at least so many anchors
    most: int  # and at most so many
    batch: int  # anchors, at least
    smoothness: float
    pace: float = 1.25  # length of a step for every anchor of a batch
    reach: float = 2.0  # times the usual distance, from which far rows are brought back


FEW = Kind(stages=3, neighbors=3, passes=2, fewest=2000, most=40_000, batch=20, smoothness=3.0)
MANY = Kind(stages=2, neighbors=5, passes=1.5, fewest=1000, most=4000, batch=40, smoothness=6.0)


def kind(n_features: int) -> Kind:
    """The kind of so many features."""
    return FEW if n_features <= CHEAP else MANY


class Pace(NamedTuple):
    """Batches, steps and the loss."""

    batch_size: int = BATCH
    crossed: int = 1  # near and far rows of an anchor that make all triplets of it
    learning_rate: float = RATE
    smoothness: float = SMOOTHNESS
    reach: float = inf  # of far rows, in units of their usual distance


def triplets(n_rows: int, n_features: int, n_neighbors: int) -> int:
    """Triplets of a stage: all of so many anchors, of half as many where each has very many.

    >>> triplets(150, 4, 3), triplets(15_000, 16, 3)
    (18000, 270000)
    >>> triplets(15_000, 384, 5), triplets(15_000, 1536, 5)
    (100000, 25000)
    """
    of = kind(n_features)
    n_anchors = min(max(int(of.passes * n_rows), of.fewest), of.most)
    n_anchors = min(n_anchors, max(of.fewest, WORK // n_features**2))
    return n_neighbors**2 * (n_anchors if n_neighbors <= VERY_MANY else n_anchors // 2)


def crossed_pace(n_triplets: int, n_neighbors: int, n_features: int) -> Pace:
    """How to go through the triplets of a stage, those of one anchor after the other.

    >>> crossed_pace(9000, 3, 16)
    Pace(batch_size=180, crossed=3, learning_rate=25.0, smoothness=3.0, reach=2.0)
    >>> [crossed_pace(100_000, 5, d).batch_size // 5**2 for d in (49, 384, 617)]
    [40, 64, 102]
    """
    of, n_anchors = kind(n_features), n_triplets // n_neighbors**2
    if not n_anchors:  # of none all
        return Pace(smoothness=of.smoothness, reach=of.reach)
    of_batch = max(of.batch, n_features // FEATURES_AN_ANCHOR)
    of_batch = max(1, min(of_batch, n_anchors // FEWEST_UPDATES))
    return Pace(of_batch * n_neighbors**2, n_neighbors, of.pace * of_batch, of.smoothness, of.reach)


def stages(n_features: int, *, named: bool) -> int:
    """Stages, each with triplets of its own; one, as in the paper, for a method that is named."""
    return 1 if named and n_features > CHEAP else kind(n_features).stages


def neighbors(n_features: int) -> int:
    """Nearest rows of either side to draw among."""
    return kind(n_features).neighbors
