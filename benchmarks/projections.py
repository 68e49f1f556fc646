"""What an update costs that projects every time, at the end, or takes Frank-Wolfe steps.

The paper says of its related work that steps without a projection are not cheaper than they
seem: one needs an eigenvector at every update all the same. Here are the seconds, the time of
an update, the loss of the last tenth of the triplets and the 3-NN error, for the same triplets.
"""

from __future__ import annotations

import argparse

from benchmarks.rows import Column, Report
from calipers import TripletSGD
from calipers.paper.datasets import Split, load
from calipers.paper.protocol import split_error
from calipers.recipes import RECIPES

NAMES = ("letter", "digits", "dna", "semeion")
RULES = ("every", "end", "frank-wolfe")

TABLES = {
    "projections": [
        Column("data", "data", width=12),
        Column("features", "n_features", width=8),
        Column("method", "method"),
        Column("projection", "projection", width=11),
        Column("updates", "updates", ",", 8),
        Column("left the cone", "left_the_cone", ",", 13),
        Column("seconds", "seconds", ".2f"),
        Column("us an update", "microseconds", ".0f", 12),
        Column("last loss", "loss", ".4f", 9),
        Column("err %", "error", ".2f"),
    ]
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--data-dir", help="folder with the paper's data; digits needs none")
    parser.add_argument("--only", nargs="+", metavar="NAME", default=NAMES)
    parser.add_argument("--methods", nargs="+", default=("mini-sgd",))
    parser.add_argument("--triplets", type=int, default=20_000)
    parser.add_argument("--radius", type=float, default=1000.0)


def run(args: argparse.Namespace, report: Report) -> None:
    """Fit every rule to every data set."""
    report.say(
        f"{args.triplets:,} triplets, the paper's settings, radius {args.radius:g} (of the norm; "
        "of the trace for 'frank-wolfe')"
    )
    for name in args.only:
        data = load(name, data_dir=args.data_dir)
        for method in args.methods:
            for rule in RULES:
                _measure(name, data, method, rule, args, report)


def _measure(
    name: str,
    data: Split,
    method: str,
    rule: str,
    args: argparse.Namespace,
    report: Report,
) -> None:
    model = TripletSGD.paper(method, radius=args.radius, random_state=0)
    model.set_params(method=RECIPES[method](margin_unit="one", projection=rule))
    model.set_params(n_triplets=10).fit(data.X_train, data.y_train)  # compile
    fitted = model.set_params(n_triplets=args.triplets).fit(data.X_train, data.y_train)
    last = fitted.loss_curve_[-(len(fitted.loss_curve_) // 10 or 1) :]
    report.add(
        "projections",
        data=name,
        n_features=fitted.n_features_in_,
        method=method,
        projection=rule,
        updates=fitted.n_updates_,
        left_the_cone=fitted.n_projections_,
        seconds=fitted.solve_seconds_,
        microseconds=1e6 * fitted.solve_seconds_ / max(1, fitted.n_updates_),
        loss=float(last.mean()),
        error=100 * split_error(data, fitted),
    )
