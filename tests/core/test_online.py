"""The kernels of OASIS, LEGO and ITML against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from calipers._core.compiled import Samples, Triplets, run_pairs
from calipers.solvers.parts import TowardsTarget

each_size = pytest.mark.parametrize(("n", "d"), [(1, 1), (3, 2), (7, 16), (20, 60), (64, 130)])


@each_size
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_rows_and_scores_of_triplets(n: int, d: int, dtype: type) -> None:
    rng = np.random.default_rng(0)
    X: npt.NDArray[Any] = rng.standard_normal((9, d)).astype(dtype)
    W = rng.standard_normal((d, d))
    triplets = rng.integers(9, size=(n, 3))
    block = Triplets(Samples(X), triplets)
    block.gather(0, n)
    P, Z = block.anchors, block.differences
    wide = X.astype(np.float64)
    np.testing.assert_array_equal(P, wide[triplets[:, 0]])
    np.testing.assert_array_equal(Z, wide[triplets[:, 1]] - wide[triplets[:, 2]])
    block.evaluate(W, 0, n)
    np.testing.assert_allclose(block.scores, np.sum((P @ W) * Z, axis=1), rtol=1e-12, atol=1e-11)


@each_size
def test_a_change_of_a_block_of_pairs(n: int, d: int) -> None:
    rng = np.random.default_rng(0)
    A, Z = np.eye(d), rng.standard_normal((n, d)) / np.sqrt(d)
    signs = rng.choice([-1, 1], size=n)
    expected = A.copy()
    step = TowardsTarget(near=0.5, far=2.0, learning_rate=1.0)
    for t, z in enumerate(Z):
        b = expected @ z
        c = step.coefficient(t, signs[t], float(b @ z), float(np.diag(expected).mean() * (z @ z)))
        expected -= (c or 0.0) * np.outer(b, b)
    _, moved = run_pairs(A, Z, signs, step)
    np.testing.assert_allclose(A, expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(A, A.T)
    assert n < 7 or moved.any()
