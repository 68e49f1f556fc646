"""Negative eigenpairs: against a full eigendecomposition, also where it is difficult."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calipers.arrays import FloatArray
from calipers.kernels import spectrum

SIZES = [2, 5, 42, 96, 97, 130]


def rotation(d: int, seed: int = 0) -> FloatArray:
    return np.asarray(np.linalg.qr(np.random.default_rng(seed).standard_normal((d, d)))[0])


def with_spectrum(values: FloatArray, seed: int = 0) -> FloatArray:
    Q = rotation(len(values), seed)
    M = (Q * values) @ Q.T
    return np.asarray((M + M.T) / 2)


def lanczos(M: FloatArray, start: FloatArray, room: int) -> tuple[int, FloatArray, FloatArray]:
    values, vectors = np.empty(room), np.empty((room, len(M)))
    norm, basis = float(np.linalg.norm(M)), np.empty((spectrum.MAX_STEPS + 1, len(M)))
    found = spectrum.lanczos_negative(M, start, norm, values, vectors, basis)
    kept = max(found, 0)
    return found, values[:kept], vectors[:kept]


def assert_negative_pairs(M: FloatArray, values: FloatArray, vectors: FloatArray) -> None:
    norm = float(np.linalg.norm(M))
    np.testing.assert_allclose(vectors @ vectors.T, np.eye(len(values)), atol=1e-9)
    np.testing.assert_allclose(M @ vectors.T, vectors.T * values, atol=1e-11 * norm)
    every = np.linalg.eigvalsh(M)
    np.testing.assert_allclose(values, every[every < -1e-13 * norm], atol=1e-12 * norm)


SPECTRA: dict[str, Callable[[int], Any]] = {
    "well apart": lambda d: np.linspace(0.1, 2.0, d),
    "one cluster": lambda d: 1.0 + 1e-9 * np.arange(d),
    "all equal": np.ones,
    "half zero": lambda d: np.where(np.arange(d) < d // 2, 0.0, 1.0),
    "all but one zero": lambda d: (np.arange(d) == d - 1).astype(float),
    "all zero": np.zeros,
    "over 16 decades": lambda d: np.logspace(-16, 0, d),
}


@pytest.mark.parametrize("d", SIZES)
@pytest.mark.parametrize("kind", SPECTRA)
@pytest.mark.parametrize("length", [1e-8, 0.3, 30.0])
def test_one_subtracted_direction(d: int, kind: str, length: float) -> None:
    """From a psd matrix: one eigenvalue at most, found or given up, never wrong."""
    base = with_spectrum(SPECTRA[kind](d))
    v = length * np.random.default_rng(d).standard_normal(d)
    M = base - np.outer(v, v)
    found, values, vectors = lanczos(M, v, room=1)
    if found != spectrum.FAILED:
        assert_negative_pairs(M, values, vectors)


@pytest.mark.parametrize("d", SIZES)
def test_lanczos_does_not_give_up_where_it_is_easy(d: int) -> None:
    v = np.random.default_rng(0).standard_normal(d)
    v *= 2.0 / np.linalg.norm(v)
    found, values, vectors = lanczos(np.eye(d) - np.outer(v, v), v, room=1)
    assert found == 1
    assert values[0] == pytest.approx(-3.0)
    assert abs(vectors[0] @ v) == pytest.approx(2.0)


@pytest.mark.parametrize("d", [1, 2, 5, 42, 96])
@pytest.mark.parametrize("kind", SPECTRA)
@pytest.mark.parametrize("length", [1e-8, 0.3, 30.0])
def test_one_negative_is_right_or_gives_up(d: int, kind: str, length: float) -> None:
    v = length * np.random.default_rng(d).standard_normal(d)
    M = with_spectrum(SPECTRA[kind](d)) - np.outer(v, v)
    norm, values, vectors = float(np.linalg.norm(M)), np.empty(1), np.empty((1, d))
    before = M.copy()
    found = spectrum.one_negative(M, v, norm, values, vectors, np.empty((d, d)))
    np.testing.assert_array_equal(M, before)
    if found != spectrum.FAILED:
        assert_negative_pairs(M, values[:found], vectors[:found])


@pytest.mark.parametrize("d", [2, 7, 42])
def test_one_negative_does_not_give_up_where_it_is_easy(d: int) -> None:
    v = np.random.default_rng(0).standard_normal(d)
    for length, expected in ((2.0, 1), (0.5, 0)):
        w = v * length / np.linalg.norm(v)
        M, values, vectors = np.eye(d) - np.outer(w, w), np.empty(1), np.empty((1, d))
        found = spectrum.one_negative(
            M, w, float(np.linalg.norm(M)), values, vectors, np.empty((d, d))
        )
        assert found == expected


@pytest.mark.parametrize("d", [42, 130])
@pytest.mark.parametrize("n_negative", [2, 5, 10])
def test_many_subtracted_directions(d: int, n_negative: int) -> None:
    rng = np.random.default_rng(n_negative)
    directions = rng.standard_normal((n_negative, d))
    M = with_spectrum(np.linspace(0.1, 2.0, d)) - directions.T @ directions
    found, values, vectors = lanczos(M, directions.sum(axis=0), room=n_negative)
    assert found == n_negative
    assert_negative_pairs(M, values, vectors)


@pytest.mark.parametrize("d", [12, 42, 130])
@pytest.mark.parametrize("gap", [0.3, 1e-2, 1e-3, 1e-5, 1e-8])
def test_clustered_negative_eigenvalues_are_told_apart(d: int, gap: float) -> None:
    """Near each other, each is found once, or it is left to others."""
    values = np.linspace(0.5, 1.0, d)
    values[:4] = -1.0 - gap * np.arange(4)
    for seed in range(10):
        M = with_spectrum(values, seed)
        start = np.random.default_rng(seed).standard_normal(d)
        found, found_values, vectors = lanczos(M, start, room=4)
        assert found <= 4
        if gap >= 1e-3:
            assert found == 4
        if found == spectrum.FAILED:
            continue
        np.testing.assert_allclose(vectors @ vectors.T, np.eye(found), atol=1e-9)
        np.testing.assert_allclose(M @ vectors.T, vectors.T * found_values, atol=1e-10)


def test_an_invariant_space_is_exhausted_and_hides_the_rest() -> None:
    """What cannot be seen from the start is not reported: the caller has to look."""
    M = np.diag([-1.0, 2.0, -3.0, 4.0])
    found, values, vectors = lanczos(M, np.array([1.0, 1.0, 0.0, 0.0]), room=2)
    assert found == 1
    np.testing.assert_allclose(values, [-1.0])
    np.testing.assert_allclose(np.abs(vectors), [[1.0, 0.0, 0.0, 0.0]], atol=1e-14)


def test_a_multiple_negative_eigenvalue_shows_once() -> None:
    found, values, _ = lanczos(np.diag([-1.0, -1.0, 2.0]), np.ones(3), room=2)
    assert found == 1
    np.testing.assert_allclose(values, [-1.0])


def test_more_negative_values_than_room_is_a_failure() -> None:
    M = with_spectrum(np.concatenate([-np.arange(1.0, 6.0), np.ones(15)]))
    assert lanczos(M, np.ones(20), room=2)[0] == spectrum.FAILED


def test_no_direction_finds_nothing() -> None:
    assert lanczos(-np.eye(4), np.zeros(4), room=1)[0] == 0


@pytest.mark.parametrize("d", SIZES)
def test_a_positive_matrix_has_none(d: int) -> None:
    found, _, _ = lanczos(with_spectrum(np.linspace(0.5, 2.0, d)), np.ones(d), room=1)
    assert found in (0, spectrum.FAILED)


@given(st.integers(0, 2**32 - 1), st.integers(1, 20), st.integers(1, 3))
def test_lanczos_is_right_or_gives_up(seed: int, d: int, n_steps: int) -> None:
    rng = np.random.default_rng(seed)
    n_steps = min(n_steps, d)
    values = rng.choice([0.0, 1e-6, 0.5, 1.0], size=d)
    steps = rng.standard_normal((n_steps, d)) * 10.0 ** rng.integers(-4, 2)
    M = with_spectrum(values, seed) - steps.T @ steps
    norm = float(np.linalg.norm(M))
    found, values, vectors = lanczos(M, steps.sum(axis=0), room=n_steps)
    if found == spectrum.FAILED:
        return
    np.testing.assert_allclose(M @ vectors.T, vectors.T * values, atol=1e-11 * norm)
    np.testing.assert_allclose(vectors @ vectors.T, np.eye(found), atol=1e-7)
    if n_steps == 1:
        assert_negative_pairs(M, values, vectors)


@pytest.mark.parametrize("d", SIZES)
@pytest.mark.parametrize("n_negative", [0, 1, 2])
def test_all_negative_is_the_full_decomposition(d: int, n_negative: int) -> None:
    values = np.linspace(0.1, 2.0, d)
    values[:n_negative] *= -1.0
    M = with_spectrum(values)
    found_values, vectors = np.empty(2), np.empty((2, d))
    found = spectrum.all_negative(M, float(np.linalg.norm(M)), found_values, vectors)
    assert found == n_negative
    assert_negative_pairs(M, found_values[:found], vectors[:found])


def test_all_negative_takes_the_lowest_where_there_is_no_room() -> None:
    values, vectors = np.empty(1), np.empty((1, 3))
    assert spectrum.all_negative(np.diag([-1.0, 2.0, -3.0]), 4.0, values, vectors) == 1
    np.testing.assert_allclose(values, [-3.0])
