"""``calipers demo``: what a learned distance is worth on a table with unlike units."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from calipers.cli import evaluate
from calipers.cli.options import add_output, picture, seed
from calipers.cli.reading import Labelled

if TYPE_CHECKING:
    from calipers.cli.options import Commands


def add(commands: Commands) -> None:
    """Register the command."""
    demo = commands.add_parser(
        "demo",
        help="the same for a table of wines with unlike units: a verdict and a picture",
        description="Evaluate a learned distance on scikit-learn's table of wines, whose 13 "
        "features have unlike units: learn with the default learner, compare its 3-NN error on "
        "wines it has not seen with that of the features as they are and standardised, and draw "
        "all three.",
    )
    name, about = Path("calipers-demo.png"), "file of the picture (default: %(default)s)"
    demo.add_argument("-o", "--output", type=picture, default=name, metavar="PICTURE", help=about)
    demo.add_argument("--seed", type=seed, default=0, help="random seed (default: %(default)s)")
    add_output(demo)
    asked = {"data": "wine", "learner": "cv", "folds": 5, "neighbors": 3}
    unused = dict.fromkeys(("label", "html", "n_components", "method", "n_triplets"))
    demo.set_defaults(run=run, **asked, **unused)


def run(options: argparse.Namespace) -> int:
    """Evaluate the default learner on wines."""
    import numpy as np
    from sklearn.datasets import load_wine

    wines = load_wine()
    growers = np.array([f"grower {number}" for number in wines.target])
    rows = np.arange(1, len(growers) + 1)
    return evaluate.run(options, Labelled(wines.data, growers, rows, wines.feature_names))
