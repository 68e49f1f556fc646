"""The formulas at values worked out by hand; Theorem 2's bound holds in every run."""

from __future__ import annotations

from dataclasses import replace
from math import inf, log
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from calipers import TripletSGD, recipes
from calipers.paper.theory import Theory
from reference.plain import outer_norms
from solver_runs import Settings, noise, run_real

SECOND = Theory(
    theorem=2,
    n_triplets=1024,
    batch_size=1,
    n_updates=7,
    learning_rate=1.0,
    smoothness=3.0,
    radius=2.0,
    init_scale=1.0,
    n_features=5,
    largest_norm=0.1,
    summed_loss=10.0,
    summed_slope=8.0,
)
LOG_CASES = log(21 / 0.01)  # ceil(2 log2 1024) = 20 cases, and one for a vanishing sum


def test_update_bounds() -> None:
    assert SECOND.update_bound == pytest.approx(1.5 * 3 * 10 + 2.5 * LOG_CASES)
    assert SECOND.sharp_update_bound == pytest.approx(1.5 * 8 + (2 + 2**0.5 / 3) * LOG_CASES)


def test_loss_bounds() -> None:
    assert SECOND.contraction == pytest.approx(0.09)
    assert SECOND.loss_bound(0.5) == pytest.approx(
        (0.5 + (0.5 + 16 * LOG_CASES) * (9.0 + 1 + 1) / 1024) / 0.91
    )
    spread = log(512 / 0.01) ** 2 * log(10 / 0.01)
    first = replace(SECOND, theorem=1, batch_size=4)
    assert first.loss_bound(0.5) == pytest.approx(
        (0.5 + 4 * 9.0 / 2048 + 32 * 0.01 / 1024 * spread) / 0.91
    )
    assert replace(SECOND, largest_norm=0.34).loss_bound() == inf


def test_of_a_fit() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(90, 3)), np.arange(90) % 3
    fitted = TripletSGD.paper("as-sgd", n_triplets=1000, random_state=0).fit(X, y)
    theory = Theory.of(fitted, delta=0.05)
    assert (theory.theorem, theory.delta, theory.n_triplets) == (2, 0.05, 1000)
    assert theory.n_updates == fitted.n_updates_
    weights = np.diff(fitted.triplet_curve_, prepend=0)
    assert theory.summed_loss == pytest.approx(float(weights @ fitted.loss_curve_))
    assert Theory.of(TripletSGD.paper("mini-sgd", n_triplets=500).fit(X, y)).theorem == 1


@pytest.mark.parametrize(
    ("method", "said"),
    [
        ("hr-sgd", "no theorem for this recipe"),
        (recipes.mini_sgd(batch_reduce="sum"), "no theorem for this recipe"),
        (recipes.mini_sgd(projection=10), "got a recipe with projection=10"),
    ],
)
def test_methods_without_a_theorem(method: Any, said: str) -> None:
    X, y = np.random.default_rng(0).normal(size=(30, 3)), np.arange(30) % 3
    fitted = TripletSGD(method, n_triplets=100).fit(X, y)
    with pytest.raises(ValueError, match=said):
        Theory.of(fitted)
    with pytest.raises(NotFittedError):
        Theory.of(TripletSGD(method))


@pytest.mark.parametrize("scale", [0.1, 1.0])
def test_updates_stay_below_theorem_2_in_each_of_100_runs(scale: float) -> None:
    cases = log(np.ceil(2 * np.log2(1000)) / 0.01)
    total, expected, variance = 0, 0.0, 0.0
    for seed in range(100):
        X, triplets = noise(4, 1000, scale=scale, seed=seed)
        far, near = X[triplets[:, 0]] - X[triplets[:, 2]], X[triplets[:, 0]] - X[triplets[:, 1]]
        if scale < 0.2:
            assert outer_norms(far, near).max() <= 0.3
        solver, _ = run_real(X, triplets, Settings("as-sgd", seed=1000 + seed))
        n_updates, slope = solver.n_updates, solver.facts["summed_slope"]
        assert n_updates <= 1.5 * 3.0 * solver.facts["summed_loss"] + 2.5 * cases
        assert n_updates <= 1.5 * slope + 2.48 * cases
        total, expected, variance = total + n_updates, expected + slope, variance + 250
    # an update is a coin with probability slope: a martingale, so four deviations
    assert abs(total - expected) <= 4 * variance**0.5
