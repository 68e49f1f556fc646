"""LMNN: large margin nearest neighbours, a batch method."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from time import perf_counter
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import _fit_context
from sklearn.callback import CallbackSupportMixin, with_callbacks
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval

from calipers import validation
from calipers.arrays import IndexArray
from calipers.coordinates import Coordinates
from calipers.data.samples import MemorySamples
from calipers.init import LinearMap
from calipers.metric import MahalanobisMixin
from calipers.solvers.large_margin import LargeMargin
from calipers.solvers.lbfgs import LargeMarginSolver
from calipers.threads import single_threaded_blas
from calipers.training import Passes, learn
from calipers.validation import given_labeled


class LMNN(CallbackSupportMixin, MahalanobisMixin):  # type: ignore[misc]
    """Large margin nearest neighbours: pull targets near, push impostors away.

    Implements Weinberger and Saul, "Distance Metric Learning for Large Margin Nearest
    Neighbor Classification" (2009). With T(i) the `n_neighbors` nearest samples of i's class in
    the Euclidean distance, LMNN minimises over positive semi-definite M::

        (1 - mu) sum_{i, j in T(i)} d_M(i, j)^2
            + mu sum_{i, j in T(i)} sum_{l of another class} [1 + d_M(i, j)^2 - d_M(i, l)^2]_+

    Every value of the objective is exact: it counts all impostors. L-BFGS minimises it over L
    with M = L'L, in coordinates in which the pull is close to the identity. Projected gradient
    descent in M with the usual step rule (1 % longer after a decrease, else halved) ends at the
    same or a higher value, after many times the iterations.

    Parameters
    ----------
    n_neighbors : int, default=3
        Targets of each sample (k); a sample has fewer if its class has fewer others.
    push_weight : float, default=0.5
        Weight of the push (mu), above 0 and at most 1.
    max_iter : int, default=1000
        Most iterations; a ConvergenceWarning says if they were too few.
    tol : float, default=1e-5
        Stop once an iteration lowers the objective by less than this share of it, on
        average over five.
    n_components : int or None, default=None
        Rows of ``components_``. None: as many as features. LMNN learns the full M and then
        keeps the directions with the largest variance of the training samples.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        L with M = L'L; ``transform`` is ``X @ components_.T``.
    objective_ : float
        The objective at M.
    objective_curve_ : ndarray of shape (n_updates + 1,)
        The objective at the initial M, a multiple of the identity, and after every step.
    n_iter_, n_updates_ : int
        Steps; each lowers the objective.
    n_active_ : int
        Triplets with a hinge above 0 at M.
    converged_ : bool
        Whether the steps met `tol`.
    mining_seconds_, solve_seconds_ : float
        Time to find the targets, and to learn from them.
    notes_ : list of str
        Remarks about the data that explain the metric but need no warning.
    classes_ : ndarray of shape (n_classes,)
        Labels seen by `fit`.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, if X had string column names.

    Notes
    -----
    The margin is 1 in the units of X squared: features with small values give an M with large
    entries, but k-NN does not depend on the scale of M. The objective is convex in M, so the
    initial M does not matter.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from sklearn.pipeline import make_pipeline
    >>> from calipers import LMNN
    >>> X, y = load_wine(return_X_y=True)
    >>> model = make_pipeline(LMNN(), KNeighborsClassifier(3))
    >>> bool(model.fit(X, y).score(X, y) > 0.95)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "push_weight": [Interval(Real, 0, 1, closed="right")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
    }

    def __init__(
        self,
        n_neighbors: int = 3,
        *,
        push_weight: float = 0.5,
        max_iter: int = 1000,
        tol: float = 1e-5,
        n_components: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.push_weight = push_weight
        self.max_iter = max_iter
        self.tol = tol
        self.n_components = n_components

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    @with_callbacks  # type: ignore[untyped-decorator]
    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike, *, client: Any = None) -> Self:
        """Learn from labels.

        Parameters
        ----------
        X : array-like or Dask collection of shape (n_samples, n_features)
            Samples; LMNN reads all of them into memory.
        y : array-like or Dask collection of shape (n_samples,)
            Class of each sample; numbers or strings.
        client : distributed.Client, optional
            Client for Dask collections. By default the current one, or a local cluster.

        Returns
        -------
        Self
            The fitted estimator.
        """
        started = perf_counter()
        with given_labeled(self, X, y, client=client) as given:
            owner, indices = type(self).__name__, np.arange(given.samples.shape[0])
            dense, labels = given.samples.take(indices), given.samples.labels_of(indices)
            samples, sizes = MemorySamples(dense), given.samples.class_sizes
            self.notes_ = validation.check_magnitude(samples)
            validation.check_differences(float(np.ptp(dense, axis=0).max()) ** 2)
            validation.check_components(owner, self.n_components, dense.shape[1])
            self.classes_ = given.classes
            validation.check_classes(owner, self.classes_, sizes)
            validation.check_neighbors(owner, self.n_neighbors, sizes)
            validation.warn_singletons(self.classes_, sizes, stacklevel=4)  # past the wrappers
            _warn_small(self.n_neighbors, self.classes_, labels)
            with single_threaded_blas():
                problem = LargeMargin(
                    dense, labels, n_neighbors=self.n_neighbors, push_weight=float(self.push_weight)
                )
                self.mining_seconds_ = perf_counter() - started
                self._learn(LargeMarginSolver(problem, tol=float(self.tol)), samples, given.y)
            self.solve_seconds_ = perf_counter() - started - self.mining_seconds_
            return self

    def _learn(
        self, solver: LargeMarginSolver, samples: MemorySamples, y: npt.NDArray[Any]
    ) -> None:
        """Run the solver and set the fitted attributes."""
        whole = Coordinates(LinearMap())

        def learned(solver: LargeMarginSolver) -> dict[str, Any]:
            L = whole.components(solver.metric, 1.0, samples, self.n_components)
            return {"components_": L}

        history = learn(
            self,
            [Passes(solver, samples.X, np.empty((0, 3), dtype=np.intp), int(self.max_iter))],
            n_steps=int(self.max_iter),
            given=(samples.X, y),
            learned=learned,
            stacklevel=6,
        )
        self.components_ = learned(solver)["components_"]
        self.objective_ = solver.value.objective
        self.objective_curve_ = np.array(solver.objectives)
        self.n_iter_ = self.n_updates_ = solver.n_updates
        self.n_active_, self.converged_ = solver.value.n_active, solver.converged
        if not solver.converged and not history.stopped:
            warnings.warn(
                f"{type(self).__name__} stopped after max_iter={self.max_iter} steps, while the "
                "objective still fell: raise max_iter or tol.",
                ConvergenceWarning,
                stacklevel=5,  # past fit and scikit-learn's two wrappers of it
            )


def _warn_small(n_neighbors: int, classes: npt.NDArray[Any], labels: IndexArray) -> None:
    """Warn once how many classes have fewer than ``n_neighbors`` targets."""
    sizes = np.bincount(labels)
    small = classes[(sizes > 1) & (sizes <= n_neighbors)]
    if len(small):
        some = ", ".join(map(repr, small[:3].tolist())) + (", ..." if len(small) > 3 else "")
        warnings.warn(
            f"{len(small)} of {len(classes)} classes have no more than n_neighbors={n_neighbors} "
            f"samples ({some}): their samples have all others of the class as targets.",
            validation.DataWarning,
            stacklevel=5,  # past fit and scikit-learn's two wrappers of it
        )
