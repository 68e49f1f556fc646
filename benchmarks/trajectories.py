"""Every learner beside the first edition's, by the same seed: the same updates to the same metric.

The paper's five methods by its literal settings (HA-SGD's W is taken from a hundred triplets, as
then), SPML, OASIS, LEGO, ITML and LMNN by their defaults, on wine, standardised.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

import calipers
from benchmarks.first_edition import FirstEdition
from benchmarks.rows import Column, Report
from calipers import TripletSGD
from calipers.recipes import PAPER_METHODS, RECIPES

TOLERANCE = 1e-10  # of the largest difference of M, as a share of its largest entry
LITERAL = {  # the paper's settings in the first edition's words
    **{"n_triplets": 100_000, "batch_size": 10, "learning_rate": 1.0, "smoothness": 3.0},
    **{"n_neighbors": 1, "scale": "none", "start": "identity", "n_stages": 1, "guard": False},
}

TABLES = {
    "trajectories": [
        Column("learner", "learner", width=10),
        Column("updates", "n_updates", ",", 8),
        Column("first edition's", "first_updates", ",", 15),
        Column("difference", "difference", ".1e", 10),
        Column("same", "holds", width=5),
    ]
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument(
        "--first-edition",
        metavar="PYTHON",
        required=True,
        help="interpreter that has the first edition (commit fb71157)",
    )
    parser.add_argument("--seed", type=int, default=0)


def run(args: argparse.Namespace, report: Report) -> None:
    """Fit both, learner after learner."""
    X, y = load_wine(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    with FirstEdition(args.first_edition) as first:
        for name, learner, settings, ours in learners(args.seed):
            theirs = first.learn(learner, settings, X, y)
            ours.fit(X, y)
            M, N = (L.T @ L for L in (ours.components_, theirs.components))
            difference = float(np.abs(M - N).max() / np.abs(N).max())
            is_same = ours.n_updates_ == theirs.n_iterations and difference <= TOLERANCE
            report.add(
                "trajectories",
                learner=name,
                n_updates=int(ours.n_updates_),
                first_updates=theirs.n_iterations,
                difference=difference,
                holds=is_same,
            )


def learners(seed: int) -> list[tuple[str, str, dict[str, Any], Any]]:
    """A name, the first edition's learner and its settings, and ours."""
    random: dict[str, Any] = {"random_state": seed}
    found: list[tuple[str, str, dict[str, Any], Any]] = []
    for method in PAPER_METHODS:
        ours = TripletSGD.paper(method, **random)
        ours.set_params(method=RECIPES[method](margin_unit="one"))
        found.append((method, "TripletSGD", {**LITERAL, **random, "method": method}, ours))
    for name in ("SPML", "OASIS", "LEGO", "ITML", "LMNN"):
        settings = {} if name == "LMNN" else random
        found.append((name, name, settings, getattr(calipers, name)(**settings)))
    return found
