"""The one loop against the plain algorithms, and what a run promises beside."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, strategies as st

from calipers.arrays import FloatArray, IndexArray
from calipers.solvers import sgd as solver_module
from reference.plain import outer
from solver_runs import (
    METHODS,
    Settings,
    all_pairs_noise,
    assert_same_matrix,
    assert_same_run,
    noise,
    run_plain,
    run_real,
)

SIZES = [5, 42, 130]  # the projection is another one from 97 on
N_TRIPLETS = {"sgd": 150, "as-sgd": 200}


def problem(method: str, d: int, scale: float = 1.0) -> tuple[FloatArray, IndexArray]:
    return noise(d, N_TRIPLETS.get(method, 805), scale=scale, seed=d)


# The same run as the plain one


@pytest.mark.parametrize("d", SIZES)
@pytest.mark.parametrize("method", METHODS)
def test_any_size(method: str, d: int) -> None:
    X, triplets = problem(method, d)
    solver = assert_same_run(X, triplets, Settings(method))
    assert solver.n_projections > 20


@pytest.mark.parametrize("d", SIZES)
@pytest.mark.parametrize("method", METHODS)
def test_the_ball_is_active(method: str, d: int) -> None:
    X, triplets = problem(method, d)
    radius = 1.01 * d**0.5
    settings = Settings(method, R=radius)
    solver = assert_same_run(X, triplets, settings)
    free, _ = run_real(X, triplets, replace(settings, R=1000.0))
    if d >= 16:
        assert np.linalg.norm(solver.average - free.average) > 1e-6
    assert np.linalg.norm(solver.last) <= radius * (1 + 1e-12)


@pytest.mark.parametrize(("d", "k", "n_anchors"), [(1, 2, 3), (5, 3, 2), (42, 5, 4), (130, 2, 60)])
@pytest.mark.parametrize("eta", [1.0, 20.0])
def test_all_pairs_of_an_anchor_are_the_same_triplets(
    d: int, k: int, n_anchors: int, eta: float
) -> None:
    """A batch whose triplets share their samples moves M as one whose triplets do not know it."""
    X, triplets = all_pairs_noise(d, 12 * n_anchors, k, seed=d)
    settings = Settings("mini-sgd", batch_size=n_anchors * k * k, crossed=k, eta=eta)
    solver = assert_same_run(X, triplets, settings)
    apart, _ = run_real(X, triplets, replace(settings, crossed=1))
    assert_same_matrix(solver.average, apart.average)
    assert solver.facts["largest_norm"] == pytest.approx(apart.facts["largest_norm"])
    assert eta == 1.0 or d == 1 or solver.n_projections > 0


@pytest.mark.parametrize("d", [1, 5, 42])
def test_anchors_beyond_the_clip_norm_are_clipped(d: int) -> None:
    """All differences of such an anchor by one factor; the others stay as they are."""
    X, triplets = all_pairs_noise(d, 60, 3, seed=d)
    settings = Settings("mini-sgd", batch_size=90, crossed=3, eta=5.0)
    far = X[triplets[:, 0]] - X[triplets[:, 2]]
    usual = float(np.median(np.sum(far**2, axis=1))) ** 0.5
    free = assert_same_run(X, triplets, settings)
    solver = assert_same_run(X, triplets, replace(settings, reach=usual))
    assert np.linalg.norm(solver.average - free.average) > 1e-3 * np.linalg.norm(free.average)
    wide, _ = run_real(X, triplets, replace(settings, reach=100.0 * usual))
    np.testing.assert_array_equal(wide.average, free.average)


VARIANTS = {
    "sum over the batch": Settings("", batch_sum=True, eta=0.2),
    "short steps": Settings("", eta=1e-3),
    "long steps": Settings("", eta=30.0, L=0.1),
    "steep loss": Settings("", L=20.0, eta=0.05),
    "importance weights of at most 2": Settings("", tau_max=2.0),
    "importance weights of at most a half": Settings("", tau_max=0.5),
    "a small start": Settings("", start=1e-6),
    "a large start": Settings("", start=1e6, R=1e7),
    "a tiny ball": Settings("", start=1e-6, R=1e-5),
    "batches of three": Settings("", batch_size=3),
    "batches larger than d": Settings("", batch_size=16),
    "clipped": Settings("", reach=1.2),
    "another seed": Settings("", seed=77),
}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("variant", VARIANTS)
def test_any_setting(variant: str, method: str) -> None:
    X, triplets = problem(method, 7)
    assert_same_run(X, triplets, replace(VARIANTS[variant], method=method))


@pytest.mark.parametrize("d", [7, 100])
@pytest.mark.parametrize("W", [None, 0.0, 0.05, 0.5, 50.0])
def test_any_largest_norm(W: float | None, d: int) -> None:
    X, triplets = problem("ha-sgd", d)
    solver = assert_same_run(X, triplets, Settings("ha-sgd", W=W))
    if W == 0.0:
        assert solver.n_updates == 0


@pytest.mark.parametrize("method", METHODS)
def test_separable_samples_and_long_gaps(method: str) -> None:
    """Where most triplets are satisfied: long runs without an update."""
    rng = np.random.default_rng(0)
    labels = rng.integers(3, size=60)
    X = rng.standard_normal((60, 8))
    X[:, 0] += 4.0 * labels
    anchor = rng.integers(60, size=3000)
    near = np.array([rng.choice(np.flatnonzero(labels == labels[a])) for a in anchor])
    far = np.array([rng.choice(np.flatnonzero(labels != labels[a])) for a in anchor])
    solver = assert_same_run(X, np.column_stack([anchor, near, far]), Settings(method))
    if method == "as-sgd":
        assert solver.n_updates < 500


@pytest.mark.parametrize("method", METHODS)
def test_degenerate_triplets(method: str) -> None:
    """Only equal samples, then positives or negatives equal to the anchor, then one feature."""
    X = np.array([[0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [1.0, 2.0], [-1.0, 0.5]])
    kinds = np.array([[0, 1, 2], [0, 1, 3], [3, 4, 3], [0, 3, 1], [4, 0, 3]])
    for pick in ([0], [1], [3], [1, 3], [0, 1, 2, 3, 4]):
        triplets = np.resize(kinds[pick], (60, 3))
        assert_same_run(X, triplets, Settings(method, eta=0.1, R=3.0))
        assert_same_run(X[:, :1].copy(), triplets, Settings(method, eta=0.1, R=3.0))


@given(
    st.sampled_from(METHODS),
    st.integers(0, 2**32 - 1),
    st.integers(1, 12),
    st.sampled_from([0.02, 0.3, 1.0]),
    st.sampled_from([1.02, 3.0, 1000.0]),
    st.booleans(),
)
def test_any_problem(
    method: str, seed: int, d: int, scale: float, radius: float, batch_sum: bool
) -> None:
    X, triplets = noise(d, 123, scale=scale, seed=seed, n_rows=12)
    settings = Settings(method, R=radius * d**0.5, batch_sum=batch_sum, batch_size=5, eta=0.5)
    assert_same_run(X, triplets, settings)


# What the solver promises beside


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("portion", [1, 64])
def test_portions_change_nothing(method: str, portion: int) -> None:
    X, triplets = noise(16, 2000 if method == "as-sgd" else 1000, seed=5)
    settings = Settings(method, R=6.0)
    whole, accepted = run_real(X, triplets, settings)
    parts, accepted_in_parts = run_real(X, triplets, settings, portion=portion)
    np.testing.assert_array_equal(accepted, accepted_in_parts)
    assert_same_matrix(parts.average, whole.average, 1e-10)
    assert_same_matrix(parts.last, whole.last, 1e-10)
    assert parts.n_iterations == whole.n_iterations == len(accepted)


@pytest.mark.parametrize("method", METHODS)
def test_threads_and_blocks_change_no_decision(
    method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, triplets = problem(method, 42)
    monkeypatch.setattr(solver_module, "WORTH_A_THREAD", 1000)
    monkeypatch.setattr(solver_module, "CHUNK_WORK", 64 * 42 * 42)
    monkeypatch.setattr(solver_module, "BLOCK_BYTES", 16 * 42 * 100)
    assert_same_run(X, triplets, Settings(method))


@pytest.mark.parametrize("method", METHODS)
def test_metrics_stay_symmetric_and_positive(method: str) -> None:
    d = 24
    solver = Settings(method, R=8.0).solver(d)
    for seed in range(10):
        solver.advance(*noise(d, 2000, seed=seed))
        for M in (solver.last, solver.average):
            np.testing.assert_array_equal(M, M.T)
            assert np.linalg.eigvalsh(M)[0] >= -1e-10 * np.linalg.norm(M)
            assert np.linalg.norm(M) <= 8.0 * (1 + 1e-12)


def test_a_rest_that_fills_no_batch_is_left_out() -> None:
    X, triplets = noise(4, 107)
    solver, accepted = run_real(X, triplets, Settings("mini-sgd"))
    assert len(accepted) == solver.n_iterations == solver.n_updates == 10


def test_the_first_iterate_counts_and_the_last_does_not() -> None:
    X, triplets = noise(3, 2, seed=9)
    solver = Settings("sgd").solver(3)
    solver.advance(X, triplets[:1])
    np.testing.assert_array_equal(solver.average, np.eye(3))
    second = solver.last
    assert np.linalg.norm(second - np.eye(3)) > 1e-3
    solver.advance(X, triplets[1:])
    np.testing.assert_allclose(solver.average, (np.eye(3) + second) / 2, rtol=1e-14)


def test_the_curve_is_the_mean_loss_of_each_portion() -> None:
    X, triplets = noise(5, 300)
    settings = Settings("as-sgd")
    solver, accepted = run_real(X, triplets, settings, portion=100)
    losses = run_plain(X, triplets, settings).losses
    np.testing.assert_allclose(
        [point.loss for point in solver.curve], np.reshape(losses, (3, 100)).mean(axis=1)
    )
    assert [point.n_examples for point in solver.curve] == [100, 200, 300]
    assert [point.n_updates for point in solver.curve] == np.cumsum(accepted)[99::100].tolist()


def test_the_largest_norm_met_is_kept() -> None:
    X, triplets = noise(5, 300)
    solver, _ = run_real(X, triplets, Settings("as-sgd"))
    largest = max(np.linalg.norm(outer(X, triplet)) for triplet in triplets)
    assert solver.facts["largest_norm"] == pytest.approx(largest)
