"""The one loop against the plain algorithms, and the properties of a walk."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ortho_group

from calipers import solver as solver_module
from calipers.arrays import FloatArray, IndexArray
from calipers.sampling import gradient_norm
from calipers.solver import Solver
from calipers.threads import single_threaded_blas
from plain import loss_slope, outer, project
from walks import (
    METHODS,
    Settings,
    assert_same_matrix,
    assert_same_walk,
    noise,
    walk_plain,
    walk_real,
)

SIZES = [2, 5, 16, 42, 100, 130]  # the projection is another one from 97 on
N_TRIPLETS = {"sgd": 150, "as-sgd": 200}


def problem(method: str, d: int, scale: float = 1.0) -> tuple[FloatArray, IndexArray]:
    return noise(d, N_TRIPLETS.get(method, 805), scale=scale, seed=d)


# The same walk as the plain one


@pytest.mark.parametrize("d", SIZES)
@pytest.mark.parametrize("method", METHODS)
def test_any_size(method: str, d: int) -> None:
    X, triplets = problem(method, d)
    solver = assert_same_walk(X, triplets, Settings(method))
    assert solver.iterate.tally[0]["projections"] > 20


@pytest.mark.parametrize("d", SIZES)
@pytest.mark.parametrize("method", METHODS)
def test_the_ball_is_active(method: str, d: int) -> None:
    X, triplets = problem(method, d)
    radius = 1.01 * d**0.5
    settings = Settings(method, R=radius)
    solver = assert_same_walk(X, triplets, settings)
    free, _ = walk_real(X, triplets, replace(settings, R=1000.0))
    if d >= 16:
        assert np.linalg.norm(solver.average - free.average) > 1e-6
    assert np.linalg.norm(solver.last) <= radius * (1 + 1e-12)


VARIANTS = {
    "sum over the batch": Settings("", batch_sum=True, eta=0.2),
    "short steps": Settings("", eta=1e-3),
    "long steps": Settings("", eta=30.0, L=0.1),
    "steep loss": Settings("", L=20.0, eta=0.05),
    "lengthened at most twice": Settings("", tau_max=2.0),
    "shortened": Settings("", tau_max=0.5),
    "a small start": Settings("", start=1e-6),
    "a large start": Settings("", start=1e6, R=1e7),
    "a tiny ball": Settings("", start=1e-6, R=1e-5),
    "batches of three": Settings("", batch_size=3),
    "batches larger than d": Settings("", batch_size=16),
    "another seed": Settings("", seed=77),
}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("variant", VARIANTS)
def test_any_setting(variant: str, method: str) -> None:
    X, triplets = problem(method, 7)
    assert_same_walk(X, triplets, replace(VARIANTS[variant], method=method))


@pytest.mark.parametrize("d", [7, 100])
@pytest.mark.parametrize("W", [None, 0.0, 0.05, 0.5, 50.0])
def test_any_largest_norm(W: float | None, d: int) -> None:
    X, triplets = problem("ha-sgd", d)
    solver = assert_same_walk(X, triplets, Settings("ha-sgd", W=W))
    if W == 0.0:
        assert solver.n_updates == 0


@pytest.mark.parametrize("scale", [0.1, 3.0])
@pytest.mark.parametrize("d", [5, 42, 130])
def test_few_and_long_updates(d: int, scale: float) -> None:
    """Adaptive steps are of full length however far apart: nothing damps a mistake."""
    X, triplets = noise(d, 600, scale=scale, seed=3)
    assert_same_walk(X, triplets, Settings("as-sgd"))


@pytest.mark.parametrize("method", METHODS)
def test_separable_rows_and_long_gaps(method: str) -> None:
    """Where most triplets are satisfied: long spans without an update."""
    rng = np.random.default_rng(0)
    labels = rng.integers(3, size=60)
    X = rng.standard_normal((60, 8))
    X[:, 0] += 4.0 * labels
    anchor = rng.integers(60, size=3000)
    near = np.array([rng.choice(np.flatnonzero(labels == labels[a])) for a in anchor])
    far = np.array([rng.choice(np.flatnonzero(labels != labels[a])) for a in anchor])
    solver = assert_same_walk(X, np.column_stack([anchor, near, far]), Settings(method))
    if method == "as-sgd":
        assert solver.n_updates < 500


@pytest.mark.parametrize("method", METHODS)
def test_degenerate_triplets(method: str) -> None:
    """Only equal rows, then near or far rows that equal the anchor, then one column."""
    X = np.array([[0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [1.0, 2.0], [-1.0, 0.5]])
    kinds = np.array([[0, 1, 2], [0, 1, 3], [3, 4, 3], [0, 3, 1], [4, 0, 3]])
    for pick in ([0], [1], [3], [1, 3], [0, 1, 2, 3, 4]):
        triplets = np.resize(kinds[pick], (60, 3))
        assert_same_walk(X, triplets, Settings(method, eta=0.1, R=3.0))
        assert_same_walk(X[:, :1].copy(), triplets, Settings(method, eta=0.1, R=3.0))


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
    assert_same_walk(X, triplets, settings)


# From any matrix: the projection inside the loop


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


def set_iterate(solver: Solver, M: FloatArray) -> None:
    solver.iterate.M[:] = M
    solver.iterate.tally["norm"] = np.linalg.norm(M)
    solver.iterate.tally["floor"] = 0.0


@pytest.mark.parametrize("length", [1e-7, 1e-2, 1.0, 30.0])
@pytest.mark.parametrize("batch_size", [1, 4])
@pytest.mark.parametrize("d", [2, 5, 42, 100])
def test_one_step_from_any_metric(d: int, batch_size: int, length: float) -> None:
    """Clustered, multiple and zero eigenvalues, with steps along and across them."""
    rng = np.random.default_rng(d)
    for name, M in hard_metrics(d):
        X = length * rng.standard_normal((6, d)) / np.sqrt(d)
        X[0] = 0.0
        X[5] = length * np.linalg.eigh(M)[1][:, -1]
        triplets = np.array([[0, 5, 1], [0, 2, 5], [1, 3, 2], [3, 5, 4]])[:batch_size]
        solver = Settings("mini-sgd", batch_size=batch_size, L=0.1).solver(d)
        set_iterate(solver, M)
        solver.advance(X, triplets)
        A = [outer(X, triplet) for triplet in triplets]
        step = sum(loss_slope(float(np.sum(M * a)), 0.1) * a for a in A) / batch_size
        expected = project(M + step, 1000.0)
        size = np.linalg.norm(M) + np.linalg.norm(step)
        assert np.linalg.norm(solver.last - expected) <= 1e-10 * size, name
        assert np.linalg.eigvalsh(solver.last)[0] >= -1e-10 * size, name


def crowded(d: int) -> tuple[FloatArray, FloatArray]:
    """A metric and a direction whose lowest pair takes many steps to find."""
    return np.diag(np.linspace(0.0, 1.0, d) ** 2), np.full(d, 0.005)


def test_where_lanczos_gives_up_inverses_step_in() -> None:
    from calipers.kernels import spectrum

    d = 200
    M, v = crowded(d)
    changed = M - np.outer(v, v)
    norm = float(np.linalg.norm(changed))
    basis = np.empty((spectrum.MAX_STEPS + 1, d))
    found, _ = spectrum.seen_directly(changed, v, norm, np.empty(1), np.empty((1, d)), basis)
    assert found == 0
    solver = Settings("sgd", L=1e-9, eta=2.0).solver(d)
    set_iterate(solver, M)
    solver.advance(np.stack([v, np.zeros(d), v]), np.array([[0, 1, 2]]))
    assert_same_matrix(solver.last, project(changed, 1000.0), 1e-10)
    assert solver.iterate.tally[0]["projections"] == 1


@pytest.mark.parametrize("d", [3, 60, 110])
def test_where_nothing_is_seen_the_full_decomposition_steps_in(d: int) -> None:
    """Two equal eigenvalues become negative; the sum of the directions shows one of them."""
    M = np.eye(d)
    X = 2.0 * np.eye(d)[:3]
    X[2] = 0.0
    triplets = np.array([[2, 0, 2], [2, 1, 2]])
    solver = Settings("mini-sgd", batch_size=2, batch_sum=True, L=1e-12, eta=2.0).solver(d)
    set_iterate(solver, M)
    solver.advance(X, triplets)
    expected = np.eye(d)
    expected[0, 0] = expected[1, 1] = 0.0
    assert_same_matrix(solver.last, expected, 1e-10)
    assert solver.iterate.tally[0]["negatives"] == 2


@pytest.mark.parametrize("gap", [0.0, 1e-12, 1e-8, 1e-5, 1e-3, 0.01, 0.1])
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
    set_iterate(solver, M)
    solver.advance(X, triplets)
    assert_same_matrix(solver.last, project(M - near.T @ near, 1000.0), 1e-8)
    assert solver.iterate.tally[0]["negatives"] == 4


# What the solver promises beside


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("portion", [1, 7, 64])
def test_portions_change_nothing(method: str, portion: int) -> None:
    X, triplets = noise(16, 2000 if method == "as-sgd" else 1000, seed=5)
    settings = Settings(method, R=6.0)
    whole, accepted = walk_real(X, triplets, settings)
    parts, accepted_in_parts = walk_real(X, triplets, settings, portion=portion)
    np.testing.assert_array_equal(accepted, accepted_in_parts)
    assert_same_matrix(parts.average, whole.average, 1e-10)
    assert_same_matrix(parts.last, whole.last, 1e-10)
    assert parts.n_iterations == whole.n_iterations == len(accepted)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("d", [16, 120])
def test_any_number_of_threads_gives_the_same_bits(
    method: str, d: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # small pieces, so that there is something to spread
    monkeypatch.setattr(solver_module, "WORTH_A_THREAD", 1000)
    monkeypatch.setattr(solver_module, "CHUNK_WORK", 64 * d * d)
    X, triplets = noise(d, 1500, scale=0.3, seed=1)
    averages = []
    for n_threads in ("1", "2"):
        monkeypatch.setenv("CALIPERS_NUM_THREADS", n_threads)
        solver, accepted = walk_real(X, triplets, Settings(method, W=0.05))
        averages.append((solver.average, solver.last, accepted))
    for again in averages[1:]:
        for real, expected in zip(again, averages[0], strict=True):
            np.testing.assert_array_equal(real, expected)


@pytest.mark.parametrize("method", METHODS)
def test_threads_and_blocks_change_no_decision(
    method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, triplets = problem(method, 42)
    monkeypatch.setattr(solver_module, "WORTH_A_THREAD", 1000)
    monkeypatch.setattr(solver_module, "CHUNK_WORK", 64 * 42 * 42)
    monkeypatch.setattr(solver_module, "BLOCK_BYTES", 16 * 42 * 100)
    assert_same_walk(X, triplets, Settings(method))


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
    solver, accepted = walk_real(X, triplets, Settings("mini-sgd"))
    assert len(accepted) == solver.n_iterations == solver.n_updates == 10


def test_without_iterations_the_average_is_the_start() -> None:
    solver = Settings("sgd", start=0.25).solver(3)
    np.testing.assert_array_equal(solver.average, 0.25 * np.eye(3))
    np.testing.assert_array_equal(solver.last, 0.25 * np.eye(3))


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
    solver, accepted = walk_real(X, triplets, settings, portion=100)
    losses = walk_plain(X, triplets, settings).losses
    np.testing.assert_allclose(
        [point.loss for point in solver.curve], np.reshape(losses, (3, 100)).mean(axis=1)
    )
    assert [point.n_triplets for point in solver.curve] == [100, 200, 300]
    assert [point.n_updates for point in solver.curve] == np.cumsum(accepted)[99::100].tolist()


def test_the_largest_norm_met_is_kept() -> None:
    X, triplets = noise(5, 300)
    solver, _ = walk_real(X, triplets, Settings("as-sgd"))
    largest = max(np.linalg.norm(outer(X, triplet)) for triplet in triplets)
    assert solver.iterate.tally[0]["largest"] == pytest.approx(largest)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_rows_are_read_only_and_of_either_type(dtype: type) -> None:
    X, triplets = noise(5, 300)
    given: npt.NDArray[np.floating] = X.astype(dtype)
    before = given.copy(), triplets.copy()
    given.flags.writeable = triplets.flags.writeable = False
    settings = Settings("ha-sgd", batch_size=3)
    solver = settings.solver(5)
    solver.advance(given, triplets)  # type: ignore[arg-type]
    expected, _ = walk_real(given.astype(np.float64), triplets, settings)
    assert solver.n_updates > 10
    np.testing.assert_array_equal(solver.average, expected.average)
    np.testing.assert_array_equal(given, before[0])
    np.testing.assert_array_equal(triplets, before[1])


# Properties of the paper's algorithms


class Fixed:
    """Stands in for a generator whose next numbers are known."""

    def __init__(self, number: float) -> None:
        self.number = number

    def random(self, n: int) -> FloatArray:
        return np.full(n, self.number)

    def integers(self, _: int, size: int) -> IndexArray:
        return np.full(size, int(self.number), dtype=np.intp)


def one_step(settings: Settings, uniform: float, pick: int = 0) -> tuple[FloatArray, bool]:
    """The change made by one batch from the identity, away from cone and ball."""
    X, triplets = noise(4, settings.size, scale=0.5, seed=8)
    solver = settings.solver(4)
    solver.accept_rng = Fixed(uniform)  # type: ignore[assignment]
    solver.pick_rng = Fixed(pick)  # type: ignore[assignment]
    accepted = solver.advance(X, triplets)
    return solver.last - np.eye(4), bool(accepted[0])


def gradient(settings: Settings) -> tuple[FloatArray, FloatArray]:
    """Of the batch of `one_step` at the identity, and its slopes."""
    X, triplets = noise(4, settings.size, scale=0.5, seed=8)
    A = np.array([outer(X, triplet) for triplet in triplets])
    slopes = np.array([loss_slope(float(np.trace(a)), settings.L) for a in A])
    return -np.mean(slopes[:, None, None] * A, axis=0), slopes


@pytest.mark.parametrize("method", METHODS)
def test_steps_are_unbiased(method: str) -> None:
    """Averaged over the random numbers, a step is minus eta times the gradient."""
    settings = Settings(method, batch_size=3, eta=0.01, W=1.0)
    G, _ = gradient(settings)
    uniforms = (np.arange(200) + 0.5) / 200
    with single_threaded_blas():
        steps = [
            np.mean([one_step(settings, u, pick)[0] for u in uniforms], axis=0)
            for pick in range(settings.size)
        ]
    for step in steps:
        assert np.linalg.norm(step + 0.01 * G) <= 0.02 * 0.01 * np.linalg.norm(G)


def test_an_accepted_step_of_ha_is_eta_times_the_largest_norm_long() -> None:
    settings = Settings("ha-sgd", batch_size=3, eta=0.01, W=2.0)
    step, accepted = one_step(settings, 0.0)
    assert accepted
    assert np.linalg.norm(step) == pytest.approx(0.01 * 2.0)
    G, slopes = gradient(settings)
    X, triplets = noise(4, 3, scale=0.5, seed=8)
    far, near = X[triplets[:, 0]] - X[triplets[:, 2]], X[triplets[:, 0]] - X[triplets[:, 1]]
    chance = gradient_norm(far, near, slopes) / 2.0
    assert chance == pytest.approx(np.linalg.norm(G) / 2.0)
    assert one_step(settings, chance - 1e-12)[1]
    assert not one_step(settings, chance + 1e-12)[1]


@pytest.mark.parametrize("pick", range(3))
def test_an_accepted_step_of_hr_is_the_gradient_over_the_slope_drawn(pick: int) -> None:
    settings = Settings("hr-sgd", batch_size=3, eta=0.01)
    G, slopes = gradient(settings)
    step, accepted = one_step(settings, 0.0, pick)
    assert accepted
    np.testing.assert_allclose(step, -0.01 * G / slopes[pick], atol=1e-15)
    assert one_step(settings, slopes[pick] - 1e-12, pick)[1]
    assert not one_step(settings, slopes[pick] + 1e-12, pick)[1]


def test_an_accepted_step_of_as_is_of_full_length() -> None:
    X, triplets = noise(4, 1, scale=0.5, seed=8)
    step, accepted = one_step(Settings("as-sgd", eta=0.01), 0.0)
    assert accepted
    np.testing.assert_allclose(step, 0.01 * outer(X, triplets[0]), atol=1e-15)


@pytest.mark.parametrize("method", METHODS)
def test_rotating_the_rows_rotates_the_metric(method: str) -> None:
    X, triplets = noise(6, 500)
    Q = ortho_group.rvs(6, random_state=0)
    settings = Settings(method, R=4.0)
    plain, accepted = walk_real(X, triplets, settings)
    rotated, accepted_rotated = walk_real(X @ Q, triplets, settings)
    np.testing.assert_array_equal(accepted, accepted_rotated)
    assert_same_matrix(rotated.average, Q.T @ plain.average @ Q, 1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_shifting_the_rows_changes_nothing(method: str) -> None:
    X, triplets = noise(6, 500)
    settings = Settings(method, R=4.0)
    plain, accepted = walk_real(X, triplets, settings)
    shifted, accepted_shifted = walk_real(X + np.arange(6.0), triplets, settings)
    np.testing.assert_array_equal(accepted, accepted_shifted)
    assert_same_matrix(shifted.average, plain.average, 1e-9)


@pytest.mark.parametrize("s", [0.01, 3.0, 1e4])
@pytest.mark.parametrize("method", METHODS)
def test_the_learning_rate_is_tied_to_the_scale_of_the_rows(method: str, s: float) -> None:
    """Rows times s with eta / s^4, I / s^2 and R / s^2 give M / s^2."""
    X, triplets = noise(6, 500)
    settings = Settings(method, R=4.0)
    scaled_settings = replace(settings, eta=1 / s**4, start=1 / s**2, R=4.0 / s**2, W=s**2)
    plain, accepted = walk_real(X, triplets, settings)
    scaled, accepted_scaled = walk_real(s * X, triplets, scaled_settings)
    np.testing.assert_array_equal(accepted, accepted_scaled)
    assert_same_matrix(s**2 * scaled.average, plain.average, 1e-9)
