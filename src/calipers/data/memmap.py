"""Memory-mapped arrays, read block by block so that memory never holds the whole file.

The system counts a page of a memory map as memory of the process once the process has read it.
`blocks_of` therefore releases the pages after every block; the system keeps them in its cache.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from typing import Any

import numpy.typing as npt

BLOCK_ELEMENTS = 2**21  # 16 MB in float64
LARGEST_READ = 2**27  # bytes; a larger file is memory-mapped


def blocks_of(X: npt.NDArray[Any]) -> Iterator[tuple[int, npt.NDArray[Any]]]:
    """Yield (first index, view) of successive blocks of at most BLOCK_ELEMENTS elements.

    A block has at least one sample. Its limits depend on the shape of X alone.

    >>> import numpy as np
    >>> [(first, len(block)) for first, block in blocks_of(np.zeros((3, 2**20)))]
    [(0, 2), (2, 1)]
    """
    for first, last in block_limits(X.shape):
        yield first, X[first:last]
        release(X)


def block_limits(shape: tuple[int, ...]) -> Iterator[tuple[int, int]]:
    """Yield the first index of each block of a 2-d array, and the index after its last.

    >>> list(block_limits((3, 2**20)))
    [(0, 2), (2, 3)]
    """
    size = max(1, BLOCK_ELEMENTS // max(shape[1], 1))
    for first in range(0, shape[0], size):
        yield first, min(first + size, shape[0])


def release(X: npt.NDArray[Any]) -> None:
    """Release the pages of a memory map, but not of a copy-on-write map: they hold its changes."""
    pages = getattr(X, "_mmap", None)
    if pages is not None and getattr(X, "mode", "c") != "c" and hasattr(mmap, "MADV_DONTNEED"):
        pages.madvise(mmap.MADV_DONTNEED)
