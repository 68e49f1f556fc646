"""Folds of cross-validation: the fold in which each sample is held out."""

from __future__ import annotations

import warnings
from heapq import heapify, heapreplace
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

from calipers.arrays import IndexArray


def folds(
    y: npt.NDArray[Any],
    groups: npt.NDArray[Any] | None,
    n_folds: int,
    rng: np.random.Generator,
) -> IndexArray:
    """Deal samples to folds, each class as evenly as can be.

    Parameters
    ----------
    y : array of shape (n_samples,)
        Class of each sample.
    groups : array of shape (n_samples,) or None
        Samples of one group are held out together.
    n_folds : int
        Number of folds, at least 2; there are fewer if no class has as many samples.
    rng : Generator
        Shuffles the samples of each class.

    Returns
    -------
    array of shape (n_samples,)
        Fold of each sample, from 0.

    Examples
    --------
    >>> y, rng = np.array([0, 0, 0, 1, 1, 1]), np.random.default_rng(0)
    >>> [np.bincount(y[folds(y, None, 3, rng) == fold]).tolist() for fold in range(3)]
    [[1, 1], [1, 1], [1, 1]]
    """
    codes, sizes = np.unique(y, return_inverse=True, return_counts=True)[1:]
    make = StratifiedKFold if groups is None else StratifiedGroupKFold
    n_splits, seed = min(n_folds, max(2, sizes.max())), int(rng.integers(2**31))
    splits = make(n_splits, shuffle=True, random_state=seed)
    fold_of = np.empty(len(codes), dtype=np.intp)
    with warnings.catch_warnings(action="ignore", category=UserWarning):  # of small classes
        for fold, (_, held_out) in enumerate(splits.split(codes, codes, groups)):
            fold_of[held_out] = fold
    return fold_of


def grouped(groups: npt.NDArray[Any], n_folds: int, rng: np.random.Generator) -> IndexArray:
    """Put all items of a group into one fold, the largest group first into the smallest fold.

    Parameters
    ----------
    groups : array of shape (n_items,)
        Group of each item, for example the anchor of each triplet.
    n_folds : int
        Number of folds.
    rng : Generator
        Orders groups of equal size.

    Returns
    -------
    array of shape (n_items,)
        Fold of each item, from 0 to ``n_folds - 1``.

    Examples
    --------
    >>> grouped(np.array([7, 7, 7, 8, 8, 9]), 2, np.random.default_rng(0))
    array([0, 0, 0, 1, 1, 1])
    """
    _, group_of, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    shuffled = rng.permutation(len(sizes))
    largest_first = shuffled[np.argsort(-sizes[shuffled], kind="stable")]
    filled = [(0, fold) for fold in range(n_folds)]  # number of items, fold
    heapify(filled)
    fold_of = np.empty(len(sizes), dtype=np.intp)
    for group in largest_first.tolist():
        n_items, fold = filled[0]
        fold_of[group] = fold
        heapreplace(filled, (n_items + int(sizes[group]), fold))
    return np.asarray(fold_of[group_of])
