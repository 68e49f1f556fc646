"""The k-nearest-neighbour vote, with the paper's tie rule."""

from __future__ import annotations

import numpy as np

from calipers.arrays import IndexArray


def vote(labels: IndexArray) -> IndexArray:
    """Return the majority class of each sample's neighbours; the nearest neighbour breaks ties.

    Parameters
    ----------
    labels : array of shape (n, k)
        Class codes of the k nearest neighbours of n samples, nearest first.

    Returns
    -------
    array of shape (n,)
        The class with most votes. Among classes with equally many votes it is the class of
        the nearest neighbour.

    Examples
    --------
    >>> vote(np.array([[0, 1, 1], [2, 0, 1]]))
    array([1, 2])
    """
    votes = np.zeros(labels.shape, dtype=np.intp)
    for neighbor in range(labels.shape[1]):
        votes += labels == labels[:, neighbor, None]
    # argmax takes the first, hence nearest, neighbour among those with most votes
    winner: IndexArray = labels[np.arange(len(labels)), votes.argmax(axis=1)]
    return winner
