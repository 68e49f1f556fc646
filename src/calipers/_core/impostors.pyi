import numpy as np
import numpy.typing as npt

from calipers.arrays import FloatArray, IndexArray

def columns_below(
    bounds: npt.NDArray[np.float32], limits: npt.NDArray[np.float32], own: IndexArray
) -> tuple[IndexArray, npt.NDArray[np.int32]]: ...
def measure_targets(Z: FloatArray, targets: IndexArray, first: int, radii: FloatArray) -> None: ...
def weigh(
    X: FloatArray,
    Z: FloatArray,
    weights: FloatArray,
    targets: IndexArray,
    radii: FloatArray,
    first: int,
    starts: IndexArray,
    columns: npt.NDArray[np.int32],
    mixed: FloatArray,
    counts: FloatArray,
) -> tuple[float, int]: ...
