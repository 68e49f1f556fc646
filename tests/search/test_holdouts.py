"""What a fold may learn from."""

from __future__ import annotations

import numpy as np
import pytest

from calipers.search.holdouts import Scored, hold_out, lower_bounds

CHAIN = np.array([[q, d] for q in range(20) for d in (q, q + 1)])  # one group of all
APART = np.array([[q, q // 3] for q in range(30)])


@pytest.mark.parametrize("pairs", [CHAIN, APART], ids=["one group", "many groups"])
def test_a_fold_never_learns_from_what_it_holds_out(pairs: np.ndarray) -> None:
    for name in ("queries", "documents"):
        part = hold_out(name, pairs, 4, np.random.default_rng(0))
        assert set(part.fold) == {0, 1, 2, 3}
        for fold in range(4):
            held_out = part.fold[pairs[:, 0]] == fold
            training = part.training(fold)
            assert not (training & held_out).any()
            if name == "queries":
                assert (training | held_out).all()
            else:
                assert not set(pairs[training, 1]) & set(pairs[held_out, 1])


def test_connected_queries_are_held_out_together() -> None:
    part = hold_out("documents", APART, 4, np.random.default_rng(0))
    assert all(len(set(part.fold[3 * d : 3 * d + 3])) == 1 for d in range(10))
    assert len(set(part.group)) == 10
    assert part.training(0).sum() == (part.fold[APART[:, 0]] != 0).sum()  # no pair is lost


def test_queries_of_a_group_count_once() -> None:
    gains = np.random.default_rng(0).normal(0.2, 1.0, size=(1, 50))
    once = lower_bounds(gains, np.arange(50))
    twice = lower_bounds(np.repeat(gains, 2, axis=1), np.repeat(np.arange(50), 2))
    assert twice == pytest.approx(once)
    assert lower_bounds(gains, np.zeros(50, dtype=int)) == -np.inf


def test_maps_that_differ_from_fold_to_fold_widen_the_bound() -> None:
    before, each = np.zeros((40, 4)), np.arange(40)
    after = np.random.default_rng(0).normal(0.2, 1.0, size=(40, 4))
    given, folds = (Scored("queries", each, each, before, after, n) for n in (None, 4))
    mean = given.gains.mean()
    ratio = (mean - folds.lower_bound()) / (mean - given.lower_bound())
    assert ratio**2 == pytest.approx(1 + 4 / 3)  # variance: 1/K + n_test / n_training, times K
