"""The projection inside the loop, from matrices of every kind."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, strategies as st

from calipers.arrays import FloatArray
from reference.plain import loss_slope, outer, project
from solver_runs import Settings, assert_same_matrix, put_at


def hard_metrics(d: int) -> Iterator[tuple[str, FloatArray]]:
    rng = np.random.default_rng(d)
    Q = np.linalg.qr(rng.standard_normal((d, d)))[0]
    spectra = {
        "equal": np.ones(d),
        "one large": np.where(np.arange(d) == 0, 100.0, 1e-3),
        "decades": np.logspace(-14, 0, d),
        "spread": np.linspace(1e-3, 1.0, d),
        "half zero": np.where(np.arange(d) < d // 2, 0.0, 1.0),
        "rank one": np.where(np.arange(d) == 0, 1.0, 0.0),
        "zero": np.zeros(d),
        "clusters": np.repeat([1.0, 2.0], [d // 2, d - d // 2]) + 1e-10 * np.arange(d),
    }
    for name, values in spectra.items():
        M = (Q * values) @ Q.T
        yield name, np.asarray((M + M.T) / 2)


@pytest.mark.parametrize("length", [1e-7, 1.0])
@pytest.mark.parametrize("batch_size", [1, 4])
@pytest.mark.parametrize("d", [5, 100])
def test_one_step_from_any_metric(d: int, batch_size: int, length: float) -> None:
    """Clustered, multiple and zero eigenvalues, with steps along and across them."""
    rng = np.random.default_rng(d)
    for name, M in hard_metrics(d):
        X = length * rng.standard_normal((6, d)) / np.sqrt(d)
        X[0] = 0.0
        X[5] = length * np.linalg.eigh(M)[1][:, -1]
        triplets = np.array([[0, 5, 1], [0, 2, 5], [1, 3, 2], [3, 5, 4]])[:batch_size]
        solver = Settings("mini-sgd", batch_size=batch_size, L=0.1).solver(d)
        put_at(solver, M)
        solver.advance(X, triplets)
        A = [outer(X, triplet) for triplet in triplets]
        step = sum(loss_slope(float(np.sum(M * a)), 0.1) * a for a in A) / batch_size
        expected = project(M + step, 1000.0)
        size = np.linalg.norm(M) + np.linalg.norm(step)
        assert np.linalg.norm(solver.last - expected) <= 1e-10 * size, name
        assert np.linalg.eigvalsh(solver.last)[0] >= -1e-10 * size, name


@given(st.integers(0, 2**32 - 1), st.integers(1, 8), st.floats(0.1, 10.0))
def test_the_plain_projection_is_the_nearest_member(seed: int, d: int, radius: float) -> None:
    """It is in the set, and the angle to every other member is obtuse."""
    rng = np.random.default_rng(seed)
    Q = np.linalg.qr(rng.standard_normal((d, d)))[0]
    M = (Q * rng.standard_normal(d) * rng.choice([0.0, 0.1, 1.0, 10.0], size=d)) @ Q.T
    M = (M + M.T) / 2
    nearest = project(M, radius)
    assert np.linalg.norm(nearest) <= radius * (1 + 1e-12)
    assert np.linalg.eigvalsh(nearest)[0] >= -1e-13 * radius
    root = rng.standard_normal((d, int(rng.integers(1, d + 1))))
    other = root @ root.T * (radius * rng.random() / np.linalg.norm(root @ root.T))
    assert np.sum((M - nearest) * (other - nearest)) <= 1e-9 * (1 + np.linalg.norm(M)) * radius


def crowded(d: int) -> tuple[FloatArray, FloatArray]:
    """A metric and a direction whose lowest pair takes many steps to find."""
    return np.diag(np.linspace(0.0, 1.0, d) ** 2), np.full(d, 0.005)


def test_a_lowest_pair_that_takes_many_steps_to_find() -> None:
    """Of a crowded spectrum: Lanczos gives up, the full decomposition steps in."""
    M, v = crowded(200)
    solver = Settings("sgd", L=1e-9, eta=2.0).solver(200)
    put_at(solver, M)
    solver.advance(np.stack([v, np.zeros(200), v]), np.array([[0, 1, 2]]))
    assert_same_matrix(solver.last, project(M - np.outer(v, v), 1000.0), 1e-10)
    assert solver.n_projections == 1


@pytest.mark.parametrize("d", [3, 60, 110])
def test_where_nothing_is_seen_the_full_decomposition_steps_in(d: int) -> None:
    """Two equal eigenvalues become negative; the sum of the directions shows one of them."""
    M = np.eye(d)
    X = 2.0 * np.eye(d)[:3]
    X[2] = 0.0
    triplets = np.array([[2, 0, 2], [2, 1, 2]])
    solver = Settings("mini-sgd", batch_size=2, batch_sum=True, L=1e-12, eta=2.0).solver(d)
    put_at(solver, M)
    solver.advance(X, triplets)
    expected = np.eye(d)
    expected[0, 0] = expected[1, 1] = 0.0
    assert_same_matrix(solver.last, expected, 1e-10)
    assert solver.core_state.negatives == 2


@pytest.mark.parametrize("gap", [0.0, 1e-8, 1e-3])
@pytest.mark.parametrize("d", [8, 60, 110])
def test_negative_eigenvalues_that_nearly_meet(d: int, gap: float) -> None:
    """Each is to be cut off once, whether Lanczos can tell them apart or not."""
    rng = np.random.default_rng(d)
    Q = np.linalg.qr(rng.standard_normal((d, d)))[0]
    M = (Q * np.linspace(0.5, 1.0, d)) @ Q.T
    M = (M + M.T) / 2
    near = np.linalg.qr(rng.standard_normal((d, 4)))[0].T * (2.0 + gap * np.arange(4.0))[:, None]
    X = np.vstack([np.zeros(d), near])
    triplets = np.array([[0, 1, 0], [0, 2, 0], [0, 3, 0], [0, 4, 0]])
    solver = Settings("mini-sgd", batch_size=4, batch_sum=True, L=1e-12, eta=2.0).solver(d)
    put_at(solver, M)
    solver.advance(X, triplets)
    assert_same_matrix(solver.last, project(M - near.T @ near, 1000.0), 1e-8)
    assert solver.core_state.negatives == 4
