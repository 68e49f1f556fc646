from calipers._core.part import Part
from calipers.arrays import FloatArray

class Policy(Part):
    def probability(
        self,
        slopes: FloatArray,
        norms: FloatArray,
        far: FloatArray,
        near: FloatArray,
        uniform: float,
    ) -> float: ...

class EveryBatch(Policy): ...
class BySlope(Policy): ...

class ByGradientNorm(Policy):
    largest: float
    def __init__(self, largest: float) -> None: ...

class ByRunningNorm(Policy):
    largest: float
    def __init__(self, largest: float = 0.0) -> None: ...

class PassiveAggressive(Policy):
    aggressiveness: float
    def __init__(self, aggressiveness: float) -> None: ...

def gradient_norm(far: FloatArray, near: FloatArray, slopes: FloatArray) -> float: ...
