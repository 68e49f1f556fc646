"""Metric learners with scikit-learn's contract.

- :mod:`~calipers.estimators.inputs`: what is checked, and said, at the boundary.
- :mod:`~calipers.estimators.triplet_sgd`: the paper's five algorithms.
- :mod:`~calipers.estimators.large_margin`: the objective of the batch method it compares
  with, and :mod:`~calipers.estimators.lmnn`: the method.
- :mod:`~calipers.estimators.euclidean`: no learning at all.
"""

from calipers.estimators.euclidean import Euclidean
from calipers.estimators.lmnn import LMNN
from calipers.estimators.triplet_sgd import PAPER_SETTINGS, TripletSGD

__all__ = ["LMNN", "PAPER_SETTINGS", "Euclidean", "TripletSGD"]
