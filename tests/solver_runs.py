"""One problem, run by the real solver and by the plain one with the same random numbers."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from calipers._core.compiled import LookAhead, Samples
from calipers.arrays import FloatArray, IndexArray
from calipers.solvers.parts import (
    ByGradientNorm,
    ByRunningNorm,
    BySlope,
    EveryBatch,
    Policy,
    SmoothHinge,
)
from calipers.solvers.sgd import Settings as SolverSettings, SGDSolver
from calipers.threads import single_threaded_blas
from reference.plain import PlainWalk, plain_walk

METHODS = ("sgd", "mini-sgd", "as-sgd", "hr-sgd", "ha-sgd")


def noise(
    d: int, n_triplets: int, *, scale: float = 1.0, n_rows: int = 40, seed: int = 0
) -> tuple[FloatArray, IndexArray]:
    """Samples without structure and triplets that contradict each other.

    No metric satisfies them, so that steps keep leaving the cone. Samples 0 to 2 are the
    same, so that some triplets have a near or a far difference of zero, or both.
    """
    rng = np.random.default_rng(seed)
    X = scale * rng.standard_normal((n_rows, d)) / np.sqrt(d)
    X[1] = X[2] = X[0]
    triplets = np.argsort(rng.random((n_triplets, n_rows)), axis=1)[:, :3]
    special = np.array([[0, 1, 9], [0, 8, 1], [0, 1, 2]])
    triplets[4::17] = special[np.arange(len(triplets[4::17])) % 3]
    return X, triplets


def all_pairs_noise(
    d: int, n_anchors: int, k: int, *, seed: int = 0
) -> tuple[FloatArray, IndexArray]:
    """The same, each anchor with all pairs of k positives and k negatives."""
    X, _ = noise(d, 1, seed=seed)
    rng = np.random.default_rng(seed)
    indices = np.argsort(rng.random((n_anchors, len(X))), axis=1)
    anchor, near, far = indices[:, :1], indices[:, 1 : k + 1], indices[:, k + 1 : 2 * k + 1]
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

    @property
    def policy(self) -> Policy:
        if self.method in ("sgd", "mini-sgd"):
            return EveryBatch()
        if self.method in ("as-sgd", "hr-sgd"):
            return BySlope()
        return ByRunningNorm() if self.W is None else ByGradientNorm(self.W)

    def solver(self, d: int) -> SGDSolver:
        settings = SolverSettings(
            loss=SmoothHinge(self.L),
            policy=self.policy,
            batch_size=self.size,
            all_pairs=self.crossed,
            learning_rate=self.eta,
            radius=self.R,
            max_importance_weight=self.tau_max,
            clip_norm=self.reach,
            sum_over_batch=self.batch_sum,
        )
        return solver_of(settings, d, seed=self.seed, init_scale=self.start)


def solver_of(
    settings: SolverSettings, d: int, *, seed: int = 0, init_scale: float = 1.0
) -> SGDSolver:
    return SGDSolver(
        settings,
        d,
        accept_rng=np.random.default_rng(seed),
        pick_rng=np.random.default_rng(seed + 1),
        init_scale=init_scale,
    )


def put_at(solver: SGDSolver, M: FloatArray) -> None:
    """Let the solver go on from M."""
    solver.core_state.M[:] = M
    solver.core_state.norm, solver.core_state.floor = float(np.linalg.norm(M)), 0.0


def fed(
    solver: SGDSolver, X: FloatArray, triplets: IndexArray, portion: int | None = None
) -> npt.NDArray[np.bool_]:
    """Feed ``portion`` batches at a time, by default all at once; returns who led to updates."""
    size = (portion or len(triplets)) * solver.batch_size
    with single_threaded_blas():
        accepted = [
            solver.advance(X, triplets[first : first + size])
            for first in range(0, len(triplets), size)
        ]
    return np.concatenate(accepted)


def run_real(
    X: FloatArray, triplets: IndexArray, settings: Settings, *, portion: int | None = None
) -> tuple[SGDSolver, npt.NDArray[np.bool_]]:
    solver = settings.solver(X.shape[1])
    return solver, fed(solver, X, triplets, portion)


def run_plain(X: FloatArray, triplets: IndexArray, settings: Settings) -> PlainWalk:
    n = len(triplets) // settings.size
    numbers: dict[str, Any] = asdict(settings)
    seed, method = numbers.pop("seed"), numbers.pop("method")
    uniforms = np.random.default_rng(seed).random(n)
    picks = np.random.default_rng(seed + 1).integers(settings.size, size=n)
    with single_threaded_blas():
        return plain_walk(X, triplets, method, uniforms=uniforms, picks=picks, **numbers)


def assert_same_matrix(real: FloatArray, expected: FloatArray, tolerance: float = 1e-8) -> None:
    difference = float(np.linalg.norm(real - expected))
    assert difference <= tolerance * float(np.linalg.norm(expected))


def assert_same_run(X: FloatArray, triplets: IndexArray, settings: Settings) -> SGDSolver:
    """The real solver takes the plain one's decisions and ends where it ends."""
    solver, accepted = run_real(X, triplets, settings)
    expected = run_plain(X, triplets, settings)
    np.testing.assert_array_equal(accepted, expected.accepted)
    assert_same_matrix(solver.average, expected.average)
    vanished = 1e-14 * float(np.linalg.norm(expected.average))
    if np.linalg.norm(solver.last) > vanished or np.linalg.norm(expected.last) > vanished:
        assert_same_matrix(solver.last, expected.last)
    facts, b = solver.facts, settings.size
    np.testing.assert_allclose(facts["summed_loss"], b * np.sum(expected.losses), rtol=1e-8)
    np.testing.assert_allclose(facts["summed_slope"], b * np.sum(expected.slopes), rtol=1e-8)
    assert solver.n_updates == np.count_nonzero(expected.accepted)
    return solver


def look_ahead_of(
    far: FloatArray, near: FloatArray, *, k: int = 1, clip: float = np.inf
) -> LookAhead:
    """Triplets with these differences: the anchor of all of them is at the origin."""
    n, d = far.shape
    i = np.arange(n)
    triplets = np.stack([np.full(n, 2 * n), n + i, i], axis=1)
    X = np.vstack([-far, -near, np.zeros(d)])
    ahead = LookAhead(Samples(X), triplets, triplets, k, np.zeros(n // k))
    ahead.gather(0, n, clip)
    return ahead
