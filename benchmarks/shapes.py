"""The data: the ten shapes of the paper's Table 1.

A data set is read from its file where there is one. Else, and always for sensit, rcv20 and
protein, it is a synthetic stand-in of the same number of samples, features and classes, with
values of the same kind, and its name says so.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

import numpy as np

from calipers.arrays import FloatArray, IndexArray
from calipers.data.samples import MemorySamples
from calipers.data.triplets import DrawnTriplets
from calipers.paper.datasets import DatasetError, data_folder, load, require
from calipers.paper.published import SIZES

NAMES = tuple(SIZES)
NEVER_READ = ("protein", "sensit", "rcv20")  # no file, or only a part of one
MOST_SEARCHED = 20_000  # samples of a large stand-in among which its triplets are made

KINDS = {
    "semeion": "two values",
    "dna": "two values",
    "letter": "grid",
    "connect4": "three values",
    "poker": "cards",
}
"""What values the stand-ins have; the rest are classes of low rank that overlap."""

SEPARATION = {"protein": 0.7, "sensit": 0.2, "rcv20": 0.5}
"""How far classes are apart, 1 where not named: chosen so that AS-SGD updates roughly as often
as in the paper, neither at all triplets nor at none."""


@dataclass(frozen=True)
class Data:
    """Samples and classes to learn from.

    Attributes
    ----------
    name : str
        As the tables show it.
    X : ndarray of shape (n, d)
        Features.
    y : ndarray of shape (n,)
        Class numbers.
    note : str
        Where the data differ from what their name promises.
    """

    name: str
    X: FloatArray
    y: IndexArray
    note: str = ""

    @property
    def shape(self) -> str:
        """Rows times features, for people."""
        return f"{len(self.X):,} x {self.X.shape[1]}"


def data_set(name: str, *, data_dir: str | os.PathLike[str] | None = None, shrink: int = 1) -> Data:
    """The training part of a data set, or a stand-in; ``shrink`` divides its samples."""
    if name not in NEVER_READ and data_folder(data_dir):
        try:
            require(name, data_dir=data_dir)
        except DatasetError:
            return stand_in(name, shrink=shrink)
        data = load(name, data_dir=data_dir)
        n = len(data.X_train) // shrink
        X = np.ascontiguousarray(data.X_train[:n])  # as a fit has them when it begins to learn
        return Data(name, X, data.y_train[:n], data.note)
    return stand_in(name, shrink=shrink)


def stand_in(name: str, *, shrink: int = 1, seed: int = 0) -> Data:
    """Synthetic samples of the named shape: overlapping classes of low rank, or kinds of codes."""
    size, kind = SIZES[name], KINDS.get(name, "mixture")
    n, d = size.n_train // shrink, size.n_features
    rng = np.random.default_rng(seed)
    y = rng.integers(size.n_classes, size=n)
    if kind == "cards":
        suits = rng.integers(1, 5, (n, d // 2))
        ranks = rng.integers(1, 14, (n, d - d // 2))
        y = np.minimum(rng.geometric(0.5, n) - 1, size.n_classes - 1)
        X = np.hstack([suits, ranks]).astype(np.float64)
    elif kind == "three values":
        X = rng.choice([1.0, 2.0, 3.0], (n, d), p=[0.6, 0.2, 0.2])
    else:
        X = mixture(y, d, separation=SEPARATION.get(name, 1.0), rng=rng)
    if kind == "grid":
        X = np.clip(np.round(2 * X + 7.5), 0, 15) / 7.5 - 1
    if kind == "two values":
        X = (X > 0).astype(np.float64)
    return Data(f"{name} stand-in", X, y, "synthetic, of the same shape")


def mixture(y: IndexArray, d: int, *, separation: float, rng: np.random.Generator) -> FloatArray:
    """Samples of overlapping classes that differ in a few directions, and a little noise."""
    rank, n_classes = min(20, d // 2), int(y.max()) + 1
    centres = separation * rng.normal(size=(n_classes, rank))
    inner = centres[y] + rng.normal(size=(len(y), rank))
    X = inner @ rng.normal(size=(rank, d)) / np.sqrt(rank)
    X += 0.3 * rng.normal(size=X.shape)
    return np.asarray(X)


def triplets(data: Data, n_triplets: int, *, seed: int = 0) -> IndexArray:
    """The paper's triplets: the nearest positive and the nearest negative of random anchors.

    Those of a large stand-in are made of some of its samples: a search that takes minutes
    would tell the solvers nothing.
    """
    rng = np.random.default_rng(seed)
    kept = np.arange(len(data.X))
    if data.name.endswith("stand-in") and len(kept) > MOST_SEARCHED:
        kept = np.sort(rng.permutation(len(kept))[:MOST_SEARCHED])
    source = DrawnTriplets(
        MemorySamples(data.X[kept], data.y[kept]), n_triplets, n_neighbors=1, rng=rng
    )
    drawn: IndexArray = kept[next(source.portions(n_triplets))]
    return drawn
