"""When and how an update keeps the metric within its bounds: the cone, then the ball.

The projection onto positive semi-definite matrices of Frobenius norm at most ``radius`` drops the
negative eigenvalues, then scales (Proposition 1 of the paper; the order matters).
"""

from calipers._core.compiled import AtEnd, EveryUpdate, FrankWolfe, Periodic, Rule

__all__ = ["AtEnd", "EveryUpdate", "FrankWolfe", "Periodic", "Rule"]
