"""L-BFGS by SciPy: when it ends, and what it keeps."""

from __future__ import annotations

import numpy as np
import pytest

from calipers.arrays import FloatArray
from calipers.solvers.lbfgs import Descent, Value

A = np.diag([1.0, 10.0, 100.0])
TARGET = np.array([[1.0, 2.0, 3.0]])


def bowl(L: FloatArray) -> Value:
    away = L - TARGET
    return Value(L, 1.0 + float(np.sum(away @ A * away)), 2.0 * away @ A, n_active=7)


def descent(*, tol: float = 1e-12, max_iter: int = 1000) -> Descent:
    return Descent(bowl, bowl(np.zeros((1, 3))), tol=tol, max_iter=max_iter)


def test_it_ends_at_the_minimum_and_each_step_is_lower() -> None:
    solver, seen = descent(), []

    def look() -> bool:
        seen.append((solver.objectives[-1], solver.value.objective, bowl(solver.value.L).objective))
        return False

    solver.run(look)
    np.testing.assert_allclose(solver.value.L, TARGET, atol=1e-5)
    np.testing.assert_allclose(solver.metric, TARGET.T @ TARGET, atol=1e-4)
    assert solver.converged
    assert len(seen) == solver.n_updates
    for told, kept, at_the_end in seen:
        assert told == kept == pytest.approx(at_the_end)
    assert (np.diff(solver.objectives) <= 0.0).all()


def test_too_few_steps_and_a_stop_are_no_convergence() -> None:
    few, stopped = descent(max_iter=2), descent()
    few.run(lambda: False)
    stopped.run(lambda: stopped.n_updates == 3)
    assert (few.n_updates, few.converged) == (2, False)
    assert (stopped.n_updates, stopped.converged) == (3, False)


def test_a_start_at_the_minimum_has_converged() -> None:
    solver = Descent(bowl, bowl(TARGET), tol=1e-5, max_iter=10)
    solver.run(lambda: False)
    assert (solver.n_updates, solver.converged) == (0, True)


def test_a_loose_tolerance_ends_after_five_steps_that_hardly_pay() -> None:
    solver = descent(tol=0.5)
    solver.run(lambda: False)
    assert solver.converged
    last_six = solver.objectives[-6:]
    assert last_six[0] - last_six[-1] <= 5 * 0.5 * last_six[-1]
    assert solver.n_updates < 12
