"""LMNN's objective as it is defined, in a triple loop, and small problems to try it on."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.datasets import load_wine

from calipers.arrays import FloatArray, IndexArray
from calipers.estimators.lmnn import LMNN
from calipers.solvers.large_margin import LargeMargin


def data(n: int = 30, d: int = 4, seed: int = 0) -> tuple[FloatArray, IndexArray]:
    """Three classes that overlap."""
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % 3
    return rng.standard_normal((n, d)) + 0.7 * labels[:, None], labels


X, Y = data()
WINE, WINE_Y = load_wine(return_X_y=True)


def problem(rows: FloatArray = X, labels: IndexArray = Y, **settings: Any) -> LargeMargin:
    return LargeMargin(rows, labels, **{"n_neighbors": 3, "push_weight": 0.5, **settings})


def metrics(n: int, d: int = 4, seed: int = 0) -> list[FloatArray]:
    roots = np.random.default_rng(seed).standard_normal((n, d, d))
    return [root.T @ root for root in roots]


def fit(rows: FloatArray = X, labels: Any = Y, **settings: Any) -> LMNN:
    return LMNN(**settings).fit(rows, labels)


def by_definition(
    M: FloatArray, rows: FloatArray, labels: IndexArray, k: int = 3, mu: float = 0.5
) -> tuple[float, FloatArray, int]:
    """Objective, its derivative by M, and the violated triplets, in a triple loop."""
    n = len(rows)
    objective, G, n_active = 0.0, np.zeros_like(M), 0
    for i in range(n):
        same = [j for j in range(n) if labels[j] == labels[i] and j != i]
        same.sort(key=lambda j: (float(np.sum((rows[i] - rows[j]) ** 2)), j))
        for j in same[:k]:
            near = rows[i] - rows[j]
            objective += (1 - mu) * float(near @ M @ near)
            G += (1 - mu) * np.outer(near, near)
            for far in rows[labels != labels[i]]:
                difference = rows[i] - far
                hinge = 1 + float(near @ M @ near) - float(difference @ M @ difference)
                if hinge > 0:
                    objective += mu * hinge
                    G += mu * (np.outer(near, near) - np.outer(difference, difference))
                    n_active += 1
    return objective, G, n_active
