"""Both solvers of the benchmarks take the same steps, and the limit counts what they need."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks import limit, ours, plain
from benchmarks.problem import METHODS, Outcome, Problem, paper_problem, same_until

from reference.plain import plain_walk
from solver_runs import assert_same_matrix, noise


def small(method: str, n_triplets: int = 200) -> Problem:
    X, triplets = noise(6, n_triplets, scale=2.0)
    return paper_problem(X, triplets, method, batch_size=5)


@pytest.mark.parametrize("method", METHODS)
def test_both_solvers_take_the_same_decisions(method: str) -> None:
    problem = small(method)
    expected, outcome = plain.run(problem), ours.run(problem)
    assert np.count_nonzero(outcome.accepted) > 0
    assert same_until(expected, outcome) == problem.n_iterations == len(outcome.accepted)
    assert_same_matrix(outcome.average, expected.average)


@pytest.mark.parametrize("method", METHODS)
def test_the_plain_solver_is_the_reference_of_the_tests(method: str) -> None:
    problem = small(method)
    n = problem.n_iterations
    expected = plain_walk(
        problem.X,
        problem.triplets,
        method,
        uniforms=problem.accept_rng().random(n),
        picks=problem.pick_rng().integers(problem.batch_size, size=n),
        batch_size=problem.batch_size,
        W=problem.largest,
    )
    outcome = plain.run(problem)
    np.testing.assert_array_equal(outcome.accepted, expected.accepted)
    assert_same_matrix(outcome.average, expected.average)


def test_the_first_difference_is_found() -> None:
    one, other = (
        Outcome(np.array(accepted), np.eye(1))
        for accepted in ([True, False, True, True], [True, False, False])
    )
    assert same_until(one, other) == 2
    assert same_until(one, one) == 4


def test_the_limit_counts_the_margins_that_a_method_needs() -> None:
    bound = limit.Limit(difference=1.0, factorisation=100.0)
    assert bound.seconds(small("as-sgd", 200), 3) == 2 * 200 + 300
    assert bound.seconds(small("ha-sgd", 200), 3) == 2 * 200 + 300
    assert bound.seconds(small("hr-sgd", 200), 3) == 2 * (200 / 5 + 5 * 3) + 300
