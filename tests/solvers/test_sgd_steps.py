"""Properties that the paper's algorithms have, one step at a time and as a whole."""

from __future__ import annotations

import numpy as np
import pytest

from calipers.arrays import FloatArray, IndexArray
from calipers.solvers.parts import gradient_norm
from calipers.threads import single_threaded_blas
from reference.plain import loss_slope, outer
from solver_runs import METHODS, Settings, noise


class Fixed:
    """Stands in for a generator whose next numbers are known."""

    def __init__(self, number: float) -> None:
        self.number = number

    def random(self, n: int) -> FloatArray:
        return np.full(n, self.number)

    def integers(self, _: int, size: int) -> IndexArray:
        return np.full(size, int(self.number), dtype=np.intp)


def one_step(settings: Settings, uniform: float, pick: int = 0) -> tuple[FloatArray, bool]:
    """The change made by one batch from the identity, away from cone and ball."""
    X, triplets = noise(4, settings.size, scale=0.5, seed=8)
    solver = settings.solver(4)
    solver.accept_rng = Fixed(uniform)  # type: ignore[assignment]
    solver.pick_rng = Fixed(pick)  # type: ignore[assignment]
    accepted = solver.advance(X, triplets)
    return solver.last - np.eye(4), bool(accepted[0])


def gradient(settings: Settings) -> tuple[FloatArray, FloatArray]:
    """Of the batch of `one_step` at the identity, and its slopes."""
    X, triplets = noise(4, settings.size, scale=0.5, seed=8)
    A = np.array([outer(X, triplet) for triplet in triplets])
    slopes = np.array([loss_slope(float(np.trace(a)), settings.L) for a in A])
    return -np.mean(slopes[:, None, None] * A, axis=0), slopes


@pytest.mark.parametrize("method", METHODS)
def test_steps_are_unbiased(method: str) -> None:
    """Averaged over the random numbers, a step is minus eta times the gradient."""
    settings = Settings(method, batch_size=3, eta=0.01, W=1.0)
    G, _ = gradient(settings)
    uniforms = (np.arange(200) + 0.5) / 200
    with single_threaded_blas():
        steps = [
            np.mean([one_step(settings, u, pick)[0] for u in uniforms], axis=0)
            for pick in range(settings.size)
        ]
    for step in steps:
        assert np.linalg.norm(step + 0.01 * G) <= 0.02 * 0.01 * np.linalg.norm(G)


def test_an_accepted_step_of_ha_is_eta_times_the_largest_norm_long() -> None:
    settings = Settings("ha-sgd", batch_size=3, eta=0.01, W=2.0)
    step, accepted = one_step(settings, 0.0)
    assert accepted
    assert np.linalg.norm(step) == pytest.approx(0.01 * 2.0)
    G, slopes = gradient(settings)
    X, triplets = noise(4, 3, scale=0.5, seed=8)
    far, near = X[triplets[:, 0]] - X[triplets[:, 2]], X[triplets[:, 0]] - X[triplets[:, 1]]
    probability = gradient_norm(far, near, slopes) / 2.0
    assert probability == pytest.approx(np.linalg.norm(G) / 2.0)
    assert one_step(settings, probability - 1e-12)[1]
    assert not one_step(settings, probability + 1e-12)[1]


@pytest.mark.parametrize("pick", range(3))
def test_an_accepted_step_of_hr_is_the_gradient_over_the_slope_drawn(pick: int) -> None:
    settings = Settings("hr-sgd", batch_size=3, eta=0.01)
    G, slopes = gradient(settings)
    step, accepted = one_step(settings, 0.0, pick)
    assert accepted
    np.testing.assert_allclose(step, -0.01 * G / slopes[pick], atol=1e-15)
    assert one_step(settings, slopes[pick] - 1e-12, pick)[1]
    assert not one_step(settings, slopes[pick] + 1e-12, pick)[1]


def test_an_accepted_step_of_as_is_of_full_length() -> None:
    X, triplets = noise(4, 1, scale=0.5, seed=8)
    step, accepted = one_step(Settings("as-sgd", eta=0.01), 0.0)
    assert accepted
    np.testing.assert_allclose(step, 0.01 * outer(X, triplets[0]), atol=1e-15)
