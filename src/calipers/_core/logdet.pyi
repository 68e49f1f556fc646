import numpy as np
import numpy.typing as npt

from calipers._core.parts import Part
from calipers.arrays import FloatArray, IndexArray

class PairStep(Part):
    def coefficient(self, pair: int, sign: int, squared: float, usual: float) -> float | None: ...

class TowardsTarget(PairStep):
    near: float
    far: float
    learning_rate: float
    def __init__(self, near: float, far: float, learning_rate: float) -> None: ...
    def loss(self, squared: FloatArray, signs: IndexArray) -> FloatArray: ...

class ProjectionWithSlack(PairStep):
    slack_weight: float
    duals: FloatArray
    slacks: FloatArray
    def __init__(self, slack_weight: float, duals: FloatArray, slacks: FloatArray) -> None: ...

def run(
    A: FloatArray, differences: FloatArray, signs: IndexArray, step: PairStep
) -> tuple[FloatArray, npt.NDArray[np.bool_]]: ...
