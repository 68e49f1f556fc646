import numpy as np
import numpy.typing as npt

from calipers._core.steps import PairStep
from calipers.arrays import FloatArray, IndexArray

def run(
    A: FloatArray, differences: FloatArray, signs: IndexArray, step: PairStep
) -> tuple[FloatArray, npt.NDArray[np.bool_]]: ...
