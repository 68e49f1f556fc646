"""NCA: neighbourhood components analysis, by mini-batches."""

from __future__ import annotations

from calipers.estimators.base import Learned
from calipers.estimators.checks import Given, check_classes, warn_singletons
from calipers.estimators.minimisers import FactorLearner
from calipers.solvers.soft_neighbors import expected_errors


class NCA(FactorLearner):
    """Neighbourhood components analysis: as few errors of soft nearest neighbours as can be.

    Implements Goldberger, Roweis, Hinton and Salakhutdinov, "Neighbourhood Components Analysis"
    (2004). Sample i picks j for its neighbour with probability p_ij, and NCA maximises the
    expected number of samples whose neighbour is of their class::

        sum_i sum_{j of i's class} p_ij,   p_ij = exp(-d(i, j)^2) / sum_{k != i} exp(-d(i, k)^2)

    It is the objective of scikit-learn's NeighborhoodComponentsAnalysis. Steps follow mini-batches
    of samples that find their neighbours among each other.

    Parameters
    ----------
    n_components : int or None, default=None
        Rows of ``components_``. None: as many as features.
    init : {"auto", "identity", "scaled", "within-class"} or array-like, default="auto"
        Metric that learning starts from, but for its scale. "auto": of raw and scaled features
        those with the lower leave-one-out 3-NN error. For fewer components than features,
        learning starts from the discriminant axes in these coordinates.
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
        without mini-batches.
    notes_ : list of str
        Remarks about the data that explain the metric but need no warning.
    classes_ : ndarray of shape (n_classes,)
        Labels seen by `fit`.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if X had string column names.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from sklearn.pipeline import make_pipeline
    >>> from calipers import NCA
    >>> X, y = load_wine(return_X_y=True)
    >>> model = make_pipeline(NCA(random_state=0), KNeighborsClassifier(3))
    >>> bool(model.fit(X, y).score(X, y) > 0.95)
    True
    """

    def _learn(self, given: Given) -> Learned:
        check_classes(self, given)
        warn_singletons(given)
        return self._learned_by(given, expected_errors)
