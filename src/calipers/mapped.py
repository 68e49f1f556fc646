"""Files that are mapped, and read block by block so that they are never held as a whole.

A mapped file's pages count as memory of the process once they were read, so they are given
back after every block; they stay in the system's cache.
"""

from __future__ import annotations

import mmap
import tempfile
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from calipers.arrays import FloatArray

BLOCK_ELEMENTS = 2**21  # 16 MB in float64
LARGEST_READ = 2**27  # bytes up to which a file is read as a whole


def blocks_of(X: npt.NDArray[Any]) -> Iterator[tuple[int, npt.NDArray[Any]]]:
    """Views of successive blocks of rows, with the number of each one's first.

    >>> [(first, len(block)) for first, block in blocks_of(np.zeros((3, 2**20)))]
    [(0, 2), (2, 1)]
    """
    size = max(1, BLOCK_ELEMENTS // max(X.shape[1], 1))
    for first in range(0, len(X), size):
        yield first, X[first : first + size]
        release(X)


def release(X: npt.NDArray[Any]) -> None:
    """Give the pages of a mapped file back; those that only this process has changed stay."""
    pages = getattr(X, "_mmap", None)
    if pages is not None and getattr(X, "mode", "c") != "c" and hasattr(mmap, "MADV_DONTNEED"):
        pages.madvise(mmap.MADV_DONTNEED)


def spread_of(X: npt.NDArray[Any]) -> FloatArray:
    """Return the standard deviation of each column.

    >>> spread_of(np.array([[1.0, 5.0], [3.0, 5.0]]))
    array([1., 0.])
    """
    total = sum(block.sum(axis=0, dtype=np.float64) for _, block in blocks_of(X))
    mean = np.asarray(total / len(X))
    squared = np.zeros(X.shape[1])
    for _, block in blocks_of(X):
        squared += np.square(block - mean).sum(axis=0)
    return np.asarray(np.sqrt(squared / len(X)))


def divided(X: npt.NDArray[Any], unit: FloatArray) -> npt.NDArray[Any]:
    """``X / unit``; of a mapped file it is a mapped file too, see `room_for`."""
    if not isinstance(X, np.memmap):
        return np.asarray(X / unit)
    quotients = room_for(X.shape, np.float64)
    for first, block in blocks_of(X):
        quotients[first : first + len(block)] = block / unit
        release(quotients)
    return quotients


def room_for(shape: tuple[int, ...], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """A mapped file without a name, in the folder for temporary files ($TMPDIR).

    Its place on the disk is free again when it is no longer used.
    """
    with tempfile.TemporaryFile() as file:
        return np.memmap(file, dtype=dtype, mode="w+", shape=shape)
