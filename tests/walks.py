"""One problem, walked by the real solver and by the plain one with the same random numbers."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from calipers import recipes
from calipers.arrays import FloatArray, IndexArray
from calipers.losses import SmoothHinge
from calipers.sampling import ByGradientNorm, ByRunningNorm
from calipers.solver import Recipe, Solver
from calipers.threads import single_threaded_blas
from plain import PlainWalk, plain_walk

METHODS = ("sgd", "mini-sgd", "as-sgd", "hr-sgd", "ha-sgd")


def noise(
    d: int, n_triplets: int, *, scale: float = 1.0, n_rows: int = 40, seed: int = 0
) -> tuple[FloatArray, IndexArray]:
    """Rows without structure and triplets that contradict each other.

    No metric satisfies them, so that steps keep leaving the cone. Rows 0 to 2 are the
    same, so that some triplets have a near or a far difference of zero, or both.
    """
    rng = np.random.default_rng(seed)
    X = scale * rng.standard_normal((n_rows, d)) / np.sqrt(d)
    X[1] = X[2] = X[0]
    triplets = np.argsort(rng.random((n_triplets, n_rows)), axis=1)[:, :3]
    special = np.array([[0, 1, 9], [0, 8, 1], [0, 1, 2]])
    triplets[4::17] = special[np.arange(len(triplets[4::17])) % 3]
    return X, triplets


def crossed_noise(
    d: int, n_anchors: int, k: int, *, seed: int = 0
) -> tuple[FloatArray, IndexArray]:
    """The same, each anchor with k near and k far rows, and all triplets that they make."""
    X, _ = noise(d, 1, seed=seed)
    rng = np.random.default_rng(seed)
    numbers = np.argsort(rng.random((n_anchors, len(X))), axis=1)
    anchor, near, far = numbers[:, :1], numbers[:, 1 : k + 1], numbers[:, k + 1 : 2 * k + 1]
    columns = np.repeat(anchor, k * k, axis=1), np.repeat(near, k, axis=1), np.tile(far, k)
    return X, np.stack(columns, axis=2).reshape(-1, 3)


@dataclass(frozen=True)
class Settings:
    """A method and its numbers, in the words of the plain reference."""

    method: str
    batch_size: int = 10
    crossed: int = 1
    eta: float = 1.0
    L: float = 3.0
    R: float = 1000.0
    W: float | None = 1.0
    tau_max: float = np.inf
    batch_sum: bool = False
    start: float = 1.0
    reach: float = np.inf
    seed: int = 1

    @property
    def size(self) -> int:
        return 1 if self.method in ("sgd", "as-sgd") else self.batch_size

    def recipe(self) -> Recipe:
        parts: dict[str, Any] = {
            "loss": SmoothHinge(self.L),
            "learning_rate": self.eta,
            "radius": self.R,
            "longest": self.tau_max,
            "sum_over_batch": self.batch_sum,
            "reach": self.reach,
        }
        if self.method not in ("sgd", "as-sgd"):
            parts |= {"batch_size": self.batch_size, "crossed": self.crossed}
        if self.method == "ha-sgd":
            running = ByRunningNorm(np.zeros(1))
            parts["policy"] = running if self.W is None else ByGradientNorm(self.W)
        recipe: Recipe = getattr(recipes, self.method.replace("-", "_"))(**parts)
        return recipe

    def solver(self, d: int) -> Solver:
        return Solver(
            self.recipe(),
            d,
            accept_rng=np.random.default_rng(self.seed),
            pick_rng=np.random.default_rng(self.seed + 1),
            start=self.start,
        )


def walk_real(
    X: FloatArray, triplets: IndexArray, settings: Settings, *, portion: int | None = None
) -> tuple[Solver, npt.NDArray[np.bool_]]:
    """Feed the solver ``portion`` batches at a time, by default all at once."""
    solver = settings.solver(X.shape[1])
    size = len(triplets) if portion is None else portion * settings.size
    with single_threaded_blas():
        accepted = [
            solver.advance(X, triplets[first : first + size])
            for first in range(0, len(triplets), size)
        ]
    return solver, np.concatenate(accepted)


def walk_plain(X: FloatArray, triplets: IndexArray, settings: Settings) -> PlainWalk:
    n = len(triplets) // settings.size
    numbers = asdict(settings)
    seed, method = numbers.pop("seed"), numbers.pop("method")
    uniforms = np.random.default_rng(seed).random(n)
    picks = np.random.default_rng(seed + 1).integers(settings.size, size=n)
    with single_threaded_blas():
        return plain_walk(X, triplets, method, uniforms=uniforms, picks=picks, **numbers)


def assert_same_matrix(real: FloatArray, expected: FloatArray, tolerance: float = 1e-8) -> None:
    difference = float(np.linalg.norm(real - expected))
    assert difference <= tolerance * float(np.linalg.norm(expected))


def assert_same_walk(X: FloatArray, triplets: IndexArray, settings: Settings) -> Solver:
    """The real solver takes the plain one's decisions and ends where it ends."""
    solver, accepted = walk_real(X, triplets, settings)
    expected = walk_plain(X, triplets, settings)
    np.testing.assert_array_equal(accepted, expected.accepted)
    assert_same_matrix(solver.average, expected.average)
    vanished = 1e-14 * float(np.linalg.norm(expected.average))
    if np.linalg.norm(solver.last) > vanished or np.linalg.norm(expected.last) > vanished:
        assert_same_matrix(solver.last, expected.last)
    tally = solver.iterate.tally[0]
    np.testing.assert_allclose(tally["loss"], np.sum(expected.losses), rtol=1e-8)
    np.testing.assert_allclose(tally["slope"], np.sum(expected.slopes), rtol=1e-8)
    assert solver.n_updates == np.count_nonzero(expected.accepted)
    return solver
