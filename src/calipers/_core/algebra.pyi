from typing import Any

import numpy.typing as npt

from calipers.arrays import FloatArray

class Samples:
    X: npt.NDArray[Any]
    n: int
    d: int
    def __init__(self, X: npt.NDArray[Any]) -> None: ...

def _update_margins(
    far: FloatArray, near: FloatArray, vectors: FloatArray, signs: FloatArray, out: FloatArray
) -> None: ...
def _add_outer_products(M: FloatArray, vectors: FloatArray, signs: FloatArray) -> float: ...
