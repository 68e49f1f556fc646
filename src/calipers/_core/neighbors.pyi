from typing import Any

import numpy as np
import numpy.typing as npt

from calipers.arrays import FloatArray, IndexArray

_ProductArray = npt.NDArray[np.floating[Any]]

class Lists:
    squared_distances: FloatArray
    indices: IndexArray
    limits: FloatArray
    def __init__(self, n_anchors: int, size: int) -> None: ...

def set_limits(lists: Lists, squared_norms: FloatArray, bound: dict[str, float]) -> None: ...
def offer(
    products: _ProductArray,
    first: int,
    anchors: tuple[FloatArray, IndexArray, FloatArray, IndexArray, IndexArray],
    tile: tuple[FloatArray, IndexArray, _ProductArray],
    same: Lists,
    other: Lists,
    bound: dict[str, float],
) -> int: ...

class Tree:
    indices: IndexArray
    def __init__(
        self,
        samples: FloatArray,
        labels: IndexArray,
        indices: IndexArray,
        bounds: IndexArray,
        low: FloatArray,
        high: FloatArray,
        only_class: IndexArray,
        classes: npt.NDArray[np.uint64],
    ) -> None: ...
    def descend(
        self, places: IndexArray, n_same: int, n_other: int
    ) -> tuple[IndexArray, IndexArray, int]: ...
