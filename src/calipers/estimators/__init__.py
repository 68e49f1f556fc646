"""Metric learners with scikit-learn's contract.

- :mod:`~calipers.estimators.inputs`: what is checked, and said, at the boundary.
- :mod:`~calipers.estimators.triplet_sgd`: the paper's five algorithms.
"""

from calipers.estimators.triplet_sgd import PAPER_SETTINGS, TripletSGD

__all__ = ["PAPER_SETTINGS", "TripletSGD"]
