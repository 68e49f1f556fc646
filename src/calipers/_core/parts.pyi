import numpy.typing as npt

from calipers.arrays import FloatArray

class Part:
    parameters: tuple[str, ...]

class Loss(Part):
    def value(self, margin: npt.ArrayLike) -> FloatArray: ...
    def slope(self, margin: npt.ArrayLike) -> FloatArray: ...

class SmoothHinge(Loss):
    smoothness: float
    def __init__(self, smoothness: float = 3.0) -> None: ...

class Hinge(Loss):
    threshold: float
    def __init__(self, threshold: float = 1.0) -> None: ...

class SquaredHinge(Loss):
    threshold: float
    def __init__(self, threshold: float = 1.0) -> None: ...

class Schedule(Part):
    def rate(self, t: float) -> float: ...
    def kept(self, t: float) -> float: ...

class Constant(Schedule):
    learning_rate: float
    def __init__(self, learning_rate: float = 1.0) -> None: ...

class Shrinking(Schedule):
    ridge: float
    def __init__(self, ridge: float) -> None: ...

class FrankWolfeSteps(Schedule): ...

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
