"""Trust in the numbers: against fifty digits, at the edge of float64, and over long runs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from mpmath import mp
from scipy.linalg import eigh

from calipers import TripletSGD
from calipers.arrays import FloatArray
from calipers.metric import coordinates
from calipers.metric.coordinates import factor
from calipers.solvers.sgd import SGDSolver
from reference.exact import as_array, exact_walk, projected
from reference.plain import project
from solver_runs import METHODS, Settings, noise, put_at, run_real

each_method = pytest.mark.parametrize("method", METHODS)


def exactly(X: FloatArray, triplets: Any, settings: Settings) -> Any:
    n = len(triplets) // settings.size
    assert settings.W is not None
    return exact_walk(
        X,
        triplets,
        settings.method,
        uniforms=np.random.default_rng(settings.seed).random(n),
        picks=np.random.default_rng(settings.seed + 1).integers(settings.size, size=n),
        batch_size=settings.batch_size,
        eta=settings.eta,
        L=settings.L,
        R=settings.R,
        W=settings.W,
    )


@each_method
@pytest.mark.parametrize("radius", [1.9, 1000.0])
def test_a_run_in_fifty_digits(method: str, radius: float) -> None:
    X, triplets = noise(3, 60, seed=5, n_rows=12)
    settings = Settings(method, batch_size=3, R=radius, W=0.5)
    average, last, accepted = exactly(X, triplets, settings)
    solver, decided = run_real(X, triplets, settings)
    assert decided.tolist() == accepted
    assert sum(accepted) > 5
    assert solver.n_projections > 2
    assert np.linalg.norm(solver.average - average) <= 1e-13 * np.linalg.norm(average)
    assert np.linalg.norm(solver.last - last) <= 1e-13 * np.linalg.norm(last)


@pytest.mark.parametrize("decades", [0, 8, 16])
@pytest.mark.parametrize("seed", range(3))
def test_a_projection_in_fifty_digits(seed: int, decades: int) -> None:
    """Of matrices whose condition is up to 1e16, less a direction."""
    rng = np.random.default_rng(seed)
    Q = np.linalg.qr(rng.standard_normal((5, 5)))[0]
    v = rng.standard_normal(5)
    M = (Q * np.logspace(-decades, 0, 5)) @ Q.T - 10.0 ** -rng.integers(decades + 1) * np.outer(
        v, v
    )
    M = (M + M.T) / 2
    for radius in (0.3, 10.0):
        expected = as_array(projected(mp.matrix(M.tolist()), radius))
        found = project(M, radius)
        assert np.linalg.norm(found - expected) <= 1e-14 * np.linalg.norm(M)


@pytest.mark.parametrize("d", [5, 40, 120])
def test_one_step_from_a_metric_of_condition_1e16(d: int) -> None:
    rng = np.random.default_rng(d)
    Q = np.linalg.qr(rng.standard_normal((d, d)))[0]
    M = (Q * np.logspace(-16, 0, d)) @ Q.T
    M = (M + M.T) / 2
    X = 0.01 * rng.standard_normal((3, d))
    solver = Settings("sgd", L=1e-9, eta=2.0).solver(d)
    put_at(solver, M)
    solver.advance(X, np.array([[0, 1, 2]]))
    far, near = X[0] - X[2], X[0] - X[1]
    expected = project(M + np.outer(far, far) - np.outer(near, near), 1000.0)
    assert np.linalg.norm(solver.last - expected) <= 2e-11 * np.linalg.norm(expected)
    assert eigh(solver.last, eigvals_only=True)[0] >= -1e-11
    assert solver.n_projections == 1


class _Same:
    """Draws one number over and over."""

    def __init__(self, number: float) -> None:
        self.number = number

    def random(self, n: int) -> FloatArray:
        return np.full(n, self.number)


@pytest.mark.parametrize(("number", "accepted"), [(0.5, False), (np.nextafter(0.5, 0.0), True)])
def test_a_tie_of_probability_and_number_is_no_update(number: float, accepted: bool) -> None:
    """The margin is exactly 1, so that the slope is exactly a half."""
    X = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]])
    solver = Settings("as-sgd").solver(2)
    solver.accept_rng = _Same(number)  # type: ignore[assignment]
    assert solver.advance(X, np.array([[0, 1, 2]])).tolist() == [accepted]


def assert_no_drift(solver: SGDSolver, radius: float) -> None:
    """M is symmetric, positive, within the ball, and what is kept about it is true of it."""
    for M in (solver.last, solver.average):
        np.testing.assert_array_equal(M, M.T)
        assert np.linalg.eigvalsh(M)[0] >= -1e-10 * np.linalg.norm(M)
        assert np.linalg.norm(M) <= radius * (1 + 1e-12)
    state = solver.core_state
    assert state.norm == pytest.approx(np.linalg.norm(state.M), rel=1e-12)
    assert state.floor <= np.linalg.eigvalsh(state.M)[0] + 1e-10 * state.norm


@each_method
def test_a_long_run_does_not_drift(method: str) -> None:
    """``python -m checks long`` runs ten million."""
    solver = Settings(method, R=8.0).solver(6)
    for seed in range(5):
        solver.advance(*noise(6, 20_000, seed=seed, n_rows=12))
        assert_no_drift(solver, 8.0)
    assert solver.n_updates > 1000


# LAPACK fails


def test_where_lapack_does_not_converge_another_way_is_taken(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    M = np.cov(np.random.default_rng(0).standard_normal((4, 30)))
    expected = factor(M)
    asked: list[Any] = []

    def fails(M: FloatArray, **options: Any) -> Any:
        asked.append(options)
        if not options:
            raise np.linalg.LinAlgError("eigenvalues did not converge")
        return eigh(M, **options)

    monkeypatch.setattr(coordinates, "eigh", fails)
    np.testing.assert_allclose(factor(M), expected, rtol=1e-12, atol=1e-13)
    assert len(asked) == 2


def test_where_lapack_does_not_converge_at_all_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(M: FloatArray, **options: Any) -> Any:
        raise np.linalg.LinAlgError("eigenvalues did not converge")

    monkeypatch.setattr(coordinates, "eigh", fails)
    learner = TripletSGD("as-sgd", n_triplets=20, random_state=0)
    X, y = np.random.default_rng(0).standard_normal((20, 3)), np.arange(20) % 2
    with pytest.raises(np.linalg.LinAlgError, match="did not converge"):
        learner.fit(X, y)
    assert not hasattr(learner, "components_")


@pytest.mark.parametrize("d", [5, 120])
@each_method
def test_a_run_whose_metric_is_lost_ends_in_a_sentence(method: str, d: int) -> None:
    """As after an overflow: no eigenvalues can be had, and nothing may come of it in silence."""
    X, triplets = noise(d, 60, seed=1)
    solver = replace(Settings(method), W=1e-3).solver(d)
    solver.advance(X, triplets)
    solver.core_state.M[0, 0] = np.nan
    solver.core_state.floor = 0.0
    told = (
        r"^The (solver cannot go on after|metric has grown beyond) .*: divide X by its largest "
        r"value, or take shorter steps\.$"
    )
    with pytest.raises(ValueError, match=told):  # noqa: PT012  whichever sees it first
        solver.advance(X, triplets)
        factor(solver.average)
