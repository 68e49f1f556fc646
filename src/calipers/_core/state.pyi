from calipers.arrays import FloatArray

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
    numbers: dict[str, float]
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
        self, d: int, *, batch_size: int, rows: int, negatives: int, max_rows: int
    ) -> None: ...
