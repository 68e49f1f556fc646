"""The solver of a factor: its gradient by finite differences, and what does not matter to it."""

from __future__ import annotations

import numpy as np
from scipy.special import softmax
from scipy.stats import ortho_group

from calipers.arrays import FloatArray, IndexArray
from calipers.solvers.factored import STEP, FactoredSolver
from calipers.solvers.soft_neighbors import squared_distances

RNG = np.random.default_rng(0)
X, LABELS = RNG.standard_normal((60, 5)), np.arange(60) % 3
INIT = RNG.standard_normal((2, 5))


def examples(n: int = 6, size: int = 30) -> IndexArray:
    rows = [RNG.choice(60, size) for _ in range(n)]
    return np.array([np.concatenate([row, row]) for row in rows], dtype=np.intp)


EXAMPLES = examples()


def solver(init: FloatArray = INIT) -> FactoredSolver:
    return FactoredSolver(init, LABELS, n_examples=len(EXAMPLES))


def by_definition(L: FloatArray, example: IndexArray) -> float:
    indices = np.split(example, 2)[1]
    classes = LABELS[indices]
    losses = []
    for a in range(len(indices)):
        others = [r for r in range(len(indices)) if indices[r] != indices[a]]
        squared = [np.sum((L @ (X[indices[a]] - X[indices[r]])) ** 2) for r in others]
        same = [classes[r] == classes[a] for r in others]
        losses.append(1.0 - softmax(-np.array(squared))[same].sum())
    return float(np.mean(losses))


def test_the_first_step_is_along_the_gradient_of_the_definition() -> None:
    one = solver()
    indices = EXAMPLES[0][:30]
    Z = X[indices] @ INIT.T
    apart = squared_distances(Z, Z)
    typical = np.median(apart[LABELS[indices, None] != LABELS[indices]])
    L = INIT * np.sqrt(4.0 / typical)
    gradient = np.empty_like(L)
    for place in np.ndindex(L.shape):
        up, down = L.copy(), L.copy()
        up[place] += 1e-6
        down[place] -= 1e-6
        gradient[place] = (by_definition(up, EXAMPLES[0]) - by_definition(down, EXAMPLES[0])) / 2e-6
    one.advance(X, EXAMPLES[:1])
    rms = np.sqrt(np.mean(L**2)) / np.sqrt(np.mean(gradient**2))
    np.testing.assert_allclose(one.L, L - STEP * rms * gradient, rtol=1e-6, atol=1e-8)
    assert np.isclose(one.curve[-1].loss, by_definition(L, EXAMPLES[0]))


def test_rotation_scale_and_portions_do_not_matter() -> None:
    whole, parts, longer, turned = solver(), solver(), solver(7.0 * INIT), solver(INIT)
    Q = ortho_group.rvs(5, random_state=0)
    turned.L = INIT @ Q
    whole.advance(X, EXAMPLES)
    longer.advance(X, EXAMPLES)
    turned.advance(X @ Q, EXAMPLES)
    for example in EXAMPLES:
        parts.advance(X, example[None])
    np.testing.assert_array_equal(parts.L, whole.L)
    np.testing.assert_allclose(longer.L, whole.L, rtol=1e-9)
    np.testing.assert_allclose(turned.L, whole.L @ Q, rtol=1e-8, atol=1e-10)
    assert whole.n_updates == whole.n_iterations == 6
    np.testing.assert_allclose(whole.metric, whole.L.T @ whole.L)
