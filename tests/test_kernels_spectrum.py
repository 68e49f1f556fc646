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
from calipers.kernels.lanczos import Goal, Product, lowest_pairs

SIZES = [2, 5, 42, 96, 97, 130]


def rotation(d: int, seed: int = 0) -> FloatArray:
    return np.asarray(np.linalg.qr(np.random.default_rng(seed).standard_normal((d, d)))[0])


def with_spectrum(values: FloatArray, seed: int = 0) -> FloatArray:
    Q = rotation(len(values), seed)
    M = (Q * values) @ Q.T
    return np.asarray((M + M.T) / 2)


def lanczos(
    M: FloatArray, start: FloatArray, room: int
) -> tuple[int, float, FloatArray, FloatArray]:
    """Pairs trusted, the lowest value that is not (0 if none), values and vectors."""
    values, vectors = np.empty(room), np.empty((room, len(M)))
    norm, basis = float(np.linalg.norm(M)), np.empty((spectrum.MAX_STEPS + 1, len(M)))
    below = -spectrum.TINY * norm
    goal = Goal(spectrum.RESIDUAL * norm, 0.0, spectrum.MAX_STEPS, spectrum.PATIENCE)
    found, rest = lowest_pairs(Product(M), start, below, goal, values, vectors, basis)
    return found, rest if rest < below else 0.0, values[:found], vectors[:found]


def inverted(
    M: FloatArray, start: FloatArray, room: int, about: float
) -> tuple[int, float, FloatArray, FloatArray]:
    """The same by inverses, with a guess of the lowest value."""
    d, norm = len(M), float(np.linalg.norm(M))
    values, vectors = np.empty(room), np.empty((room, d))
    basis, before = np.empty((spectrum.MAX_STEPS + 1, d)), M.copy()
    found, rest = spectrum.seen_inverted(
        M, start, norm, about, values, vectors, basis, np.empty((d, d))
    )
    np.testing.assert_array_equal(M, before)
    return found, rest, values[:found], vectors[:found]


def unshifted(
    M: FloatArray, start: FloatArray, room: int, removed: float
) -> tuple[int, int, float, FloatArray, FloatArray]:
    """The same by the inverse of M itself: before all else, how many pairs there are."""
    d, norm = len(M), float(np.linalg.norm(M))
    values, vectors = np.empty(room), np.empty((room, d))
    basis, before = np.empty((spectrum.MAX_STEPS + 1, d)), M.copy()
    most, found, rest = spectrum.seen_unshifted(
        M, start, norm, removed, values, vectors, basis, np.empty((d, d))
    )
    np.testing.assert_array_equal(M, before)
    return most, found, rest, values[:found], vectors[:found]


def reflected(M: FloatArray, room: int) -> tuple[int, bool, FloatArray, FloatArray]:
    """The same of M made tridiagonal; no start is needed."""
    d, norm = len(M), float(np.linalg.norm(M))
    values, vectors = np.empty(room), np.empty((room, d))
    basis, before = np.empty((spectrum.BASIS_ROWS, d)), M.copy()
    found, complete = spectrum.seen_reflected(M, norm, values, vectors, basis, np.empty((d, d)))
    np.testing.assert_array_equal(M, before)
    return found, complete, values[:found], vectors[:found]


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
    found, rest, values, vectors = lanczos(M, v, room=1)
    if found or kind == "all equal":
        assert_negative_pairs(M, values, vectors)
    assert found + (rest < 0.0) <= 1


@pytest.mark.parametrize("d", SIZES)
def test_lanczos_does_not_give_up_where_it_is_easy(d: int) -> None:
    v = np.random.default_rng(0).standard_normal(d)
    v *= 2.0 / np.linalg.norm(v)
    found, _, values, vectors = lanczos(np.eye(d) - np.outer(v, v), v, room=1)
    assert found == 1
    assert values[0] == pytest.approx(-3.0)
    assert abs(vectors[0] @ v) == pytest.approx(2.0)


@pytest.mark.parametrize("d", [1, *SIZES])
@pytest.mark.parametrize("kind", SPECTRA)
@pytest.mark.parametrize("length", [1e-8, 0.3, 30.0])
@pytest.mark.parametrize("guess", [0.01, 1.0, 50.0])
def test_inverses_are_right_or_give_up(d: int, kind: str, length: float, guess: float) -> None:
    v = length * np.random.default_rng(d).standard_normal(d)
    M = with_spectrum(SPECTRA[kind](d)) - np.outer(v, v)
    about = guess * min(np.linalg.eigvalsh(M)[0], -1e-12 * float(np.linalg.norm(M)))
    found, rest, values, vectors = inverted(M, v, 1, about)
    assert found + (rest < 0.0) <= 1
    if found:
        assert_negative_pairs(M, values, vectors)


