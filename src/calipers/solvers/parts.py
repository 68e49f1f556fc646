"""The parts that a solver is made of; they are compiled.

- Losses of a triplet's margin, the squared distance to the negative minus that to the positive:
  `SmoothHinge` (the paper's), `Hinge`, `SquaredHinge`. ``value`` falls as the margin grows,
  ``slope`` is the size of its derivative, at most 1 but for the squared hinge.
- Sampling policies: the probability that a batch leads to an update. A step is divided by it, which
  keeps steps unbiased: `EveryBatch`, `BySlope`, `ByGradientNorm`, `ByRunningNorm`. OASIS's
  `PassiveAggressive` also sets the slope.
- Rules of projection: when and how an update keeps the metric within the cone, then the ball
  (Proposition 1 of the paper): `EveryUpdate`, `Periodic`, `AtEnd`, `FrankWolfe`.
- Schedules: how long steps are, and how much of the metric each keeps: `Constant`, `Shrinking`,
  `FrankWolfeSteps`.
- Steps of a pair (LEGO, ITML): `TowardsTarget`, `ProjectionWithSlack`.

>>> import numpy as np
>>> SmoothHinge(smoothness=3.0).slope(np.array([-1e6, 1.0, 1e6]))
array([1. , 0.5, 0. ])
>>> Shrinking(ridge=0.5).rate(4), Shrinking(ridge=0.5).kept(4)
(0.5, 0.75)
>>> step = TowardsTarget(near=1.0, far=4.0, learning_rate=1.0)
>>> step.loss(np.array([3.0, 0.5, 3.0]), np.array([1, 1, -1]))
array([2. , 0. , 0.5])
"""

from calipers._core.compiled import (
    AtEnd as AtEnd,
    ByGradientNorm as ByGradientNorm,
    ByRunningNorm as ByRunningNorm,
    BySlope as BySlope,
    Constant as Constant,
    EveryBatch as EveryBatch,
    EveryUpdate as EveryUpdate,
    FrankWolfe as FrankWolfe,
    FrankWolfeSteps as FrankWolfeSteps,
    Hinge as Hinge,
    Loss as Loss,
    PairStep as PairStep,
    PassiveAggressive as PassiveAggressive,
    Periodic as Periodic,
    Policy as Policy,
    ProjectionWithSlack as ProjectionWithSlack,
    Rule as Rule,
    Schedule as Schedule,
    Shrinking as Shrinking,
    SmoothHinge as SmoothHinge,
    SquaredHinge as SquaredHinge,
    TowardsTarget as TowardsTarget,
    gradient_norm as gradient_norm,
)
