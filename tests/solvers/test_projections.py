"""The plain projection that compiled ones are compared with, by the properties that define it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import eigh

from calipers.arrays import FloatArray
from reference.plain import project

seeds = st.integers(0, 2**32 - 1)
sizes = st.integers(1, 8)
radii = st.floats(0.1, 10.0)


def onto_cone(M: FloatArray) -> FloatArray:
    return project(M, np.inf)


def symmetric(rng: np.random.Generator, d: int) -> FloatArray:
    """A random symmetric matrix, of a random signature and norm, at times rank deficient."""
    values = rng.standard_normal(d) * rng.choice([0.0, 0.1, 1.0, 10.0], size=d)
    Q = np.linalg.qr(rng.standard_normal((d, d)))[0]
    M = (Q * values) @ Q.T
    return np.asarray((M + M.T) / 2)


def in_set(rng: np.random.Generator, d: int, radius: float) -> FloatArray:
    """A random member of the set projected onto."""
    root = rng.standard_normal((d, int(rng.integers(1, d + 1))))
    S = root @ root.T
    return np.asarray(S * (radius * rng.random() / np.linalg.norm(S)))


@given(seeds, sizes, radii)
def test_lands_in_the_set_and_stays_there(seed: int, d: int, radius: float) -> None:
    M = symmetric(np.random.default_rng(seed), d)
    projected = project(M, radius)
    assert np.linalg.norm(projected) <= radius * (1 + 1e-12)
    assert eigh(projected, eigvals_only=True)[0] >= -1e-13 * radius
    np.testing.assert_allclose(projected, projected.T, atol=1e-14 * radius)
    np.testing.assert_allclose(project(projected, radius), projected, atol=1e-12 * radius)


@given(seeds, sizes, radii)
def test_angle_to_every_member_is_obtuse(seed: int, d: int, radius: float) -> None:
    rng = np.random.default_rng(seed)
    M, S = symmetric(rng, d), in_set(rng, d, radius)
    nearest = project(M, radius)
    assert np.sum((M - nearest) * (S - nearest)) <= 1e-9 * (1 + np.linalg.norm(M)) * radius


def dykstra(M: FloatArray, radius: float, n_rounds: int = 3000) -> FloatArray:
    """Nearest point of an intersection by alternating projections with corrections."""
    point, cone_correction, ball_correction = M, np.zeros_like(M), np.zeros_like(M)
    for n_done in range(n_rounds):
        on_cone = onto_cone(point + cone_correction)
        cone_correction = point + cone_correction - on_cone
        shifted = on_cone + ball_correction
        on_ball = shifted * min(1.0, radius / max(float(np.linalg.norm(shifted)), 1e-300))
        ball_correction = shifted - on_ball
        if np.linalg.norm(on_ball - point) <= 1e-15 * radius and n_done > 10:
            break
        point = on_ball
    return point


@pytest.mark.parametrize("seed", range(6))
def test_equals_dykstra(seed: int) -> None:
    rng = np.random.default_rng(seed)
    M, radius = symmetric(rng, 4), float(rng.uniform(0.3, 3.0))
    np.testing.assert_allclose(
        project(M, radius),
        dykstra(M, radius),
        atol=1e-9 * (1 + float(np.linalg.norm(M))),
    )


def test_the_order_matters() -> None:
    M, radius = np.diag([3.0, -4.0]), 1.0
    ball_first = onto_cone(M * (radius / np.linalg.norm(M)))
    assert np.linalg.norm(project(M, radius) - M) < np.linalg.norm(ball_first - M) - 0.1


@given(seeds, st.integers(2, 8), st.integers(1, 7))
def test_only_the_negative_eigenpairs_are_needed(seed: int, d: int, n_steps: int) -> None:
    rng = np.random.default_rng(seed)
    n_negative = min(n_steps, d - 1)
    root, steps = rng.standard_normal((d, d)), rng.standard_normal((d, n_negative))
    M = root @ root.T / d - steps @ steps.T
    values, vectors = eigh(M, subset_by_index=[0, n_negative - 1])
    negative = values < 0
    cut = M - (vectors[:, negative] * values[negative]) @ vectors[:, negative].T
    np.testing.assert_allclose(cut, onto_cone(M), atol=1e-11 * (1 + float(np.linalg.norm(M))))
