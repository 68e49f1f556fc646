"""What `TripletSGD` does where it is not told: see "Why the defaults" in the documentation."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

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
PER_ROW = 50  # of triplets, beyond which little more is learned
SEARCHED = 5 * 10**12  # values that may be met in the search for their neighbours
BATCH = 10  # the paper's number
FEW_ROWS = 2000  # below which there are fewer updates where they are dear
DEAR = 128  # from more features on an update takes most of the time
PERIOD = 10  # updates of one projection, which costs as much as several of them
CHEAP = 48  # up to this many features an update costs little more than to skip it


def method(n_features: int) -> str:
    """An update at every batch where it is cheap, else at those that matter."""
    return "mini-sgd" if n_features <= CHEAP else "ha-sgd"


def projection(n_features: int, *, named: bool) -> str | int:
    """After each update where that is cheap or the paper's method was asked for by its name."""
    return "every" if named or n_features <= CHEAP else PERIOD


def stages(n_features: int) -> int:
    """Stages, each with triplets of its own."""
    return 3 if n_features <= CHEAP else 1


def neighbors(n_features: int) -> int:
    """Nearest rows of either side to draw among."""
    return 3 if n_features <= CHEAP else 5


def batch(n_rows: int, n_features: int) -> int:
    """Triplets of a batch: twice the paper's make half the updates where few rows bear them."""
    return 2 * BATCH if n_features > DEAR and n_rows < FEW_ROWS else BATCH


def triplets(n_rows: int, n_features: int) -> int:
    """Triplets to draw: so many for every row, within what is worth its time.

    Few rows have less to teach, each of them: half as many up to 1,000.

    >>> triplets(150, 4), triplets(15_000, 16), triplets(1_000_000, 16), triplets(1000, 256)
    (100000, 750000, 312500, 25000)
    """
    if n_features > CHEAP:
        return min(MOST_TRIPLETS, n_rows * min(PER_ROW, max(PER_ROW // 2, n_rows // 40)))
    searched = SEARCHED // (n_rows * n_features)
    return max(MOST_TRIPLETS, min(PER_ROW * n_rows, 10 * MOST_TRIPLETS, searched))
