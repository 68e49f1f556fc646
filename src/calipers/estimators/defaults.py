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
CHEAP = 48  # up to this many features an update costs little
DEAR = 256  # from more features on it costs much
BATCH, RATE = 10, 1.0  # the paper's numbers
LARGE_BATCH = 100  # which makes fewer updates
PACE = 1 / 20  # length of a step for every triplet of a large batch
FEWEST_UPDATES = 20  # for which batches are smaller
GUARDED, GUARDED_WIDE = 5000, 1000  # rows up to which learning is checked; beyond CHEAP features


def batch(n_triplets: int, n_features: int) -> int:
    """Triplets of a batch: the dearer an update, the more.

    >>> batch(100_000, 16), batch(100_000, 200), batch(100_000, 384), batch(1000, 200)
    (10, 100, 200, 50)
    """
    if n_features <= CHEAP:
        return BATCH
    large = LARGE_BATCH if n_features <= DEAR else 2 * LARGE_BATCH
    return max(BATCH, min(large, n_triplets // FEWEST_UPDATES))


def rate(batch_size: int) -> float:
    """Length of a step: longer where updates are fewer."""
    return max(RATE, PACE * batch_size)


def stages(n_features: int, *, named: bool) -> int:
    """Stages, each with triplets of its own; one, as in the paper, for a method that is named."""
    if n_features <= CHEAP:
        return 3
    return 1 if named else 2


def neighbors(n_features: int) -> int:
    """Nearest rows of either side to draw among."""
    return 3 if n_features <= CHEAP else 5


def triplets(n_rows: int, n_features: int) -> int:
    """Triplets to draw: so many for every row, half as many where updates are not cheap.

    >>> triplets(150, 4), triplets(15_000, 16), triplets(1_000_000, 16)
    (100000, 750000, 312500)
    >>> triplets(1000, 256), triplets(15_000, 256), triplets(15_000, 384)
    (25000, 100000, 50000)
    """
    if n_features > CHEAP:
        most = MOST_TRIPLETS if n_features <= DEAR else MOST_TRIPLETS // 2
        return min(most, n_rows * PER_ROW // 2)
    searched = SEARCHED // (n_rows * n_features)
    return max(MOST_TRIPLETS, min(PER_ROW * n_rows, 10 * MOST_TRIPLETS, searched))


def is_guarded(n_rows: int, n_features: int) -> bool:
    """Whether to ask held-out rows if learning helps: more rows have enough to teach."""
    return n_rows <= (GUARDED if n_features <= CHEAP else GUARDED_WIDE)
