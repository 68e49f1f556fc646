import numpy as np
import numpy.typing as npt

from calipers._core.algebra import Samples
from calipers._core.parts import Loss, Policy, Schedule
from calipers._core.projections import Rule
from calipers._core.state import State, Workspace
from calipers.arrays import FloatArray, IndexArray

class Method:
    loss: Loss
    policy: Policy
    schedule: Schedule
    rule: Rule
    radius: float
    max_importance_weight: float
    clip_norm: float
    share: float
    def __init__(
        self,
        loss: Loss,
        policy: Policy,
        schedule: Schedule,
        rule: Rule,
        *,
        radius: float,
        max_importance_weight: float,
        clip_norm: float,
        share: float,
    ) -> None: ...

class LookAhead:
    far: FloatArray
    near: FloatArray
    margins: FloatArray
    norms: FloatArray
    accepted: npt.NDArray[np.bool_]
    def __init__(
        self,
        X: Samples,
        triplets: IndexArray,
        candidates: IndexArray,
        k: int,
        uniforms: FloatArray,
    ) -> None: ...
    def gather(self, start: int, stop: int, clip_norm: float) -> None: ...
    def evaluate(self, state: State, work: Workspace, start: int, stop: int) -> None: ...

def run(state: State, ahead: LookAhead, method: Method, work: Workspace, length: int) -> None: ...
