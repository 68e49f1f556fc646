"""Theorem 2's bound holds in every run; the formulas, at values worked out by hand."""

from __future__ import annotations

from dataclasses import replace
from math import inf, log

import numpy as np
import pytest

from calipers.estimators.theory import Theory
from reference.plain import outer_norms
from solver_runs import Settings, noise, run_real

FACTS = Theory(
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
    delta=0.01,
)
LOG_CASES = log(21 / 0.01)  # ceil(2 log2 1024) = 20 cases, and one for a vanishing sum


def test_when_the_theorems_apply() -> None:
    assert FACTS.contraction == pytest.approx(0.09)
    assert FACTS.applies
    void = Theory(**{**vars(FACTS), "largest_norm": 0.34})
    assert not void.applies
    assert replace(void, theorem=1).mini_batch_bound() == void.adaptive_bound() == inf
    assert np.isfinite(void.update_bound)


def test_update_bounds() -> None:
    assert FACTS.update_bound == pytest.approx(1.5 * 3 * 10 + 2.5 * LOG_CASES)
    assert FACTS.sharp_update_bound == pytest.approx(1.5 * 8 + (2 + 2**0.5 / 3) * LOG_CASES)


def test_loss_bounds() -> None:
    assert FACTS.adaptive_bound(0.5) == pytest.approx(
        (0.5 + (0.5 + 16 * LOG_CASES) * (9.0 + 1 + 1) / 1024) / 0.91
    )
    spread = log(2048 / 0.01) ** 2 * log(10 / 0.01)
    first = replace(FACTS, theorem=1)
    assert first.mini_batch_bound(0.5) == pytest.approx(
        (0.5 + 9.0 / 2048 + 32 * 0.01 / 1024 * spread) / 0.91
    )
    batches = replace(first, batch_size=4)
    spread = log(512 / 0.01) ** 2 * log(10 / 0.01)
    assert batches.mini_batch_bound() == pytest.approx(
        (4 * 9.0 / 2048 + 32 * 0.01 / 1024 * spread) / 0.91
    )


def test_each_theorem_is_about_its_own_methods() -> None:
    first = replace(FACTS, theorem=1, batch_size=4)
    assert first.rates == pytest.approx((4 / 1024, 1 / 32 + (4 / 1024) ** 2))
    for ask in (lambda: FACTS.mini_batch_bound(), lambda: FACTS.rates):
        with pytest.raises(ValueError, match="Theorem 1 is about SGD and Mini-SGD, and this fit"):
            ask()
    asked = (lambda: first.update_bound, lambda: first.sharp_update_bound, first.adaptive_bound)
    for ask in asked:
        with pytest.raises(ValueError, match="Theorem 2 is about AS-SGD, and this fit is one of"):
            ask()


def run(seed: int, scale: float) -> tuple[int, float, float, float]:
    """Updates, summed loss, summed slope and its variance of one run of AS-SGD."""
    X, triplets = noise(4, 1000, scale=scale, seed=seed)
    far, near = X[triplets[:, 0]] - X[triplets[:, 2]], X[triplets[:, 0]] - X[triplets[:, 1]]
    if scale < 0.2:
        assert outer_norms(far, near).max() <= 0.3
    solver, _ = run_real(X, triplets, Settings("as-sgd", seed=1000 + seed))
    sums = solver.sums
    return solver.n_updates, sums["summed_loss"], sums["summed_slope"], len(triplets) / 4


@pytest.mark.parametrize("scale", [0.1, 1.0])
def test_updates_stay_below_theorem_2_in_each_of_100_runs(scale: float) -> None:
    cases = log(np.ceil(2 * np.log2(1000)) / 0.01)
    total, expected, variance = 0, 0.0, 0.0
    for seed in range(100):
        n_updates, loss, slope, spread = run(seed, scale)
        assert n_updates <= 1.5 * 3.0 * loss + 2.5 * cases
        assert n_updates <= 1.5 * slope + 2.48 * cases
        total, expected, variance = total + n_updates, expected + slope, variance + spread
    # an update is a coin with probability slope: a martingale, so four deviations
    assert abs(total - expected) <= 4 * variance**0.5
