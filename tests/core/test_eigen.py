"""Negative eigenpairs: against a full eigendecomposition, also where it is difficult."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from calipers._core.compiled import _all_negative, _is_positive_definite, _lanczos
from calipers.arrays import FloatArray

SIZES = [2, 42, 97]


def rotation(d: int, seed: int = 0) -> FloatArray:
    return np.asarray(np.linalg.qr(np.random.default_rng(seed).standard_normal((d, d)))[0])


def with_spectrum(values: FloatArray, seed: int = 0) -> FloatArray:
    Q = rotation(len(values), seed)
    M = (Q * values) @ Q.T
    return np.asarray((M + M.T) / 2)


def assert_negative_pairs(M: FloatArray, values: FloatArray, vectors: FloatArray) -> None:
    norm = float(np.linalg.norm(M))
    np.testing.assert_allclose(vectors @ vectors.T, np.eye(len(values)), atol=1e-12)
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
@pytest.mark.parametrize("length", [1e-8, 3.0])
def test_one_subtracted_direction(d: int, kind: str, length: float) -> None:
    """From a psd matrix: one eigenvalue at most, found or given up, never wrong."""
    v = length * np.random.default_rng(d).standard_normal(d)
    M = with_spectrum(SPECTRA[kind](d)) - np.outer(v, v)
    values, vectors, rest = _lanczos(M, v, 1)
    if len(values) or kind == "all equal":
        assert_negative_pairs(M, values, vectors)
    assert len(values) + (rest < 0.0) <= 1


@pytest.mark.parametrize("d", SIZES)
def test_lanczos_does_not_give_up_where_it_is_easy(d: int) -> None:
    v = np.random.default_rng(0).standard_normal(d)
    v *= 2.0 / np.linalg.norm(v)
    values, vectors, _ = _lanczos(np.eye(d) - np.outer(v, v), v, 1)
    assert values == pytest.approx([-3.0])
    assert abs(vectors[0] @ v) == pytest.approx(2.0)


@pytest.mark.parametrize("d", [1, 2, 42, 97, 257])
@pytest.mark.parametrize("kind", SPECTRA)
@pytest.mark.parametrize("length", [1e-8, 3.0])
def test_all_negative_misses_nothing(d: int, kind: str, length: float) -> None:
    directions = length * np.random.default_rng(d).standard_normal((min(d, 7), d))
    M = with_spectrum(SPECTRA[kind](d)) - directions.T @ directions
    for most in (min(d, 7), d):
        values, vectors = _all_negative(M, most)
        assert_negative_pairs(M, values, vectors)


@pytest.mark.parametrize("tiny", [1e-160, 1e-100, 1e-20])
def test_entries_that_vanish_when_squared_do_no_harm(tiny: float) -> None:
    M = np.diag([-1.0, 1.0, -2.0, 3.0, 0.5]) + tiny
    values, vectors = _all_negative(M, 5)
    assert_negative_pairs(M, values, vectors)


@pytest.mark.parametrize("gap", [0.0, 1e-15, 1e-9])
@pytest.mark.parametrize("most", [3, 43])
def test_values_that_meet_are_told_apart(gap: float, most: int) -> None:
    spectrum = np.concatenate([[-1.0, -1.0 + gap, -1.0 + 3 * gap], np.linspace(0.1, 2.0, 40)])
    M = with_spectrum(spectrum)
    values, vectors = _all_negative(M, most)
    assert_negative_pairs(M, values, vectors)


@pytest.mark.parametrize(("d", "k", "seed"), [(200, 100, 25), (300, 25, 11), (300, 25, 59)])
def test_many_values_that_meet_are_told_apart(d: int, k: int, seed: int) -> None:
    """Of such a range dsyevr finds the pairs and says that it has failed."""
    rng = np.random.default_rng(seed)
    spectrum = np.linspace(0.1, 2.0, d)
    spectrum[:k] = -1.0 - 1e-15 * rng.random(k)
    Q = np.linalg.qr(rng.normal(size=(d, d)))[0]
    M = (Q * spectrum) @ Q.T
    values, vectors = _all_negative((M + M.T) / 2, k)
    assert_negative_pairs(M, values, vectors)


@pytest.mark.parametrize("scale", [1e-150, 1e150])
def test_pairs_do_not_depend_on_the_units_of_the_matrix(scale: float) -> None:
    spectrum = np.concatenate([[-1e-2, -1e-6, -1e-10], np.logspace(-12, 0, 17)])
    values, _ = _all_negative(scale * with_spectrum(spectrum), 5)
    np.testing.assert_allclose(values / scale, spectrum[:3], atol=1e-15)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_matrix_with_a_missing_number_is_refused(bad: float) -> None:
    with pytest.raises(ValueError, match="did not converge"):
        _all_negative(np.diag([1.0, bad, 2.0]), 3)


@pytest.mark.parametrize("d", [42, 130])
@pytest.mark.parametrize("n_negative", [2, 10])
def test_many_subtracted_directions(d: int, n_negative: int) -> None:
    rng = np.random.default_rng(n_negative)
    directions = rng.standard_normal((n_negative, d))
    M = with_spectrum(np.linspace(0.1, 2.0, d)) - directions.T @ directions
    values, vectors, rest = _lanczos(M, directions.sum(axis=0), n_negative)
    assert (len(values), rest) == (n_negative, 0.0)
    assert_negative_pairs(M, values, vectors)


@pytest.mark.parametrize("d", [12, 130])
@pytest.mark.parametrize("gap", [0.3, 1e-3, 1e-8])
def test_clustered_negative_eigenvalues_are_told_apart(d: int, gap: float) -> None:
    """Near each other, each is found once, or it is left to others."""
    spectrum = np.linspace(0.5, 1.0, d)
    spectrum[:4] = -1.0 - gap * np.arange(4)
    for seed in range(10):
        M = with_spectrum(spectrum, seed)
        values, vectors, rest = _lanczos(M, np.random.default_rng(seed).standard_normal(d), 4)
        if gap >= 1e-3:
            assert (len(values), rest) == (4, 0.0)
        np.testing.assert_allclose(vectors @ vectors.T, np.eye(len(values)), atol=1e-12)
        np.testing.assert_allclose(M @ vectors.T, vectors.T * values, atol=1e-10)


def test_an_invariant_space_is_exhausted_and_hides_the_rest() -> None:
    """What cannot be seen from the start is not reported: the caller has to look."""
    M = np.diag([-1.0, 2.0, -3.0, 4.0])
    values, vectors, rest = _lanczos(M, np.array([1.0, 1.0, 0.0, 0.0]), 2)
    assert rest == 0.0
    np.testing.assert_allclose(values, [-1.0])
    np.testing.assert_allclose(np.abs(vectors), [[1.0, 0.0, 0.0, 0.0]], atol=1e-14)


def test_a_multiple_negative_eigenvalue_shows_once() -> None:
    np.testing.assert_allclose(_lanczos(np.diag([-1.0, -1.0, 2.0]), np.ones(3), 2)[0], [-1.0])


def test_more_negative_values_than_memory_are_left() -> None:
    M = with_spectrum(np.concatenate([-np.arange(1.0, 6.0), np.ones(15)]))
    values, _, rest = _lanczos(M, np.ones(20), 2)
    np.testing.assert_allclose([*values, rest], [-5.0, -4.0, -3.0])


@pytest.mark.parametrize("d", SIZES)
def test_a_positive_matrix_has_none(d: int) -> None:
    M = with_spectrum(np.linspace(0.5, 2.0, d))
    values, _, rest = _lanczos(M, np.ones(d), 1)
    assert (len(values), rest) == (0, 0.0)
    assert _is_positive_definite(M)
    assert _is_positive_definite(M, -0.49)
    assert not _is_positive_definite(M, -0.51)


def test_what_is_not_a_number_is_not_positive() -> None:
    for d in (3, 130):
        assert not _is_positive_definite(np.full((d, d), np.nan))


@given(st.integers(0, 2**32 - 1), st.integers(1, 20), st.integers(1, 3))
def test_lanczos_is_right_or_gives_up(seed: int, d: int, n_steps: int) -> None:
    rng = np.random.default_rng(seed)
    n_steps = min(n_steps, d)
    steps = rng.standard_normal((n_steps, d)) * 10.0 ** rng.integers(-4, 2)
    M = with_spectrum(rng.choice([0.0, 1e-6, 0.5, 1.0], size=d), seed) - steps.T @ steps
    values, vectors, rest = _lanczos(M, steps.sum(axis=0), n_steps)
    norm = float(np.linalg.norm(M))
    np.testing.assert_allclose(M @ vectors.T, vectors.T * values, atol=1e-11 * norm)
    np.testing.assert_allclose(vectors @ vectors.T, np.eye(len(values)), atol=1e-7)
    if n_steps == 1 and rest == 0.0:
        assert_negative_pairs(M, values, vectors)
