from calipers._core.parts import Part

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
