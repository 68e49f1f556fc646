"""LMNN's objective against its definition, and the lists that spare searches."""

from __future__ import annotations

import numpy as np
import pytest

from calipers.metric.coordinates import factor
from calipers.solvers.large_margin import Finder, Frame
from reference.lmnn_by_definition import X, Y, by_definition, data, metrics, problem


@pytest.mark.parametrize(("k", "mu"), [(1, 0.5), (3, 0.1), (9, 1.0)])
def test_objective_is_the_definition(k: int, mu: float) -> None:
    for M in metrics(2):
        objective, G, n_active = by_definition(M, X, Y, k, mu)
        L = factor(M)
        asked = problem(n_neighbors=k, push_weight=mu)
        value = asked.at(L)
        assert value.objective == pytest.approx(objective, rel=1e-12)
        assert value.n_active == n_active
        np.testing.assert_allclose(value.slope, 2 * L @ G, rtol=1e-9, atol=1e-8)


def test_objective_of_more_coordinates_than_are_summed_at_once() -> None:
    rows, labels = data(30, 70)
    for M in (0.01 * np.eye(70), *(0.001 * M for M in metrics(2, 70))):
        objective, _, n_active = by_definition(M, rows, labels)
        value = problem(rows, labels).at(factor(M))
        assert value.objective == pytest.approx(objective, rel=1e-10)
        assert value.n_active == n_active > 0


def test_objective_does_not_depend_on_coordinates_or_origin() -> None:
    asked, moved = problem(), problem(X + 2.0**20)
    for M in metrics(3):
        far, near = moved.at(factor(M)), asked.at(factor(M))
        np.testing.assert_allclose(far.slope, near.slope, rtol=1e-7, atol=1e-6)
    frame = Frame.of(moved)
    moved.change_coordinates(frame.T)
    for M in metrics(3):
        L = factor(M) @ np.linalg.inv(frame.T).T
        assert moved.at(L).objective == pytest.approx(asked.at(factor(M)).objective, rel=1e-8)
        np.testing.assert_allclose(frame.metric(L, 1.0), M, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(frame.metric(frame.identity, 1.0), np.eye(4), atol=1e-12)


def test_gradient_is_the_slope() -> None:
    rng = np.random.default_rng(1)
    asked = problem()
    for _ in range(10):
        L, direction = rng.standard_normal((2, 3, 4))
        up, down = asked.at(L + 1e-6 * direction), asked.at(L - 1e-6 * direction)
        assert up.n_active == down.n_active  # no kink between
        slope = float(np.vdot(asked.at(L).slope, direction))
        assert (up.objective - down.objective) / 2e-6 == pytest.approx(slope, rel=1e-5)


def test_objective_is_convex_in_the_metric() -> None:
    asked = problem()
    ends = [(M, asked.at(factor(M)).objective) for M in metrics(8)]
    for (A, at_a), (B, at_b) in zip(ends[::2], ends[1::2], strict=True):
        for share in (0.1, 0.5, 0.9):
            between = asked.at(factor(share * A + (1 - share) * B)).objective
            assert between <= share * at_a + (1 - share) * at_b + 1e-9


def test_finder_finds_all_within_reach_and_few_beyond() -> None:
    rows, labels = data(200, 6)
    order = np.argsort(labels, kind="stable")
    rows, labels = rows[order], labels[order]
    own = np.stack([np.searchsorted(labels, labels, side) for side in ("left", "right")], axis=1)
    distance = np.sqrt(np.sum((rows[:, None] - rows) ** 2, axis=2))
    reach = np.quantile(distance, 0.1, axis=1)
    reach[7] = 0.0
    for unit in (1e-30, 1.0, 1e30):
        finder = Finder(unit * rows, own, unit * reach)
        starts, columns = finder.find(slice(0, 200))
        for i in range(200):
            listed = columns[starts[i] : starts[i + 1]].tolist()
            if reach[i] == 0.0:
                assert not listed
                continue
            beyond = np.where(labels != labels[i], distance[i] - reach[i], np.inf)
            assert set(np.flatnonzero(beyond < 0)) <= set(listed)
            assert set(listed) <= set(np.flatnonzero(beyond < 1e-3))
