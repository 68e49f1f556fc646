"""ITML: the batch method behind LEGO, by cyclic projections."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import _fit_context
from sklearn.callback import CallbackSupportMixin, with_callbacks
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval

from calipers import one_round
from calipers.checkpoint import Checkpointed
from calipers.metric import MahalanobisMixin
from calipers.one_round import Examples
from calipers.solvers.logdet import CyclicSolver
from calipers.validation import Given, given_labeled, given_unlabeled


class ITML(Checkpointed, CallbackSupportMixin, MahalanobisMixin):  # type: ignore[misc]
    """Information-theoretic metric learning: the metric nearest to the Euclidean one.

    Implements Davis, Kulis, Jain, Sra and Dhillon, "Information-Theoretic Metric Learning"
    (2007). Pairs that should be near should be within `near_distance`, and pairs that should be
    far at least `far_distance` apart. Of the metrics that meet these limits, ITML finds the one
    with the least LogDet divergence from the identity. A pair may miss its limit at a cost::

        min  D_ld(M, I) + slack_weight D_ld(diag(limits), diag(initial limits))

    ITML projects onto the constraint of one pair after the other, over and over.

    Parameters
    ----------
    n_triplets : int, default=1_000
        Triplets to draw. Each gives two pairs: anchor and positive should be near, anchor and
        negative far.
    slack_weight : float, default=1.0
        Cost of missing a limit (gamma); the larger it is, the less pairs miss their limits.
    near_distance : float or None, default=None
        Largest distance of pairs that should be near (the square root of u). None: the 5th
        percentile of the distances between random samples that differ.
    far_distance : float or None, default=None
        Smallest distance of pairs that should be far (the square root of l). None: the 95th
        percentile.
    max_iter : int, default=5000
        Most passes over all pairs; a ConvergenceWarning says if they were too few.
    tol : float, default=1e-3
        Stop once a pass changes the dual variables by less than this share of their size.
    n_neighbors : int, default=1
        Triplets take the positive and the negative among so many nearest of an anchor.
    n_components : int or None, default=None
        Rows of ``components_``. None: as many as features.
    random_state : int, RandomState instance or None, default=None
        Seeds the drawing of triplets, and of the pairs that set the limits.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        L with M = L'L, rows by falling variance of the training samples.
    near_distance_, far_distance_ : float
        The limits that pairs should meet.
    n_updates_ : int
        Projections that changed M.
    n_iter_ : int
        Passes over all pairs.
    converged_ : bool
        Whether a pass met `tol`.
    change_curve_ : ndarray of shape (n_iter,)
        Change of the dual variables in each pass, as a share of their size. ITML
        compares it with `tol`.
    loss_curve_ : ndarray of shape (n_iter,)
        Mean over pairs, in each pass, of how much a squared distance misses its limit, as a
        share of the limit; 0 for pairs within their limits.
    update_curve_ : ndarray of shape (n_iter,)
        Updates up to the end of each pass.
    mining_seconds_, solve_seconds_ : float
        Time to draw the triplets, and to learn from them.
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
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from sklearn.pipeline import make_pipeline
    >>> from calipers import ITML
    >>> X, y = load_iris(return_X_y=True)
    >>> model = make_pipeline(ITML(n_triplets=100, random_state=0), KNeighborsClassifier(3))
    >>> bool(model.fit(X, y).score(X, y) > 0.9)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_triplets": [Interval(Integral, 1, None, closed="left")],
        "slack_weight": [Interval(Real, 0, None, closed="neither")],
        "near_distance": [Interval(Real, 0, None, closed="neither"), None],
        "far_distance": [Interval(Real, 0, None, closed="neither"), None],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        *,
        n_triplets: int = 1_000,
        slack_weight: float = 1.0,
        near_distance: float | None = None,
        far_distance: float | None = None,
        max_iter: int = 5000,
        tol: float = 1e-3,
        n_neighbors: int = 1,
        n_components: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_triplets = n_triplets
        self.slack_weight = slack_weight
        self.near_distance = near_distance
        self.far_distance = far_distance
        self.max_iter = max_iter
        self.tol = tol
        self.n_neighbors = n_neighbors
        self.n_components = n_components
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    @with_callbacks  # type: ignore[untyped-decorator]
    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike, *, client: Any = None) -> Self:
        """Learn from labels: draw triplets among nearest neighbours.

        Parameters
        ----------
        X : array-like or Dask collection of shape (n_samples, n_features)
            Samples.
        y : array-like or Dask collection of shape (n_samples,)
            Class of each sample; numbers or strings.
        client : distributed.Client, optional
            Client for Dask collections. By default the current one, or a local cluster.

        Returns
        -------
        Self
            The fitted estimator.
        """
        with given_labeled(self, X, y, client=client) as given:
            return self._learn(given, one_round.drawn_triplets(self, given).as_pairs())

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    @with_callbacks  # type: ignore[untyped-decorator]
    def fit_triplets(
        self, X: npt.ArrayLike, triplets: npt.ArrayLike, *, client: Any = None
    ) -> Self:
        """Learn from your own triplets, in the order given.

        Parameters
        ----------
        X : array-like or Dask collection of shape (n_samples, n_features)
            Samples.
        triplets : array-like of shape (n_triplets, 3)
            Indices (anchor, positive, negative): the anchor should be closer to the positive.
        client : distributed.Client, optional
            Client for Dask collections. By default the current one, or a local cluster.

        Returns
        -------
        Self
            The fitted estimator.
        """
        with given_unlabeled(self, X, client=client) as given:
            examples = one_round.given_triplets(self, given, triplets)
            return self._learn(given, examples.as_pairs())

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    @with_callbacks  # type: ignore[untyped-decorator]
    def fit_pairs(
        self, X: npt.ArrayLike, pairs: npt.ArrayLike, y: npt.ArrayLike, *, client: Any = None
    ) -> Self:
        """Learn from your own pairs, in the order given.

        Parameters
        ----------
        X : array-like or Dask collection of shape (n_samples, n_features)
            Samples.
        pairs : array-like of shape (n_pairs, 2)
            Indices of the two samples of each pair.
        y : array-like of shape (n_pairs,)
            +1 for pairs that should be near, -1 for pairs that should be far.
        client : distributed.Client, optional
            Client for Dask collections. By default the current one, or a local cluster.

        Returns
        -------
        Self
            The fitted estimator.
        """
        with given_unlabeled(self, X, client=client) as given:
            return self._learn(given, one_round.given_pairs(self, given, pairs, y))

    def _learn(self, given: Given, examples: Examples) -> Self:
        near, far = one_round.find_limits(self, given.samples, examples.rngs[1])
        solver = CyclicSolver(
            float(self.slack_weight),
            {1: near, -1: far},
            given.samples.shape[1],
            tol=float(self.tol),
        )
        history = one_round.run(self, given, examples, solver, max_iter=int(self.max_iter))
        self.change_curve_ = np.array(solver.changes)
        self.converged_ = solver.converged
        if not self.converged_ and not history.stopped:
            warnings.warn(
                f"{type(self).__name__} stopped after max_iter={self.max_iter} passes, while the "
                f"dual variables still changed by {solver.change:.2g} of their size: raise "
                "max_iter or tol, or lower slack_weight.",
                ConvergenceWarning,
                stacklevel=5,  # past fit and scikit-learn's two wrappers of it
            )
        return self
