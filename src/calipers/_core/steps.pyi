from calipers._core.part import Part
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
