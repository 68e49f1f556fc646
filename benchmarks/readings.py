"""LEGO, OASIS, SPML and LMNN by several readings of what the paper leaves open, beside its numbers.

One run of each, with the same triplets and the paper's features. A reading is good if it is near
on all data sets, in updates (Table 6) and in the error of 3-NN (Table 4); the means are over all
rows of the file, so that data sets may be run one by one. The last table looks at letter's ties:
integers that are scaled to [-1, 1] are rounded, so samples at equal distances are no longer
equally far by the last digit.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from benchmarks.rows import Column, Report, read
from calipers import LEGO, LMNN, OASIS, SPML
from calipers.arrays import FloatArray, IndexArray
from calipers.data.neighbors.search import nearest_same_and_other
from calipers.estimators.rounds import random_streams
from calipers.metric.factors import factor
from calipers.paper import published
from calipers.paper.datasets import DatasetError, Split, load
from calipers.paper.protocol import split_error
from calipers.paper.systems import draw_triplets, lego_limits
from calipers.solvers.losses import Hinge
from calipers.solvers.sgd import Settings, SGDSolver

TABLES = {
    "readings": [
        Column("method", "method", width=6),
        Column("reading", "reading", width=46),
        Column("data", "data", width=9),
        Column("updates", "updates", ",", 8),
        Column("paper's", "paper_updates", ",.0f", 8),
        Column("%", "per_cent", "+.0f", 6),
        Column("error", "error", ".1f", 6),
        Column("paper's", "paper_error", ".1f", 8),
        Column("points", "points", "+.1f", 7),
    ],
    "means": [
        Column("method", "method", width=6),
        Column("reading", "reading", width=46),
        Column("sets", "sets", width=4),
        Column("|%| of updates, median", "per_cent", ".0f", 22),
        Column("|points| of error, mean", "points", ".1f", 23),
    ],
    "ties": [
        Column("data", "data", width=9),
        Column("brute force on", "features", width=16),
        Column("other positives, %", "positives", ".1f", 18),
        Column("other negatives, %", "negatives", ".1f", 18),
        Column("at distances apart by", "apart", ".0e", 21),
    ],
}

DATA = ("semeion", "dna", "isolet", "tdt30", "letter", "connect4", "poker")
LMNN_DATA = ("semeion", "dna", "letter")
MOST_TESTED = 3000  # samples, so that the larger sets take seconds
LIMIT_PAIRS = 10_000
TIED_ANCHORS = 1000


@dataclass(frozen=True)
class Given:
    """What a reading learns from."""

    data: Split
    triplets: IndexArray
    seed: int

    @property
    def samples(self) -> FloatArray:
        """Training samples."""
        return self.data.X_train

    def fitted(self, learner: Any) -> Any:
        """A learner from the triplets, or a batch method from the labels."""
        if isinstance(learner, LMNN):
            with warnings.catch_warnings():  # a stop after few steps is intended
                warnings.simplefilter("ignore", ConvergenceWarning)
                return learner.fit(self.samples, self.data.y_train)
        return learner.fit_triplets(self.samples, self.triplets)


Reading: TypeAlias = Callable[[Given], Any]


@dataclass
class Learned:
    """A metric of a solver that no learner runs."""

    components_: FloatArray
    n_updates_: int

    def transform(self, X: FloatArray) -> FloatArray:
        """Samples in which the distance is Euclidean."""
        return np.asarray(X @ self.components_.T)


def lego(limits: Callable[[Given], tuple[float, float]]) -> Reading:
    """LEGO with a rule for its limits, in squared distances."""

    def learn(given: Given) -> Any:
        near, far = np.sqrt(limits(given))
        return given.fitted(LEGO(near_distance=near, far_distance=far, random_state=given.seed))

    return learn


def own_pairs(given: Given) -> FloatArray:
    """Squared distances of the pairs that LEGO is given."""
    anchors, *others = given.triplets.T
    return np.concatenate([_squared(given.samples, anchors, other) for other in others])


def random_pairs(given: Given) -> FloatArray:
    """Squared distances of random pairs that differ."""
    rng, n = np.random.default_rng(given.seed), len(given.samples)
    one, other = rng.integers(n, size=(2, LIMIT_PAIRS))
    squared = _squared(given.samples, one, other)
    return squared[squared > 0.0]


def _squared(X: FloatArray, one: IndexArray, other: IndexArray) -> FloatArray:
    return np.asarray(np.sum((X[one].astype(np.float64) - X[other]) ** 2, axis=1))


def bins(squared: FloatArray) -> tuple[float, float]:
    """Centres of the 5th and the 95th of a hundred equal bins."""
    near, far = squared.min() + np.array([0.045, 0.945]) * np.ptp(squared)
    return float(near), float(far)


def percentiles(squared: FloatArray, power: float = 1.0) -> tuple[float, float]:
    """The 5th and the 95th percentile; a smallest distance of 0 is no limit."""
    near, far = np.percentile(squared, (5, 95)) ** power
    return max(float(near), 1e-9), float(far)


def _hundred(given: Given) -> tuple[float, float]:
    limits = lego_limits(given.samples, given.triplets, seed=given.seed)
    return limits["near_distance"] ** 2, limits["far_distance"] ** 2


def _shifted(origin: Callable[[FloatArray], FloatArray]) -> Reading:
    """OASIS's similarity with another origin of the features; the distance needs none."""

    def learn(given: Given) -> Any:
        moved = replace(
            given, data=replace(given.data, X_train=given.samples - origin(given.samples))
        )
        return moved.fitted(OASIS(random_state=given.seed))

    return learn


