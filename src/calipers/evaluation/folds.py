"""Folds of cross-validation: the fold in which each sample is held out."""

from __future__ import annotations

from heapq import heapify, heapreplace
from typing import Any

import numpy as np
import numpy.typing as npt

from calipers.arrays import IndexArray


def stratified(labels: npt.NDArray[Any], n_folds: int, rng: np.random.Generator) -> IndexArray:
    """Deal the samples of every class to the folds in turn, in random order.

    Parameters
    ----------
    labels : array of shape (n_samples,)
        Class of each sample.
    n_folds : int
        Number of folds.
    rng : Generator
        Shuffles the samples of each class.

    Returns
    -------
    array of shape (n_samples,)
        Fold of each sample, from 0 to ``n_folds - 1``. The folds' sizes differ by at most 1, and
        so do their numbers of samples of any one class.

    Examples
    --------
    >>> stratified(np.array([0, 0, 0, 1, 1, 1]), 3, np.random.default_rng(0))
    array([1, 2, 0, 0, 2, 1])
    """
    codes = np.unique(labels, return_inverse=True)[1]
    shuffled = rng.permutation(len(codes))
    by_class = shuffled[np.argsort(codes[shuffled], kind="stable")]
    folds = np.empty(len(codes), dtype=np.intp)
    folds[by_class] = np.arange(len(codes)) % n_folds
    return folds


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
