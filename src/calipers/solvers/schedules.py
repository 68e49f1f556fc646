"""How long steps are, and how much of the metric each keeps.

>>> Shrinking(ridge=0.5).rate(4), Shrinking(ridge=0.5).kept(4)
(0.5, 0.75)
"""

from calipers._core.compiled import Constant, FrankWolfeSteps, Schedule, Shrinking

__all__ = ["Constant", "FrankWolfeSteps", "Schedule", "Shrinking"]
