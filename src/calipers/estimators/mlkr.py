"""MLKR: metric learning for kernel regression, by mini-batches."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from calipers.estimators.base import Learned
from calipers.estimators.checks import Given
from calipers.estimators.minimisers import FactorLearner
from calipers.solvers.low_rank import FACTOR_BATCH
from calipers.solvers.soft_neighbors import squared_errors


class MLKR(FactorLearner):
    """Metric learning for kernel regression: small errors where neighbours vote on a number.

    Implements Weinberger and Tesauro, "Metric Learning for Kernel Regression" (2007). The target
    of a sample is predicted by the mean of the others', weighted by a Gaussian kernel of their
    distance, and MLKR minimises the squared errors::

        sum_i (y_i - sum_j p_ij y_j)^2,   p_ij = exp(-d(i, j)^2) / sum_{k != i} exp(-d(i, k)^2)

    It learns as `NCA` does.

    Parameters
    ----------
    n_components : int or None, default=None
        Rows of ``components_``. None: as many as features.
    init : {"auto", "identity", "scaled"} or array-like, default="scaled"
        Metric that learning starts from, but for its scale; for fewer components than features,
        its principal axes. "auto": "identity" or "scaled", whichever has the lower leave-one-out
        squared error of 3 nearest neighbours.
    batch_size : int or None, default=256
        Samples of a step, at least 4, which find their neighbours among each other. None: all
        samples at once, by L-BFGS, in memory that grows with their number (not its square).
    max_iter : int or None, default=None
        Steps, with `batch_size` None at most. None: four times the root of the number of samples.
    tol : float, default=1e-5
        With `batch_size` None, stop once a step lowers the objective by less than this share of
        it, on average over five, or by rounding of the first.
    random_state : int, RandomState instance or None, default=None
        Seeds the batches, unless one holds all samples.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        L with M = L'L, rows by falling variance of the training samples.
    init_ : str or ndarray
        What `init` stood for.
    max_iter_ : int
        What `max_iter` stood for.
    n_iter_, n_updates_ : int
        Steps.
    loss_curve_ : ndarray of shape (n_points,)
        Mean loss of an anchor since the point before, by mini-batches.
    objective_, objective_curve_, converged_
        The sum over all samples, at the end and after every step, and whether steps met `tol`;
        without mini-batches. Objectives and losses are in squares of the targets' unit.
    notes_ : list of str
        Remarks about the data that explain the metric but need no warning.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if X had string column names.

    Examples
    --------
    >>> from sklearn.datasets import make_friedman1
    >>> from sklearn.model_selection import cross_val_score
    >>> from sklearn.neighbors import KNeighborsRegressor
    >>> from sklearn.pipeline import make_pipeline
    >>> from calipers import MLKR
    >>> X, y = make_friedman1(400, random_state=0)
    >>> model = make_pipeline(MLKR(random_state=0), KNeighborsRegressor(10))
    >>> plain = KNeighborsRegressor(10)
    >>> bool(cross_val_score(model, X, y).mean() > cross_val_score(plain, X, y).mean())
    True
    """

    _target = "numbers"

    def __init__(
        self,
        n_components: int | None = None,
        *,
        init: str | npt.ArrayLike = "scaled",
        batch_size: int | None = FACTOR_BATCH,
        max_iter: int | None = None,
        tol: float = 1e-5,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_components = n_components
        self.init = init
        self.batch_size = batch_size
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _learn(self, given: Given) -> Learned:
        values = given.classes.astype(np.float64)
        if len(values) < 2:
            raise ValueError(
                f"{type(self).__name__} needs targets that differ, got {given.classes[0]} for all "
                f"{given.samples.shape[0]} samples: pass others, or check how they were made."
            )
        return self._learned_by(given, squared_errors, values - values.mean())
