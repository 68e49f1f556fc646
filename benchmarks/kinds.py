"""The default fit beside Euclidean distance on every kind and size of data it has to hold for.

Kinds of features are digits and breast cancer of scikit-learn in other units; sizes are made up:
classes of low rank that overlap, in features whose spreads differ, and unit-norm embeddings. Of
more than 3,000 samples 3,000 are held out, of fewer a third, evenly over the classes.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.model_selection import train_test_split

import calipers
from benchmarks.clock import timed
from benchmarks.embeddings import embeddings
from benchmarks.rows import Column, Report
from benchmarks.shapes import mixture
from calipers import TripletSGD
from calipers.arrays import FloatArray
from calipers.paper.datasets import Split
from calipers.paper.protocol import split_error

Labelled: TypeAlias = tuple[npt.NDArray[Any], npt.NDArray[Any]]

N_HELD_OUT = 3000
MANY_SAMPLES = 10_000  # more are learned from with one seed only

TABLES = {
    "kinds": [
        Column("kind", "kind", width=34),
        Column("learned from", "shape", width=16),
        Column("classes", "n_classes", width=7),
        Column("of", "sizes", width=17),
        Column("runs", "n_runs", width=4),
        Column("Euclidean %", "euclidean", ".2f", 11),
        Column("default %", "default", ".2f", 9),
        Column("change", "change", "+.2f", 7),
        Column("seconds", "seconds", ".2f", 8),
    ]
}


def _digits(change: Callable[[FloatArray], npt.NDArray[Any]]) -> Callable[[int], Labelled]:
    """Pixels of 0 to 16, changed."""

    def make(seed: int) -> Labelled:
        X, y = load_digits(return_X_y=True)
        return change(X), y

    return make


def _millions_beside_thousandths(seed: int) -> Labelled:
    X, y = load_digits(return_X_y=True)
    other = 1e6 * np.random.default_rng(seed).normal(size=(len(X), 1))
    return np.hstack([X / 1000, other]), y


def _unlike_units(seed: int) -> Labelled:
    X, y = load_breast_cancer(return_X_y=True)
    return X * 10.0 ** np.random.default_rng(seed).integers(-6, 6, X.shape[1]), y


def _counts(seed: int) -> Labelled:
    """Of 300 words in texts of unlike lengths about eight things."""
    rng = np.random.default_rng(seed)
    y = rng.integers(8, size=2000)
    lengths = rng.gamma(2.0, 0.5, (len(y), 1))
    return rng.poisson(rng.gamma(1.0, 1.0, (8, 300))[y] * lengths).astype(np.float64), y


def _noise(n: int, d: int) -> Callable[[int], Labelled]:
    """Labels that have nothing to do with the samples."""

    def make(seed: int) -> Labelled:
        rng = np.random.default_rng(seed)
        return rng.normal(size=(n, d)), rng.integers(3, size=n)

    return make


def _classes(sizes: Sequence[int], d: int, separation: float = 1.5) -> Callable[[int], Labelled]:
    """Classes of these sizes in d features, some of which spread far more than others."""

    def make(seed: int) -> Labelled:
        rng = np.random.default_rng(seed)
        y = np.repeat(np.arange(len(sizes)), sizes)
        X = mixture(y, d, separation=separation, rng=rng)
        return X * np.exp(rng.normal(size=d)), y

    return make


def _embeddings(n: int, d: int, n_classes: int) -> Callable[[int], Labelled]:
    return lambda seed: embeddings(n, d, n_classes, seed=seed)


KINDS: Mapping[str, Callable[[int], Labelled]] = {
    "pixels of 0 to 255": _digits(lambda X: np.minimum(16 * X, 255).astype(np.uint8)),
    "0 and 1": _digits(lambda X: X > 8),
    "samples of length 1": _digits(lambda X: X / np.linalg.norm(X, axis=1, keepdims=True)),
    "tiny, of 32 bits": _digits(lambda X: (1e-8 * X).astype(np.float32)),
    "a feature in millions": _millions_beside_thousandths,
    "features of unlike units": _unlike_units,
    "counts": _counts,
    "noise, few samples": _noise(3300, 10),
    "noise, many samples": _noise(6000, 60),
    "100 samples of 2 features": _classes([1550] * 2, 2),
    "50 samples of 2,000 features": _classes([763, 763, 762, 762], 2000, separation=0.5),
    "fewer samples than features": _classes([1550] * 2, 300, separation=0.5),
    "150 classes of two": _classes([22] * 150, 30),
    "150 classes of 40": _classes([60] * 150, 100),
    "pairs beside a large class": _classes([22_000, *[3] * 39], 20),
    "two large classes": _classes([51_500] * 2, 10),
    "embeddings of 384 dimensions": _embeddings(13_000, 384, 150),
    "embeddings of 1,536 dimensions": _embeddings(7000, 1536, 150),
    "a million samples": _classes([200_600] * 5, 10),
}
"""What makes samples and labels from a seed."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument(
        "--only", nargs="+", choices=tuple(KINDS), default=tuple(KINDS), metavar="KIND"
    )
    parser.add_argument("--seeds", nargs="+", type=int, default=(0, 1, 2))
    parser.add_argument("--learner", choices=("TripletSGD", "MetricCV"), default="TripletSGD")


def run(args: argparse.Namespace, report: Report) -> None:
    """Measure kind by kind; of many samples with the first seed only."""
    X, y = load_digits(return_X_y=True)
    TripletSGD(random_state=0).fit(X[:300, 20:36], y[:300])  # compile before the clock starts
    for kind in args.only:
        measured = []
        for seed in args.seeds:
            data = held_out(*KINDS[kind](seed), seed=seed)
            measured.append(measure(data, getattr(calipers, args.learner)(random_state=seed)))
            if len(data.y_train) > MANY_SAMPLES:
                break
        euclidean, default, seconds = np.mean(measured, axis=0)
        sizes = np.unique_counts(data.y_train).counts
        report.add(
            "kinds",
            kind=kind,
            shape=f"{len(data.y_train):,} x {data.X_train.shape[1]:,}",
            n_classes=len(sizes),
            sizes=f"{sizes.min():,} to {sizes.max():,}",
            n_runs=len(measured),
            euclidean=euclidean,
            default=default,
            change=default - euclidean,
            seconds=seconds,
        )


def held_out(X: npt.NDArray[Any], y: npt.NDArray[Any], *, seed: int) -> Split:
    """A part to learn from and one to be held out, evenly over the classes."""
    X_train, X_test, y_train, y_test = train_test_split(
        X,
        y,
        test_size=N_HELD_OUT if len(y) > N_HELD_OUT else len(y) // 3,
        stratify=y,
        random_state=seed,
    )
    return Split(X_train, y_train, X_test, y_test)


def measure(data: Split, learner: Any) -> tuple[float, float, float]:
    """Errors without and with a metric, in percent, and the seconds of a fit."""
    seconds, metric = timed(lambda: learner.fit(data.X_train, data.y_train))
    return 100 * split_error(data), 100 * split_error(data, metric), seconds
