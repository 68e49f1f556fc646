"""How the paper's five algorithms are related to each other."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from calipers import recipes
from calipers.sampling import ByGradientNorm, BySlope, EveryBatch
from plain import loss_slope, outer
from walks import METHODS, Settings, noise, walk_real


def assert_same(first: Settings, second: Settings, *, scale: float = 1.0) -> None:
    X, triplets = noise(6, 400, scale=scale)
    one, accepted_one = walk_real(X, triplets, first)
    two, accepted_two = walk_real(X, triplets, second)
    np.testing.assert_array_equal(accepted_one, accepted_two)
    np.testing.assert_array_equal(one.average, two.average)
    np.testing.assert_array_equal(one.last, two.last)


def test_mini_sgd_with_batches_of_one_is_sgd() -> None:
    assert_same(Settings("mini-sgd", batch_size=1, R=4.0), Settings("sgd", R=4.0))


def test_hr_sgd_with_batches_of_one_is_as_sgd() -> None:
    assert_same(Settings("hr-sgd", batch_size=1, R=4.0), Settings("as-sgd", R=4.0))


def test_where_every_slope_is_one_as_sgd_is_sgd() -> None:
    """Small rows, so that no margin comes near 1, and a loss that is steep below it."""
    steep = Settings("sgd", L=200.0, eta=0.1, R=3.0)
    X, triplets = noise(6, 400, scale=0.1)
    solver, accepted = walk_real(X, triplets, steep)
    assert solver.iterate.tally[0]["slope"] == len(accepted)
    assert_same(steep, replace(steep, method="as-sgd"), scale=0.1)


def test_ha_sgd_whose_largest_norm_is_exceeded_is_mini_sgd() -> None:
    assert_same(Settings("ha-sgd", W=1e-9, R=4.0), Settings("mini-sgd", R=4.0), scale=0.2)


def test_ha_sgd_takes_the_step_of_mini_sgd_where_its_norm_is_the_largest() -> None:
    X, triplets = noise(6, 10)
    A = [outer(X, triplet) for triplet in triplets]
    G = np.mean([loss_slope(float(np.trace(a)), 3.0) * a for a in A], axis=0)
    W = float(np.linalg.norm(G)) * (1 - 1e-12)
    real, accepted = walk_real(X, triplets, Settings("ha-sgd", W=W))
    mini, _ = walk_real(X, triplets, Settings("mini-sgd"))
    assert accepted.tolist() == [True]
    np.testing.assert_array_equal(real.last, mini.last)


@pytest.mark.parametrize("method", METHODS)
def test_the_number_of_updates_is_that_of_the_accepted(method: str) -> None:
    X, triplets = noise(6, 400)
    solver, accepted = walk_real(X, triplets, Settings(method))
    assert solver.n_updates == np.count_nonzero(accepted)
    if method in ("sgd", "mini-sgd"):
        assert accepted.all()


def test_parts() -> None:
    assert recipes.sgd().policy == recipes.mini_sgd().policy == EveryBatch()
    assert recipes.as_sgd().policy == recipes.hr_sgd().policy == BySlope()
    assert recipes.sgd().batch_size == recipes.as_sgd().batch_size == 1
    policy = ByGradientNorm(2.0)
    assert recipes.ha_sgd(policy=policy, batch_size=7).policy is policy
    sizes = [recipes.mini_sgd(), recipes.hr_sgd(), recipes.ha_sgd(policy=policy)]
    assert [recipe.batch_size for recipe in sizes] == [10, 10, 10]
