"""Steps of a pair: how far one pair of samples moves the metric, and whether it does.

>>> import numpy as np
>>> step = TowardsTarget(near=1.0, far=4.0, learning_rate=1.0)
>>> step.loss(np.array([3.0, 0.5, 3.0]), np.array([1, 1, -1]))
array([2. , 0. , 0.5])
"""

from calipers._core.compiled import PairStep, ProjectionWithSlack, TowardsTarget

__all__ = ["PairStep", "ProjectionWithSlack", "TowardsTarget"]
