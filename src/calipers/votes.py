"""Votes of the nearest rows, with the paper's tie rule."""

from __future__ import annotations

import numpy as np

from calipers.arrays import IndexArray


def winners(codes: IndexArray) -> IndexArray:
    """The class with most votes in each row of neighbours' classes, nearest first.

    Of classes with equally many votes the one with the nearest member wins.

    >>> winners(np.array([[0, 1, 1], [2, 0, 1]]))
    array([1, 2])
    """
    votes = np.zeros(codes.shape, dtype=np.intp)
    for column in range(codes.shape[1]):
        votes += codes == codes[:, column, None]
    # argmax takes the first, hence nearest, neighbour among those with most votes
    winner: IndexArray = codes[np.arange(len(codes)), votes.argmax(axis=1)]
    return winner
