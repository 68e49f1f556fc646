"""SPML: the solver's loop with a hinge, a ridge and steps that grow shorter."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval

from calipers import recipes
from calipers.arrays import FloatArray
from calipers.estimators import inputs
from calipers.estimators.from_triplets import TripletLearner
from calipers.solver import Solver
from calipers.triplets import Rows, Source


class SPML(TripletLearner[Solver]):
    r"""Structure preserving metric learning, by projected steps of length 1 / (lambda t).

    Implements Shaw, Huang and Jebara, "Learning a Distance Metric from a Network" (2011), as
    the paper compares with it, on triplets: minimises over positive semi-definite M

    .. math:: \tfrac\lambda2 \|M\|_F^2 + \tfrac1N \sum \max(0, m + d_M^2(a, b) - d_M^2(a, c)).

    Step t takes the *sum* over the violated triplets of a batch, as the authors' program does:
    ``M = P((1 - 1/t) M + (sum of far far' - near near') / (lambda t))``, with P the projection
    onto the cone. The last iterate is the result.

    Parameters
    ----------
    n_triplets : int, default=100_000
        Triplets to draw. Whole batches are used; a rest is left out.
    batch_size : int, default=10
        Triplets in a batch.
    ridge : float, default=1e-10
        Weight of the squared norm of M (lambda). As small as the default, by which the
        authors' program starts, it makes M large and the margin of no account.
    margin : float, default=0.01
        How much farther the far row should be (m), in squared distances of X times M.
    n_neighbors : int, default=1
        Near and far rows are drawn among this many nearest ones of either side.
    n_components : int or None, default=None
        Rows of ``components_``; None keeps as many as there are features.
    random_state : int, RandomState instance or None, default=None
        Seeds the drawing of triplets.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        L with M = L'L; ``transform`` is ``X @ components_.T``. Its scale is that of
        1 / (ridge * number of steps); nearest neighbours do not depend on it.
    n_updates_, n_iter_ : int
        Batches seen, each of which is an update.
    n_projections_ : int
        Updates that left the positive semi-definite cone, so that eigenvalues were cut.
    loss_curve_ : ndarray of shape (n_points,)
        Mean hinge of the triplets met since the point before, each at its iterate.
    update_curve_ : ndarray of shape (n_points,)
        Updates up to each point.
    triplet_curve_ : ndarray of shape (n_points,)
        Triplets seen up to each point.
    mining_seconds_, solve_seconds_ : float
        Time to make the triplets, and to learn from them.
    notes_ : list of str
        Sentences about the data that are worth knowing but are no cause for a warning.
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
    >>> from calipers import SPML
    >>> X, y = load_iris(return_X_y=True)
    >>> model = make_pipeline(SPML(n_triplets=1000, random_state=0), KNeighborsClassifier(3))
    >>> bool(model.fit(X, y).score(X, y) > 0.9)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_triplets": [Interval(Integral, 1, None, closed="left")],
        "batch_size": [Interval(Integral, 1, None, closed="left")],
        "ridge": [Interval(Real, 0, None, closed="neither")],
        "margin": [Interval(Real, 0, None, closed="left")],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        *,
        n_triplets: int = 100_000,
        batch_size: int = 10,
        ridge: float = 1e-10,
        margin: float = 0.01,
        n_neighbors: int = 1,
        n_components: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_triplets = n_triplets
        self.batch_size = batch_size
        self.ridge = ridge
        self.margin = margin
        self.n_neighbors = n_neighbors
        self.n_components = n_components
        self.random_state = random_state

    def _start(self, rows: Rows, source: Source, rngs: list[np.random.Generator]) -> Solver:
        inputs.check_batches(type(self).__name__, len(source), self.batch_size)
        inputs.typical_far(*rows.local(next(source.portions(1000)), n_columns=self._row_columns))
        recipe = recipes.spml(
            ridge=float(self.ridge), margin=float(self.margin), batch_size=int(self.batch_size)
        )
        accept_rng, pick_rng = rngs
        return Solver(recipe, rows.shape[1], accept_rng=accept_rng, pick_rng=pick_rng)

    def _metric(self, solver: Solver) -> FloatArray:
        return solver.last

    def _set_fitted(self, solver: Solver) -> None:
        super()._set_fitted(solver)
        self.n_projections_ = int(solver.iterate.tally[0]["projections"])
        self.triplet_curve_ = np.array([point.n_triplets for point in solver.curve])
