"""Hard but sound input gives a metric; what is wrong is refused at the entry (test_checks)."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from calipers import GMML, ITML, LMNN, NCA, Euclidean, TripletSGD
from calipers.arrays import FloatArray
from calipers.notices import DataWarning

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

_FEW: dict[str, Any] = {"n_triplets": 30, "n_neighbors": 1, "random_state": 0}
LEARNERS: dict[str, Any] = {
    "TripletSGD": TripletSGD(**_FEW, batch_size=3),
    "ITML": ITML(**_FEW),
    "LMNN": LMNN(n_neighbors=1, max_iter=20),
    "NCA": NCA(max_iter=5, random_state=0),
    "GMML": GMML(),
}


def samples(n: int = 12, d: int = 3) -> FloatArray:
    return np.random.default_rng(0).standard_normal((n, d))


def labels(n: int = 12) -> Any:
    return np.random.default_rng(1).permutation(np.arange(n) % 2)


def with_constant(X: FloatArray) -> FloatArray:
    return np.column_stack([np.ones(len(X)), X])


X, Y = samples(), labels()
OUTLIER = np.where(np.arange(36).reshape(12, 3) == 7, 1e9, X)
HARD: dict[str, tuple[Any, Any]] = {
    "plain": (X, Y),
    "tiny": (1e-70 * X, Y),
    "huge": (1e70 * X, Y),
    "far from the origin": (X + 1e6, Y),
    "one large value": (OUTLIER, Y),
    "a subnormal value": (np.where(OUTLIER == 1e9, 5e-324, X), Y),
    "collinear": (np.outer(X[:, 0], [1.0, 2.0, 3.0]), Y),
    "a constant feature": (with_constant(X), Y),
    "whole numbers": (np.round(2 * X), Y),
    "every sample twice, labels at odds": (np.repeat(X[:6], 2, axis=0), np.arange(12) % 2),
    "more features than samples": (samples(5, 40), [0, 1, 0, 1, 1]),
    "one feature": (X[:, :1], Y),
    "three samples": (X[:3], [0, 0, 1]),
    "many classes": (samples(400), np.arange(400) // 2),
    "a singleton": (X, np.where(np.arange(12) == 3, 7, Y)),
    "float32": (X.astype(np.float32), Y),
    "Fortran order": (np.asfortranarray(X), Y),
    "negative strides": (X[::-1, ::-1], Y),
    "objects": (X.astype(object), Y),
    "a nullable frame": (pd.DataFrame(X, columns=[*"abc"]).astype("Float64"), Y),
    "masked nowhere": (np.ma.MaskedArray(X, mask=False), Y),
    "boolean labels": (X, Y.astype(bool)),
    "categories": (X, pd.Categorical(np.array(["a", "b"])[Y])),
    "nullable labels": (X, pd.Series(Y, dtype="Int64")),
    "fractions as labels": (X, Y + 0.5),
}


def check_metric(learner: Any, given: Any) -> None:
    """A fitted learner is a metric: finite, symmetric, positive, and used so."""
    rows: Any = np.asarray(given, dtype=float)
    L, M = learner.components_, learner.get_mahalanobis_matrix()
    assert np.isfinite(L).all()
    assert np.isfinite(M).all()
    np.testing.assert_array_equal(M, M.T)
    unit = float(np.abs(M).max()) or 1.0  # its square may not be a number
    assert float(np.linalg.eigvalsh(M / unit)[0]) >= -1e-10 * len(M)
    assert np.isfinite(learner.transform(given)).all()
    pairs = np.stack([rows, rows[::-1]], axis=1)
    distances = learner.pair_distance(pairs)
    assert np.isfinite(distances).all()
    np.testing.assert_array_equal(distances, learner.pair_distance(pairs[:, ::-1]))
    assert not learner.pair_distance(np.stack([rows, rows], axis=1)).any()


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("case", HARD)
def test_hard_but_sound_input_gives_a_metric(case: str, name: str) -> None:
    given_X, given_y = HARD[case]
    before = np.array(given_X, dtype=object), np.array(given_y, dtype=object)
    learner = clone(LEARNERS[name])
    if name == "ITML" and case == "every sample twice, labels at odds":
        learner.set_params(near_distance=1.0, far_distance=2.0)  # few distances leave no limits
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        learner.fit(given_X, given_y)
    check_metric(learner, given_X)
    for value, kept in zip((given_X, given_y), before, strict=True):
        np.testing.assert_array_equal(np.array(value, dtype=object), kept)


@pytest.mark.parametrize("mode", ["r", "c"])
def test_samples_on_a_disk(tmp_path: Path, mode: Any) -> None:
    X.tofile(tmp_path / "rows")
    mapped = np.memmap(tmp_path / "rows", dtype=X.dtype, mode=mode, shape=X.shape)
    before = (tmp_path / "rows").read_bytes()
    for name, learner in LEARNERS.items():
        expected = clone(learner).fit(X, Y).components_
        fitted = clone(learner).fit(mapped, Y)
        np.testing.assert_array_equal(fitted.components_, expected, err_msg=name)
    assert (tmp_path / "rows").read_bytes() == before


@pytest.mark.parametrize("unit", [1e-170, 1.0, 1e160])
def test_distances_neither_overflow_nor_vanish(unit: float) -> None:
    learner = Euclidean().fit(np.eye(2))
    pairs = unit * np.array([[[3.0, 0.0], [0.0, 4.0]], [[1.0, 1.0], [1.0, 1.0]]])
    np.testing.assert_allclose(learner.pair_distance(pairs), [5.0 * unit, 0.0], rtol=1e-15)
    metric = learner.get_metric()
    np.testing.assert_allclose([metric(*pair) for pair in pairs], [5.0 * unit, 0.0], rtol=1e-15)
