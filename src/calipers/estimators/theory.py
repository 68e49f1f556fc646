"""The paper's two theorems, evaluated for a fit.

Theorem 1 is about SGD and Mini-SGD, Theorem 2 about AS-SGD; none is about the hybrid methods.

Both need ``contraction = 3 * eta * L * A**2 < 1`` with A the largest norm of
``far far' - near near'``. At the paper's own settings that seldom holds, and the bounds
are then infinite. They are diagnostics: nothing in the solver depends on them.

Two constants are larger than the paper's. The first iterate is ``init_scale * I`` and not zero,
so ``||M_1 - M_*||^2 <= R^2 + init_scale^2 d``. The paper's union bound leaves out the case that
the sum of slopes is 0; this one counts it.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, inf, log, log2, sqrt

from calipers.solvers.recipes import Recipe
from calipers.solvers.sampling import EveryBatch
from calipers.solvers.sgd import SGDSolver


@dataclass(frozen=True)
class Theory:
    """What Theorems 1 and 2 say about a fit.

    Attributes
    ----------
    theorem : {1, 2}
        The theorem about the method. Bounds of the other one raise ValueError.
    n_triplets, batch_size, n_updates : int
        Of the fit.
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
    def of(cls, solver: SGDSolver, smoothness: float, n_features: int) -> Theory:
        """What they say about a solver's run."""
        settings = solver.settings
        return cls(
            theorem=1 if isinstance(settings.policy, EveryBatch) else 2,
            n_triplets=solver.n_iterations * settings.batch_size,
            batch_size=settings.batch_size,
            n_updates=solver.n_updates,
            learning_rate=settings.learning_rate,
            smoothness=smoothness,
            radius=settings.radius,
            init_scale=solver.init_scale,
            n_features=n_features,
            **solver.sums,
        )

    @staticmethod
    def check_recipe(recipe: Recipe, batch_size: int) -> None:
        """Raise unless one of the theorems is about a recipe."""
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

    @property
    def contraction(self) -> float:
        """``3 * eta * L * A**2``."""
        return float(3.0 * self.learning_rate * self.smoothness * self.largest_norm**2)

    @property
    def applies(self) -> bool:
        """Whether the theorems say anything: ``contraction < 1``."""
        return self.contraction < 1.0

    @property
    def update_bound(self) -> float:
        """Theorem 2: bound on the number of AS-SGD's updates, for any contraction."""
        self._about(2)
        return 1.5 * self.smoothness * self.summed_loss + 2.5 * self._log_cases

    @property
    def sharp_update_bound(self) -> float:
        """The same bound from the slopes themselves, not from the loss that bounds them."""
        self._about(2)
        return 1.5 * self.summed_slope + (2.0 + sqrt(2.0) / 3.0) * self._log_cases

    def mini_batch_bound(self, best_loss: float = 0.0) -> float:
        """Theorem 1: bound on Mini-SGD's mean loss if the best metric's is ``best_loss``."""
        self._about(1)
        if not self.applies:
            return inf
        n, b, eta = self.n_triplets, self.batch_size, self.learning_rate
        cases = ceil(log2(max(2, n)))
        log_terms = log(2 * n / (self.delta * b)) ** 2 * log(cases / self.delta)
        distance = b * self._squared_distance / (2 * eta * n)
        noise = 32 * self.largest_norm**2 * eta / n * log_terms
        return float((best_loss + distance + noise) / (1.0 - self.contraction))

    def adaptive_bound(self, best_loss: float = 0.0) -> float:
        """Theorem 2: bound on AS-SGD's mean loss if the best metric's is ``best_loss``."""
        self._about(2)
        if not self.applies:
            return inf
        A, eta = self.largest_norm, self.learning_rate
        constant = max(
            0.5 + 16 * self._log_cases,
            1.25 * A**2 * self._log_cases,
            sqrt(self._squared_distance) * A * (self._log_cases + log(2)),
        )
        rest = constant * (self._squared_distance / eta + eta + 1) / self.n_triplets
        return float((best_loss + rest) / (1.0 - self.contraction))

    @property
    def rates(self) -> tuple[float, float]:
        """Remark 1: how fast mini-batches converge where the best loss is small.

        Theorem 1's order ``b / N``, and ``1 / sqrt(N) + b^2 / N^2``, that of the general bound by
        Cotter et al. (2011); both without their constants.
        """
        self._about(1)
        n, b = self.n_triplets, self.batch_size
        return b / n, n**-0.5 + (b / n) ** 2

    def _about(self, theorem: int) -> None:
        if self.theorem != theorem:
            methods = {1: "SGD and Mini-SGD", 2: "AS-SGD"}
            raise ValueError(
                f"Theorem {theorem} is about {methods[theorem]}, and this fit is one of "
                f"{methods[self.theorem]}, which Theorem {self.theorem} is about."
            )

    @property
    def _squared_distance(self) -> float:
        return float(self.radius**2 + self.init_scale**2 * self.n_features)

    @property
    def _log_cases(self) -> float:
        return log((ceil(2 * log2(max(2, self.n_triplets))) + 1) / self.delta)
