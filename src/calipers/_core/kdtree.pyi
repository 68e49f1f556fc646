from typing import Any

import numpy.typing as npt

from calipers.arrays import FloatArray, IndexArray

def split(
    X: npt.NDArray[Any], order: IndexArray, levels: tuple[int, int], positions: tuple[int, int]
) -> None: ...

class Tree:
    samples: FloatArray
    labels: IndexArray
    indices: IndexArray
    n: int
    d: int
    n_leaves: int
    def __init__(
        self, samples: FloatArray, labels: IndexArray, indices: IndexArray, depth: int
    ) -> None: ...
    def descend(
        self, places: IndexArray, n_same: int, n_other: int
    ) -> tuple[IndexArray, IndexArray, int]: ...
