import numpy.typing as npt
from numpy import float64

from calipers._core.part import Part

class Loss(Part):
    def value(self, margin: npt.ArrayLike) -> npt.NDArray[float64]: ...
    def slope(self, margin: npt.ArrayLike) -> npt.NDArray[float64]: ...

class SmoothHinge(Loss):
    smoothness: float
    def __init__(self, smoothness: float = 3.0) -> None: ...

class Hinge(Loss):
    threshold: float
    def __init__(self, threshold: float = 1.0) -> None: ...

class SquaredHinge(Loss):
    threshold: float
    def __init__(self, threshold: float = 1.0) -> None: ...
