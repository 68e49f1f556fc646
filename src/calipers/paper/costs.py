"""About how long runs take on two cores, so that a progress bar can tell what is left."""

from __future__ import annotations

from calipers.paper import published
from calipers.paper.systems import System

_FIT_SECONDS = {
    #            lmnn  lego oasis spml   sgd mini    as    hr    ha
    "semeion": (4.0, 2.2, 0.5, 1.0, 0.6, 0.8, 0.5, 0.2, 0.5),
    "dna": (3.0, 0.8, 0.3, 1.0, 0.8, 1.0, 0.7, 0.3, 0.6),
    "isolet": (70.0, 13.0, 8.0, 12.0, 20.0, 9.5, 16.0, 5.5, 10.0),
    "tdt30": (27.0, 2.2, 0.7, 4.0, 4.2, 3.5, 4.5, 0.9, 0.8),
    "letter": (10.0, 0.1, 0.1, 0.1, 0.3, 0.1, 0.1, 0.1, 0.1),
    "protein": (8.0, 4.0, 1.3, 7.0, 68.0, 95.0, 5.0, 13.0, 7.0),
    "connect4": (30.0, 0.2, 0.1, 0.8, 2.7, 0.9, 2.0, 0.8, 0.3),
    "sensit": (30.0, 1.0, 1.0, 2.0, 8.0, 3.0, 6.0, 3.0, 1.0),
    "rcv20": (30.0, 3.0, 3.0, 6.0, 20.0, 6.0, 15.0, 5.0, 3.0),
    "poker": (20.0, 0.1, 0.1, 0.1, 0.4, 0.1, 0.2, 0.1, 0.1),
}
_FEW_FEATURES = 32  # up to here a tree searches the neighbours


def expected_seconds(dataset: str, system: System) -> float:
    """A guess for one fit and its score: measured once, or of its size for what was not."""
    if dataset not in published.SIZES:
        return 1.0
    size = published.SIZES[dataset]
    if size.n_features <= _FEW_FEATURES:
        scoring = 1e-4 * size.n_test
    else:
        scoring = size.n_train * size.n_test * (1.2 + size.n_features / 40) * 1e-9
    if system.kind == "none":
        return 0.05 + scoring
    name = system.published.partition(":")[0]
    if name not in published.TABULATED_METHODS:
        return scoring + 0.05 * size.n_features
    return 0.05 + scoring + _FIT_SECONDS[dataset][published.TABULATED_METHODS.index(name) - 1]
