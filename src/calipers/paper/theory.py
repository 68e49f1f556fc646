"""The paper's two theorems, evaluated for a fit.

Theorem 1 is about SGD and Mini-SGD, Theorem 2 about AS-SGD; none is about the hybrid methods.

Both need ``contraction = 3 * eta * L * A**2 < 1`` with A the largest norm of
``far far' - near near'``. At the paper's own settings that seldom holds, and the bounds on the
loss are then infinite; Theorem 2's bound on the number of updates holds for any contraction.

Two constants are larger than the paper's. The first iterate is ``init_scale * I`` and not zero,
so ``||M_1 - M_*||^2 <= R^2 + init_scale^2 d``. The paper's union bound leaves out the case that
the sum of slopes is 0; this one counts it.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, inf, log, log2, sqrt

from sklearn.utils.validation import check_is_fitted

from calipers.estimators.triplet_sgd import TripletSGD
from calipers.solvers.recipes import Recipe


@dataclass(frozen=True)
class Theory:
    """What Theorems 1 and 2 say about a fit.

    Attributes
    ----------
    theorem : {1, 2}
        The theorem about the method.
    n_triplets, batch_size, n_updates : int
        Of the last round.
    learning_rate, smoothness, radius, init_scale : float
        Of the fit, in the units of the solver.
    n_features : int
        d.
    largest_norm : float
        A, the largest ``||far far' - near near'||_F`` of the fit.
    summed_loss, summed_slope : float
        Sums over iterations of the loss and of the slope, each at its iterate.
    delta : float
        Every bound holds with probability ``1 - 2 * delta`` at least.
    """

    theorem: int
    n_triplets: int
    batch_size: int
    n_updates: int
    learning_rate: float
    smoothness: float
    radius: float
    init_scale: float
    n_features: int
    largest_norm: float
    summed_loss: float
    summed_slope: float
    delta: float = 0.01

    @classmethod
    def of(cls, model: TripletSGD, delta: float = 0.01) -> Theory:
        """Evaluate the theorem about a fitted model's method for its last round."""
        check_is_fitted(model)
        if model._last_round_ is None:
            raise ValueError(
                "The theorems are about full metrics, and a factor was learned for "
                f"n_components={model.n_components}: leave n_components out."
            )
        return cls(
            theorem=_theorem_about(model.recipe_, model.batch_size_),
            delta=delta,
            smoothness=float(model.smoothness),
            **model._last_round_,
        )

    @property
    def contraction(self) -> float:
        """``3 * eta * L * A**2``."""
        return 3.0 * self.learning_rate * self.smoothness * self.largest_norm**2

    @property
    def update_bound(self) -> float:
        """Theorem 2: bound on the number of AS-SGD's updates, for any contraction."""
        return 1.5 * self.smoothness * self.summed_loss + 2.5 * self._log_cases

    @property
    def sharp_update_bound(self) -> float:
        """The same bound from the slopes themselves, not from the loss that bounds them."""
        return 1.5 * self.summed_slope + (2.0 + sqrt(2.0) / 3.0) * self._log_cases

    def loss_bound(self, best_loss: float = 0.0) -> float:
        """Bound on the mean loss if the best metric's is ``best_loss``: that of its theorem."""
        if self.contraction >= 1.0:
            return inf
        excess = self._mini_batch_excess() if self.theorem == 1 else self._adaptive_excess()
        return (best_loss + excess) / (1.0 - self.contraction)

    def _mini_batch_excess(self) -> float:
        n, b, eta = self.n_triplets, self.batch_size, self.learning_rate
        cases = ceil(log2(max(2, n)))
        log_terms = log(2 * n / (self.delta * b)) ** 2 * log(cases / self.delta)
        distance = b * self._squared_distance / (2 * eta * n)
        return distance + 32 * self.largest_norm**2 * eta / n * log_terms

    def _adaptive_excess(self) -> float:
        A, eta = self.largest_norm, self.learning_rate
        constant = max(
            0.5 + 16 * self._log_cases,
            1.25 * A**2 * self._log_cases,
            sqrt(self._squared_distance) * A * (self._log_cases + log(2)),
        )
        return constant * (self._squared_distance / eta + eta + 1) / self.n_triplets

    @property
    def _squared_distance(self) -> float:
        return self.radius**2 + self.init_scale**2 * self.n_features

    @property
    def _log_cases(self) -> float:
        return log((ceil(2 * log2(max(2, self.n_triplets))) + 1) / self.delta)


def _theorem_about(recipe: Recipe, batch_size: int) -> int:
    """The number of the theorem about a recipe; raise unless there is one."""
    if recipe.projection != "every":
        raise ValueError(
            "The theorems are about solvers that project after every update, got a recipe with "
            f"projection={recipe.projection!r}: fit with projection='every'."
        )
    adds_up = recipe.batch_reduce == "sum" and batch_size > 1
    is_hybrid = recipe.sampling != "every" and (recipe.batched or recipe.sampling != "slope")
    if is_hybrid or adds_up or not recipe.average:
        raise ValueError(
            "The paper has no theorem for this recipe: Theorem 1 is about SGD and Mini-SGD, "
            "Theorem 2 about AS-SGD, both with the mean over a batch and of the iterates."
        )
    return 1 if recipe.sampling == "every" else 2
