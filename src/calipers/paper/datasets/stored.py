"""Data sets from .npz files: the compact forms that a folder of the user's may hold.

Features come out as the paper used them, see `paper`.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np

from calipers.paper.datasets.reduce import principal_components
from calipers.paper.datasets.split import Split, Table, features, labels


def whole(path: Path) -> Table:
    """Read all examples."""
    with np.load(path) as stored:
        return Table(features(stored["X"]), labels(stored["y"]))


def standard(path: Path) -> Split:
    """Read a training and a test part."""
    with np.load(path) as stored:
        return Split(
            features(stored["X_train"]),
            labels(stored["y_train"]),
            features(stored["X_test"]),
            labels(stored["y_test"]),
        )


def letter(path: Path) -> Split:
    """Scale 0..15 to [-1, 1], as LIBSVM's letter.scale."""
    raw = standard(path)
    return Split(raw.X_train / 7.5 - 1, raw.y_train, raw.X_test / 7.5 - 1, raw.y_test)


def connect4(path: Path) -> Table:
    """Turn the squares b / o / x, stored as 0 / -1 / 1, into 1 / 2 / 3."""
    X, y = whole(path)
    return Table(np.select([X == 0, X == -1], [1.0, 2.0], default=3.0), y)


@cache
def tdt30(path: Path) -> Table:
    """Reduce raw term counts to 200 dimensions, once per process."""
    from scipy.sparse import csr_matrix

    with np.load(path) as stored:
        shape = tuple(stored["shape"].tolist())
        parts = (features(stored["data"]), stored["indices"].astype(np.int32), stored["indptr"])
        y = labels(stored["y"])
    return Table(principal_components(csr_matrix(parts, shape=shape)), y)


def simulated_poker(simulated: Path, tested: Path) -> Split:
    """Train on simulated hands, test on the real ones."""
    train = whole(simulated)
    with np.load(tested) as stored:
        return Split(train.X, train.y, features(stored["X_test"]), labels(stored["y_test"]))


def part_of_protein(path: Path) -> Table:
    """Turn the stored hundredths back into their decimals."""
    X, y = whole(path)
    return Table(X / 100, y)
