from typing import Any

import numpy as np
import numpy.typing as npt

from calipers.arrays import FloatArray, IndexArray

# algebra.pxi

class Samples:
    X: npt.NDArray[Any]
    n: int
    d: int
    def __init__(self, X: npt.NDArray[Any]) -> None: ...

def _update_margins(
    far: FloatArray, near: FloatArray, vectors: FloatArray, signs: FloatArray, out: FloatArray
) -> None: ...
def _add_outer_products(M: FloatArray, vectors: FloatArray, signs: FloatArray) -> float: ...

# parts.pxi

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

# eigen.pxi

class EigenWorkspace:
    def __init__(self, d: int) -> None: ...

def _lanczos(
    M: FloatArray, start: FloatArray, most: int
) -> tuple[FloatArray, FloatArray, float]: ...
def _all_negative(M: FloatArray, most: int) -> tuple[FloatArray, FloatArray]: ...
def _is_positive_definite(M: FloatArray, shift: float = 0.0) -> bool: ...

# state.pxi

class State:
    M: FloatArray
    total: FloatArray
    memory: FloatArray
    scale: float
    norm: float
    floor: float
    mass: float
    loss: float
    slope: float
    largest: float
    lowest: float
    dual: float
    steady: int
    seen: int
    updates: int
    changes: int
    rank: int
    projections: int
    negatives: int
    def __init__(
        self, M: FloatArray, scale: float, memory: FloatArray, floor: float = 0.0
    ) -> None: ...

class Workspace:
    d: int
    batch_size: int
    rows: int
    negatives: int
    max_rows: int
    def __init__(
        self, d: int, batch_size: int, rows: int, negatives: int, max_rows: int
    ) -> None: ...

# projections.pxi

class Rule(Part):
    def memory_shape(self, d: int) -> tuple[int, int]: ...
    def max_negatives(self, rows: int, d: int) -> int: ...

class EveryUpdate(Rule): ...

class Periodic(Rule):
    period: int
    def __init__(self, period: int) -> None: ...

class AtEnd(Rule):
    gamma: float
    unit: float
    def __init__(self, gamma: float = 0.01, unit: float = 1.0) -> None: ...

class FrankWolfe(Rule):
    trace: float
    lipschitz: float
    unit: float
    def __init__(self, trace: float, lipschitz: float, unit: float = 1.0) -> None: ...

# sgd.pxi

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

def run_sgd(
    state: State, ahead: LookAhead, method: Method, work: Workspace, length: int
) -> None: ...

# bilinear.pxi

class Triplets:
    anchors: FloatArray
    differences: FloatArray
    scores: FloatArray
    steps: FloatArray
    def __init__(self, X: Samples, triplets: IndexArray) -> None: ...
    def gather(self, start: int, stop: int) -> None: ...
    def evaluate(self, W: FloatArray, start: int, stop: int) -> None: ...

def run_bilinear(W: FloatArray, triplets: Triplets, aggressiveness: float, length: int) -> None: ...

# logdet.pxi

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

def run_pairs(
    A: FloatArray, differences: FloatArray, signs: IndexArray, step: PairStep
) -> tuple[FloatArray, npt.NDArray[np.bool_]]: ...

# neighbors.pxi

class Lists:
    squared_distances: FloatArray
    indices: IndexArray
    def __init__(self, n_anchors: int, size: int) -> None: ...
    def set_limits(self, norms: FloatArray, rounding: float, underflow: float, d: int) -> None: ...

def offer_tile(
    products: npt.NDArray[np.floating[Any]],
    first: int,
    anchors: tuple[FloatArray, IndexArray, IndexArray, IndexArray],
    tile: tuple[FloatArray, IndexArray, npt.NDArray[np.floating[Any]]],
    same: Lists,
    other: Lists,
) -> int: ...

# impostors.pxi

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