@pytest.mark.parametrize("d", [2, 7, 42, 130])
@pytest.mark.parametrize("guess", [0.05, 0.9, 1.0, 3.0])
def test_inverses_do_not_give_up_where_it_is_easy(d: int, guess: float) -> None:
    v = np.random.default_rng(0).standard_normal(d)
    w = v * 2.0 / np.linalg.norm(v)
    found, rest, values, _ = inverted(np.eye(d) - np.outer(w, w), w, 1, -3.0 * guess)
    assert (found, rest) == (1, 0.0)
    np.testing.assert_allclose(values, [-3.0])


@pytest.mark.parametrize("d", [42, 130])
def test_inverses_find_what_is_crowded(d: int) -> None:
    """Small negative values beside small positive ones, over decades; in a few rounds."""
    spectra = np.concatenate([[-1e-2, -2e-3, -5e-4, -8e-5], np.logspace(-6, 0, d - 4)])
    M = with_spectrum(spectra)
    start = np.random.default_rng(0).standard_normal(d)
    rest, every = -1e-2, []
    for _ in range(4):
        found, rest, values, vectors = inverted(M, start, 4, rest)
        assert found
        M += (vectors.T * -values) @ vectors
        every += values.tolist()
        if rest == 0.0:
            break
    np.testing.assert_allclose(every, spectra[:4], atol=1e-13)


@pytest.mark.parametrize("d", [1, 2, 5, 42, 96])
@pytest.mark.parametrize("kind", SPECTRA)
@pytest.mark.parametrize("length", [1e-8, 0.3, 30.0])
def test_the_inverse_itself_is_right_or_gives_up(d: int, kind: str, length: float) -> None:
    v = length * np.random.default_rng(d).standard_normal(d)
    M = with_spectrum(SPECTRA[kind](d)) - np.outer(v, v)
    most, found, rest, values, vectors = unshifted(M, v, 1, float(v @ v))
    lowest, norm = np.linalg.eigvalsh(M)[0], float(np.linalg.norm(M))
    assert found + (rest < 0.0) <= most
    assert most == 1 or lowest > -1e-11 * norm
    if found:
        assert_negative_pairs(M, values, vectors)


@pytest.mark.parametrize("d", [12, 42, 96])
def test_the_inverse_itself_finds_all_where_none_is_much_nearer_to_zero(d: int) -> None:
    values = np.concatenate([[-0.7, -0.2, -0.05], np.linspace(0.05, 2.0, d - 3)])
    M, start = with_spectrum(values), np.random.default_rng(0).standard_normal(d)
    most, found, rest, lowest, vectors = unshifted(M, start, 5, 1.0)
    assert (most, found, rest) == (3, 3, 0.0)  # those nearest to zero come first
    assert_negative_pairs(M, lowest[::-1], vectors[::-1])


def test_pairs_are_not_sought_where_rounding_hides_their_number() -> None:
    M = np.array([[1e-12, 1.0], [1.0, 0.0]])
    assert unshifted(M, np.ones(2), 2, 1.0)[:3] == (2, 0, 0.0)


@pytest.mark.parametrize("d", [1, 2, 3, 5, 42, 96, 130])
@pytest.mark.parametrize("kind", SPECTRA)
@pytest.mark.parametrize("length", [1e-8, 0.3, 30.0])
def test_reflections_miss_nothing(d: int, kind: str, length: float) -> None:
    directions = length * np.random.default_rng(d).standard_normal((min(d, 7), d))
    M = with_spectrum(SPECTRA[kind](d)) - directions.T @ directions
    found, complete, values, vectors = reflected(M, room=d)
    assert complete
    assert found == np.count_nonzero(np.linalg.eigvalsh(M) < -1e-13 * np.linalg.norm(M))
    assert_negative_pairs(M, values, vectors)


@pytest.mark.parametrize("gap", [0.0, 1e-15, 1e-12, 1e-9, 1e-6])
def test_reflections_take_values_that_meet_one_after_another(gap: float) -> None:
    spectra = np.concatenate([[-1.0, -1.0 + gap, -1.0 + 3 * gap], np.linspace(0.1, 2.0, 40)])
    M, every, complete = with_spectrum(spectra), 0, False
    for _ in range(3):
        found, complete, values, vectors = reflected(M, room=43)
        np.testing.assert_allclose(vectors @ vectors.T, np.eye(found), atol=1e-9)
        M += (vectors.T * -values) @ vectors
        every += found
        if complete:
            break
    assert (every, complete) == (3, True)
    np.testing.assert_allclose(np.linalg.eigvalsh(M)[:4], [0.0, 0.0, 0.0, 0.1], atol=1e-9)