def _spml(**choices: Any) -> Reading:
    """SPML's loop with other parts."""

    def learn(given: Given) -> Any:
        usual = {"loss": Hinge(0.01), "ridge": 1e-10, "batch_size": 10, "radius": np.inf}
        usual |= {"sum_over_batch": True, "average": False}
        accept_rng, pick_rng = random_streams(given.seed)[1:]
        settings, d = Settings(**{**usual, **choices}), given.samples.shape[1]
        solver = SGDSolver(settings, d, accept_rng=accept_rng, pick_rng=pick_rng)
        solver.advance(given.samples, given.triplets)
        return Learned(factor(solver.metric), solver.n_updates)

    return learn


def _learner(kind: Any, **settings: Any) -> Reading:
    return lambda given: given.fitted(
        kind(**settings) if kind is LMNN else kind(random_state=given.seed, **settings)
    )


BALL = {"ridge": 0.0, "radius": 1000.0, "sum_over_batch": False}
READINGS: Mapping[str, Mapping[str, Reading]] = {
    "lego": {
        "taken: bins of 100 of its pairs": lego(_hundred),
        "bins of all of its pairs": lego(lambda given: bins(own_pairs(given))),
        "percentiles of its pairs": lego(lambda given: percentiles(own_pairs(given))),
        "percentiles of random pairs (LEGO's default)": _learner(LEGO),
        "the same, not squared": lego(lambda given: percentiles(random_pairs(given), 0.5)),
        "bins of random pairs": lego(lambda given: bins(random_pairs(given))),
        "least and largest of random pairs": lego(
            lambda given: (random_pairs(given).min(), random_pairs(given).max())
        ),
    },
    "oasis": {
        "taken: distance, C = 0.1": _learner(OASIS, form="distance"),
        "distance, C = 1": _learner(OASIS, form="distance", aggressiveness=1.0),
        "similarity, C = 0.1 (OASIS's default)": _learner(OASIS),
        "similarity, C = 10": _learner(OASIS, aggressiveness=10.0),
        "similarity, centred features": _shifted(lambda X: X.mean(axis=0)),
        "similarity, features from 0 on": _shifted(lambda X: X.min(axis=0)),
    },
    "spml": {
        "taken: the authors' defaults": _learner(SPML),
        "ridge 1e-5": _learner(SPML, ridge=1e-5),
        "ridge 1e-3": _learner(SPML, ridge=1e-3),
        "ridge 0.1": _learner(SPML, ridge=0.1),
        "margin 1": _learner(SPML, margin=1.0),
        "margin 1, ridge 1e-3": _learner(SPML, margin=1.0, ridge=1e-3),
        "average of the iterates": _spml(average=True),
        "eta = 1, R = 1,000, margin 0.01": _spml(**BALL),
        "eta = 1, R = 1,000, margin 1": _spml(**BALL, loss=Hinge(1.0)),
        "eta = 1, R = 1,000, margin 1, average": _spml(**BALL, loss=Hinge(1.0), average=True),
    },
    "lmnn": {
        "taken: 3 targets, mu = 0.5": _learner(LMNN),
        "10 steps": _learner(LMNN, max_iter=10),
        "30 steps": _learner(LMNN, max_iter=30),
        "1 target": _learner(LMNN, n_neighbors=1),
        "10 targets": _learner(LMNN, n_neighbors=10),
        "mu = 0.1": _learner(LMNN, push_weight=0.1),
        "mu = 0.9": _learner(LMNN, push_weight=0.9),
    },
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--data-dir", help="folder with the data")
    parser.add_argument("--only", nargs="*", metavar="NAME", default=DATA)
    parser.add_argument("--methods", nargs="+", choices=READINGS, default=tuple(READINGS))
    parser.add_argument("--seed", type=int, default=0)


def run(args: argparse.Namespace, report: Report) -> None:
    """Every reading on every data set, then the means, then the ties."""
    report.say(f"errors are of at most {MOST_TESTED:,} test samples; LMNN on {LMNN_DATA} only")
    for name in args.only:
        try:
            data = load(name, data_dir=args.data_dir, split=args.seed, download=False)
        except DatasetError as problem:
            report.skip("readings", str(problem), data=name)
            continue
        given = Given(data, draw_triplets(data, seed=args.seed)[0], args.seed)
        for method in args.methods:
            if method != "lmnn" or name in LMNN_DATA:
                _compare(name, method, given, report)
    _means(report)
    if "letter" in args.only:
        _ties(args, report)


def _compare(name: str, method: str, given: Given, report: Report) -> None:
    tested = _tested(given.data)
    paper_error = published.ERRORS[name][method]
    paper_updates = published.UPDATES[name].get(method)
    for reading, learn in READINGS[method].items():
        metric = learn(given)
        error = 100.0 * split_error(tested, metric)
        counted = {}
        if paper_updates is not None:
            updates = int(metric.n_updates_)
            counted = {"updates": updates, "per_cent": 100.0 * (updates / paper_updates - 1.0)}
        report.add(
            "readings",
            method=method,
            reading=reading,
            data=name,
            **counted,
            paper_updates=paper_updates,
            error=error,
            paper_error=paper_error,
            points=error - paper_error,
        )


def _tested(data: Split) -> Split:
    chosen = np.sort(np.random.default_rng(0).permutation(len(data.y_test))[:MOST_TESTED])
    return replace(data, X_test=data.X_test[chosen], y_test=data.y_test[chosen])


def _means(report: Report) -> None:
    """Distances from the paper over the data sets, of all rows of the file; the last of each."""
    latest = {
        (row["method"], row["reading"], row["data"]): row
        for row in read(report.file)
        if row["table"] == "readings" and "reading" in row
    }
    for method, readings in READINGS.items():
        for reading in readings:
            own = [row for key, row in latest.items() if key[:2] == (method, reading)]
            updates = [abs(row["per_cent"]) for row in own if "per_cent" in row]
            if own:
                report.show(
                    "means",
                    method=method,
                    reading=reading,
                    sets=len(own),
                    per_cent=float(np.median(updates)) if updates else None,
                    points=float(np.mean([abs(row["points"]) for row in own])),
                )


def _ties(args: argparse.Namespace, report: Report) -> None:
    """Our search on letter's scaled features beside brute force on these and on the integers."""
    data = load("letter", data_dir=args.data_dir, download=False)
    X, labels = data.X_train, np.unique(data.y_train, return_inverse=True)[1]
    anchors = np.sort(np.random.default_rng(args.seed).permutation(len(X))[:TIED_ANCHORS])
    ours = np.hstack(nearest_same_and_other(X, labels, anchors, n_same=1, n_other=1))
    for features, values in (("scaled features", X), ("integers", np.rint(7.5 * (X + 1.0)))):
        theirs = np.array([_nearest(values, labels, anchor) for anchor in anchors])
        gaps = [
            _squared(X, anchors, theirs[:, side]) - _squared(X, anchors, ours[:, side])
            for side in range(2)
        ]
        positives, negatives = 100.0 * np.mean(theirs != ours, axis=0)
        report.add(
            "ties",
            data="letter",
            features=features,
            positives=float(positives),
            negatives=float(negatives),
            apart=float(np.abs(gaps).max()),
        )


def _nearest(values: FloatArray, labels: IndexArray, anchor: int) -> list[int]:
    """The nearest positive and negative by differences; of equally near ones the first."""
    squared = np.sum((values - values[anchor]) ** 2, axis=1)
    squared[anchor] = np.inf
    same = labels == labels[anchor]
    return [int(np.where(side, squared, np.inf).argmin()) for side in (same, ~same)]
