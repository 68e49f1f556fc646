"""Metric learners with scikit-learn's contract.

- :mod:`~calipers.estimators.inputs`: what is checked, and said, at the boundary.
- :mod:`~calipers.estimators.from_triplets` and :mod:`~calipers.estimators.from_pairs`: what
  learners from triplets, and those from pairs, have in common.
- :mod:`~calipers.estimators.triplet_sgd`: the paper's five algorithms.
- :mod:`~calipers.estimators.spml`: the same loop with other parts, that it compares with.
- :mod:`~calipers.estimators.oasis` and :mod:`~calipers.estimators.lego`: the online methods
  that it compares with; :mod:`~calipers.estimators.itml`: the batch method behind LEGO.
- :mod:`~calipers.estimators.large_margin`: the objective of the batch method it compares
  with, and :mod:`~calipers.estimators.lmnn`: the method.
- :mod:`~calipers.estimators.euclidean`: no learning at all.
"""

from calipers.estimators.defaults import PAPER_SETTINGS
from calipers.estimators.euclidean import Euclidean
from calipers.estimators.itml import ITML
from calipers.estimators.lego import LEGO
from calipers.estimators.lmnn import LMNN
from calipers.estimators.oasis import OASIS
from calipers.estimators.spml import SPML
from calipers.estimators.triplet_sgd import TripletSGD

__all__ = ["ITML", "LEGO", "LMNN", "OASIS", "PAPER_SETTINGS", "SPML", "Euclidean", "TripletSGD"]