@pytest.mark.parametrize("scale", [1e-150, 1e150])
def test_reflections_do_not_depend_on_the_units_of_the_matrix(scale: float) -> None:
    spectra = np.concatenate([[-1e-2, -1e-6, -1e-10], np.logspace(-12, 0, 17)])
    M = scale * with_spectrum(spectra)
    norm, room = scale * float(np.linalg.norm(spectra)), (20, 20)
    values, vectors = np.empty(5), np.empty((5, 20))
    found, complete = spectrum.seen_reflected(
        M, norm, values, vectors, np.empty(room), np.empty(room)
    )
    assert (found, complete) == (3, True)
    np.testing.assert_allclose(values[:3] / scale, spectra[:3], atol=1e-15)


def test_reflections_find_no_more_than_there_is_room_for() -> None:
    found, _, values, _ = reflected(np.diag([-1.0, 2.0, -3.0]), room=1)
    assert (found, values.tolist()) == (1, [-3.0])


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_reflections_are_not_complete_where_a_number_is_missing(bad: float) -> None:
    assert reflected(np.diag([1.0, bad, 2.0]), room=3)[:2] == (0, False)


def test_a_matrix_that_no_shift_makes_positive_is_given_up() -> None:
    M = np.full((3, 3), np.nan)
    found, rest, _, _ = inverted(M, np.ones(3), 1, -1.0)
    assert (found, rest) == (0, 0.0)


@pytest.mark.parametrize("d", [42, 130])
@pytest.mark.parametrize("n_negative", [2, 5, 10])
def test_many_subtracted_directions(d: int, n_negative: int) -> None:
    rng = np.random.default_rng(n_negative)
    directions = rng.standard_normal((n_negative, d))
    M = with_spectrum(np.linspace(0.1, 2.0, d)) - directions.T @ directions
    found, rest, values, vectors = lanczos(M, directions.sum(axis=0), room=n_negative)
    assert (found, rest) == (n_negative, 0.0)
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
        found, rest, found_values, vectors = lanczos(M, start, room=4)
        assert found <= 4
        if gap >= 1e-3:
            assert (found, rest) == (4, 0.0)
        np.testing.assert_allclose(vectors @ vectors.T, np.eye(found), atol=1e-9)
        np.testing.assert_allclose(M @ vectors.T, vectors.T * found_values, atol=1e-10)


def test_an_invariant_space_is_exhausted_and_hides_the_rest() -> None:
    """What cannot be seen from the start is not reported: the caller has to look."""
    M = np.diag([-1.0, 2.0, -3.0, 4.0])
    found, rest, values, vectors = lanczos(M, np.array([1.0, 1.0, 0.0, 0.0]), room=2)
    assert (found, rest) == (1, 0.0)
    np.testing.assert_allclose(values, [-1.0])
    np.testing.assert_allclose(np.abs(vectors), [[1.0, 0.0, 0.0, 0.0]], atol=1e-14)


def test_a_multiple_negative_eigenvalue_shows_once() -> None:
    found, _, values, _ = lanczos(np.diag([-1.0, -1.0, 2.0]), np.ones(3), room=2)
    assert found == 1
    np.testing.assert_allclose(values, [-1.0])


def test_more_negative_values_than_room_are_left() -> None:
    M = with_spectrum(np.concatenate([-np.arange(1.0, 6.0), np.ones(15)]))
    found, rest, values, _ = lanczos(M, np.ones(20), room=2)
    assert found == 2
    np.testing.assert_allclose([*values, rest], [-5.0, -4.0, -3.0])


def test_no_direction_finds_nothing() -> None:
    assert lanczos(-np.eye(4), np.zeros(4), room=1)[0] == 0


@pytest.mark.parametrize("d", SIZES)
def test_a_positive_matrix_has_none(d: int) -> None:
    found, rest, _, _ = lanczos(with_spectrum(np.linspace(0.5, 2.0, d)), np.ones(d), room=1)
    assert (found, rest) == (0, 0.0)


@given(st.integers(0, 2**32 - 1), st.integers(1, 20), st.integers(1, 3))
def test_lanczos_is_right_or_gives_up(seed: int, d: int, n_steps: int) -> None:
    rng = np.random.default_rng(seed)
    n_steps = min(n_steps, d)
    values = rng.choice([0.0, 1e-6, 0.5, 1.0], size=d)
    steps = rng.standard_normal((n_steps, d)) * 10.0 ** rng.integers(-4, 2)
    M = with_spectrum(values, seed) - steps.T @ steps
    norm = float(np.linalg.norm(M))
    found, rest, values, vectors = lanczos(M, steps.sum(axis=0), room=n_steps)
    np.testing.assert_allclose(M @ vectors.T, vectors.T * values, atol=1e-11 * norm)
    np.testing.assert_allclose(vectors @ vectors.T, np.eye(found), atol=1e-7)
    if n_steps == 1 and rest == 0.0:
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
