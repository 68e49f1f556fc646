"""Hold-outs of training parts, on which defaults are studied; test parts are never looked at."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from benchmarks import keel
from calipers.paper.datasets import Split, load, names, numbered_split

COMPARED = (
    *("wine", "iris", "digits", "breast_cancer", "semeion", "dna", "tdt30", "letter", "connect4"),
    *("vehicle", "segment", "satimage", "vowel", "wdbc", "sonar", "heart", "pima", "phoneme"),
    *("ring", "ionosphere", "australian", "spambase", "optdigits", "movement_libras"),
)
"""The 24 data sets over which means are taken."""


def expand(chosen: Iterable[str]) -> list[str]:
    """Names of data sets, each once; "all" stands for every one that there is."""
    chosen = list(chosen)
    return list(dict.fromkeys([*names(), *keel.names()] if "all" in chosen else chosen))


def held_out(
    name: str, *, data_dir: str | None, most: int, seed: int, mislabelled: float = 0.0
) -> Split:
    """Three quarters and a quarter of at most so many samples of a training part.

    A share of the samples to learn from gets labels drawn anew.
    """
    is_ours = name in names()
    part = load(name, data_dir=data_dir) if is_ours else numbered_split(*keel.load(name), 0)
    X, y = part.X_train, part.y_train
    kept = np.random.default_rng(0).permutation(len(y))[:most]
    kept = np.random.default_rng([1, seed]).permutation(kept)
    test, train = np.split(kept, [len(kept) // 4])
    return relabelled(Split(X[train], y[train], X[test], y[test]), mislabelled, seed)


def relabelled(data: Split, share: float, seed: int) -> Split:
    """Draw a share of the training labels anew, among all classes."""
    rng = np.random.default_rng([2, seed])
    y = data.y_train.copy()
    drawn = rng.random(len(y)) < share
    y[drawn] = rng.choice(np.unique(y), size=drawn.sum())
    return replace(data, y_train=y)
