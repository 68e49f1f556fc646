"""SPML and the rules that spare projections: the same loop with other parts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from calipers.arrays import FloatArray, IndexArray
from calipers.solvers.bilinear import BilinearSolver
from calipers.solvers.parts import (
    AtEnd,
    BySlope,
    EveryUpdate,
    FrankWolfe,
    Hinge,
    PassiveAggressive,
    Periodic,
)
from calipers.solvers.sgd import Settings, SGDSolver
from reference.plain_rules import plain_never, plain_now_and_then, plain_once, plain_spml
from solver_runs import assert_same_matrix, fed, noise, solver_of

SIZES = [3, 30, 110]


def spml(ridge: float, margin: float, batch_size: int = 10) -> Settings:
    return Settings(
        loss=Hinge(margin), batch_size=batch_size, ridge=ridge, radius=np.inf, sum_over_batch=True
    )


def ran(
    X: FloatArray, triplets: IndexArray, settings: Settings, *, portion: int = 0, start: float = 1.0
) -> SGDSolver:
    solver = solver_of(settings, X.shape[1], init_scale=start)
    fed(solver, X, triplets, portion)
    return solver


def assert_ends_at(solver: SGDSolver, expected: tuple[FloatArray, ...], tol: float = 1e-8) -> None:
    """The last iterate and the mean of all before it."""
    assert_same_matrix(solver.last, expected[0], tol)
    assert_same_matrix(solver.average, expected[1], tol)


@pytest.mark.parametrize("d", SIZES)
@pytest.mark.parametrize("ridge", [1e-10, 1e-2, 1.0])
def test_spml_is_the_plain_spml(d: int, ridge: float) -> None:
    X, triplets = noise(d, 400)
    solver = ran(X, triplets, spml(ridge, 1e-2))
    assert_ends_at(solver, plain_spml(X, triplets, ridge=ridge, margin=1e-2, batch_size=10))
    assert solver.n_updates == 40


def test_spml_forgets_where_it_started() -> None:
    X, triplets = noise(9, 10)
    settings = spml(1e-3, np.inf)  # all are violated, whatever the metric
    here, there = ran(X, triplets, settings), ran(X, triplets, settings, start=7.0)
    assert_same_matrix(there.last, here.last, 1e-14)


@pytest.mark.parametrize("d", SIZES)
@pytest.mark.parametrize("period", [3, 10])
@pytest.mark.parametrize("radius", [1000.0, 1.1])
def test_a_periodic_projection_is_the_plain_one(d: int, period: int, radius: float) -> None:
    X, triplets = noise(d, 300, scale=2.0)
    R = radius * np.sqrt(d)
    settings = Settings(batch_size=10, learning_rate=0.3, radius=R, projection=Periodic(period))
    solver = ran(X, triplets, settings)
    plain = plain_now_and_then(X, triplets, batch_size=10, eta=0.3, R=R, period=period)
    assert_ends_at(solver, plain)
    assert 0 < solver.n_projections <= 30 // period


def test_a_projection_after_each_update_is_the_papers_rule() -> None:
    X, triplets = noise(30, 300, scale=2.0)
    each, paper = (
        ran(X, triplets, Settings(batch_size=10, projection=rule))
        for rule in (Periodic(1), EveryUpdate())
    )
    assert_same_matrix(each.average, paper.average, 1e-10)


@pytest.mark.parametrize("d", SIZES)
@pytest.mark.parametrize("batch_size", [1, 10])
@pytest.mark.parametrize("radius", [1000.0, 1.1])
def test_a_projection_at_the_end_is_the_plain_one(d: int, batch_size: int, radius: float) -> None:
    X, triplets = noise(d, 200, scale=2.0, n_rows=40 + d)  # fewer leave eigenvalues equal
    numbers: dict[str, Any] = {"batch_size": batch_size}
    R = radius * np.sqrt(d)
    rule = AtEnd(gamma=0.05)
    solver = ran(X, triplets, Settings(learning_rate=0.3, radius=R, projection=rule, **numbers))
    plain = plain_once(X, triplets, eta=0.3, L=3.0, R=R, gamma=0.05, **numbers)
    assert_ends_at(solver, plain, 1e-6)
    free = plain_once(X, triplets, eta=0.3, L=3.0, R=R, gamma=1e9, **numbers)
    if d < 110:  # of more features no eigenvalue is negative soon enough
        assert np.linalg.norm(free[1] - plain[1]) > 1e-9  # the dual variable has acted


@pytest.mark.parametrize("d", SIZES)
@pytest.mark.parametrize("batch_size", [1, 10])
@pytest.mark.parametrize("trace", [0.5, 20.0])
def test_frank_wolfe_is_the_plain_one(d: int, batch_size: int, trace: float) -> None:
    X, triplets = noise(d, 100, n_rows=40 + d)  # fewer leave eigenvalues equal
    numbers = {"trace": trace * d, "lipschitz": 0.1}
    settings = Settings(batch_size=batch_size, radius=np.inf, projection=FrankWolfe(**numbers))
    plain = plain_never(X, triplets, batch_size=batch_size, L=3.0, **numbers)
    assert_ends_at(ran(X, triplets, settings), plain, 1e-7)
    free = plain_never(X, triplets, batch_size=batch_size, L=3.0, trace=trace * d, lipschitz=0.0)
    assert np.linalg.norm(free[1] - plain[1]) > 1e-6  # the regulariser has acted


@given(st.integers(0, 1000), st.floats(0.1, 10.0))
def test_frank_wolfe_stays_in_its_domain(seed: int, trace: float) -> None:
    X, triplets = noise(6, 120, seed=seed)
    solver = ran(X, triplets, Settings(batch_size=2, projection=FrankWolfe(6.0 * trace, 2.0)))
    values = np.linalg.eigvalsh(solver.last)
    assert values[0] >= -1e-12 * values[-1]
    assert values.sum() <= 6.0 * trace * (1.0 + 1e-12)


def test_a_passive_aggressive_step_is_that_of_one_triplet() -> None:
    assert Settings(policy=PassiveAggressive(0.1)).batch_size == 1
    with pytest.raises(ValueError, match=r"^PassiveAggressive .* one triplet, got batch_size=10: "):
        Settings(policy=PassiveAggressive(0.1), batch_size=10)


@pytest.mark.parametrize("period", [0, -1])
def test_a_period_is_at_least_1(period: int) -> None:
    with pytest.raises(ValueError, match=f"Periodic needs a period of at least 1, got {period}"):
        Periodic(period)


def test_parts_that_do_not_fit_together() -> None:
    with pytest.raises(ValueError, match=r"must be a multiple of .*, got batch_size=6 and"):
        Settings(batch_size=6, all_pairs=2)
    with pytest.raises(ValueError, match=r"all_pairs=3 needs the policy EveryBatch\(\), got"):
        Settings(policy=BySlope(), batch_size=9, all_pairs=3)


WRONG: dict[str, tuple[Any, Any]] = {
    "width": (np.zeros((10, 4)), np.zeros((3, 3), dtype=int)),
    "columns": (np.zeros((10, 5)), np.full((3000, 2), 9)),
    "a row": (np.zeros((10, 5)), np.arange(3)),
    "fractions": (np.zeros((10, 5)), np.full((4, 3), 1.7)),
    "past the end": (np.zeros((10, 5)), np.full((4, 3), 10)),
    "negative": (np.zeros((10, 5)), np.full((4, 3), -1)),
    "no samples": (np.zeros((0, 5)), np.zeros((4, 3), dtype=int)),
}


@pytest.mark.parametrize("case", WRONG)
def test_triplets_point_to_samples(case: str) -> None:
    solvers: list[Any] = [solver_of(Settings(), 5), BilinearSolver(0.1, 5)]
    for solver in solvers:
        with pytest.raises(ValueError, match=r"5 features needs samples|be indices of the"):
            solver.advance(*WRONG[case])
