"""Bad input for every learner, and what must come of it: a metric, or a sentence with the cause.

A case is made of independent choices (rows, unit, flaw, layout, labels), so that hypothesis
can draw and shrink it and a table can name it. It carries the faults that were put in: those
that must be refused, and those that may be.
"""

from __future__ import annotations

import pickle
import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from calipers import (
    GMML,
    ITML,
    KISSME,
    LEGO,
    LFDA,
    LMNN,
    MCML,
    MMC,
    NCA,
    OASIS,
    RCA,
    SCML,
    SPML,
    Discriminant,
    Euclidean,
    MetricCV,
    Scaled,
    TripletSGD,
    WithinClass,
    recipes,
)
from calipers.arrays import FloatArray
from calipers.notices import DataWarning

N_TRIPLETS = 30
_TINY: dict[str, Any] = {"n_triplets": N_TRIPLETS, "n_neighbors": 1, "random_state": 0}
_SGD: dict[str, Any] = {**_TINY, "batch_size": 3, "init": "identity", "n_rounds": 1}
_ONE: dict[str, Any] = {**_SGD, "batch_size": 1}


def _mini(**choices: Any) -> TripletSGD:
    return TripletSGD(recipes.mini_sgd(**choices), **_SGD)


LEARNERS: dict[str, Any] = {
    **{method: TripletSGD(method, **_SGD) for method in ("mini-sgd", "hr-sgd", "ha-sgd")},
    **{method: TripletSGD(method, **_ONE) for method in ("sgd", "as-sgd")},
    "default": TripletSGD(**_TINY, batch_size=3),
    "in rounds": TripletSGD("as-sgd", **{**_ONE, "n_rounds": 3}),
    "scaled": TripletSGD("mini-sgd", **{**_SGD, "init": "scaled"}),
    "from within-class": TripletSGD("mini-sgd", **{**_SGD, "init": "within-class"}),
    "in a small ball": _mini(average=False).set_params(radius=4.0),
    "of fewer components": TripletSGD("as-sgd", **_ONE, n_components=1),
    "running bound": TripletSGD(recipes.ha_sgd(norm_bound="running"), **_SGD),
    "projected now and then": _mini(projection=4),
    "projected once": _mini(projection="end"),
    "never projected": _mini(projection="frank-wolfe"),
    "SPML": SPML(**_TINY, batch_size=3),
    "SCML": SCML(**_TINY, batch_size=3, n_basis=5),
    "OASIS": OASIS(**_TINY),
    "LEGO": LEGO(**_TINY),
    "ITML": ITML(**_TINY),
    "LMNN": LMNN(n_neighbors=1, max_iter=20),
    "MMC": MMC(max_iter=20),
    "MCML": MCML(max_iter=20),
    "NCA": NCA(max_iter=5, random_state=0),
    "Euclidean": Euclidean(),
    "Scaled": Scaled(),
    "WithinClass": WithinClass(),
    "Discriminant": Discriminant(),
    "LFDA": LFDA(),
    "RCA": RCA(),
    "KISSME": KISSME(),
    "GMML": GMML(),
    "MetricCV": MetricCV(
        [("euclidean", Euclidean()), ("sgd", TripletSGD("as-sgd", **_ONE))], cv=2, random_state=0
    ),
}
"""Every estimator, and TripletSGD with every method and rule, small enough for thousands."""

UNLABELED = ("Euclidean", "Scaled")  # labels are not looked at
STEPLESS = (
    *UNLABELED,
    "WithinClass",
    "Discriminant",
    "LFDA",
    "RCA",
    "KISSME",
    "GMML",
)  # magnitudes matter less to them

FAULTS: dict[str, str] = {
    "nan": r"contains? NaN",
    "infinity": r"contains infinity",
    "overflow": r"overflow float64",
    "extent": r"in one metric",
    "underflow": r"vanish in float64",
    "same rows": r"samples of X are the same",
    "one class": r"at least 2 classes",
    "no class repeats": r"a class with at least 2 samples",
    "few rows": r"n_neighbors=1 nearest samples|minimum of 2 is required",
    "sparse": r"needs a dense X",
    "masked": r"masked",
    "no number": r"could not convert|must be of numeric|[Cc]annot convert",
    "mixed labels": r"needs labels of one type",
    "limits": r"near_distance below far_distance",
    "radius": r"exceeds radius",
}
"""What may be wrong with a case, and the words by which a refusal must name it."""

HARD_ROWS = ("noise", "whole numbers", "collinear", "constant feature", "few distinct")
BAD_ROWS = ("same rows",)
HARD_UNITS = (1.0, 1e-74, 1e-30, 1e-5, 1e5, 1e30, 1e73)
BAD_UNITS = (1e-160, 1e-76, 1e76, 1e154)
HARD_FLAWS = ("none", "subnormal", "one large", "far away")
BAD_FLAWS = ("nan", "infinity", "-infinity")
HARD_LAYOUTS = (
    "C order",
    "Fortran order",
    "negative strides",
    "every other",
    "read-only",
    "list",
    "objects",
    "float32",
    "frame",
    "nullable frame",
    "masked nowhere",
)
BAD_LAYOUTS = ("frame with gaps", "masked array", "sparse with zeros")
HARD_LABELS = (
    "numbers",
    "texts",
    "objects",
    "booleans",
    "categories",
    "nullable numbers",
    "nullable texts",
    "singletons",
    "many classes",
    "fractions",
)
BAD_LABELS = (
    "own class each",
    "one class",
    "missing",
    "None among texts",
    "texts and numbers",
    "masked",
)


@dataclass(frozen=True)
class Case:
    """Input for ``fit``, and the faults that were put in."""

    X: Any
    y: Any
    must: frozenset[str] = frozenset()  # one of these is to be named
    may: frozenset[str] = frozenset()  # these are allowed as a cause, too


def make(
    rows: str = "noise",
    unit: float = 1.0,
    flaw: str = "none",
    layout: str = "C order",
    labels: str = "numbers",
    *,
    n: int = 12,
    d: int = 3,
    seed: int = 0,
) -> Case:
    """The case of these choices."""
    rng = np.random.default_rng(seed)
    dense = _flawed(_rows(rows, n, d, rng) * unit, flaw, rng)
    must, may = _faults_of(dense, layout)
    y, of_labels = _labels(labels, n, rng)
    X, of_layout = _laid_out(dense, layout)
    both = must | of_labels | of_layout
    return Case(X, y, frozenset(both), frozenset(may | both))


def _rows(kind: str, n: int, d: int, rng: np.random.Generator) -> FloatArray:
    X = rng.standard_normal((n, d))
    if kind == "whole numbers":
        return rng.integers(-2, 3, size=(n, d)).astype(float)
    if kind == "collinear":
        return np.outer(X[:, 0], np.arange(1.0, d + 1.0))
    if kind == "constant feature":
        X[:, 0] = 1.0
    if kind == "few distinct":
        return X[rng.integers(min(n, 3), size=n)]
    if kind == "same rows":
        return np.tile(X[:1], (n, 1))
    return X


def _flawed(X: FloatArray, flaw: str, rng: np.random.Generator) -> FloatArray:
    if flaw == "none":
        return X
    values = {
        "nan": np.nan,
        "infinity": np.inf,
        "-infinity": -np.inf,
        "subnormal": 5e-324,
        "one large": 1e9 * max(1.0, float(np.abs(X).max())),
    }
    if flaw == "far away":
        return X + 1e6 * float(np.abs(X).max())
    X[rng.integers(len(X)), rng.integers(X.shape[1])] = values[flaw]
    return X


def _faults_of(X: FloatArray, layout: str) -> tuple[set[str], set[str]]:
    """Faults of the numbers: those to be refused, and those that may be."""
    must: set[str] = set()
    may: set[str] = set()
    if np.isnan(X).any():
        must.add("nan")
    if np.isinf(X).any():
        must.add("infinity")
    if must:
        return must, may
    if layout == "float32":
        with np.errstate(over="ignore", under="ignore"):
            X = X.astype(np.float32).astype(float)
        if np.isinf(X).any():
            return {"infinity"}, may
    largest = float(np.abs(X).max())
    if largest > 1e75:
        must.add("overflow")
    elif 0.0 < largest < 1e-75:
        must.add("underflow")
    elif (X[0] == X).all():
        must.add("same rows")
    extent, gaps = float(np.ptp(X, axis=0).max()), np.diff(np.sort(X, axis=0), axis=0)
    smallest = float(gaps[gaps > 0.0].min(initial=np.inf))
    if smallest < 1e-74 or len(np.unique(X, axis=0)) < len(X):
        may.add("underflow")
    if extent > 1e36 * smallest:
        may |= {"extent", "underflow"}
    # equal distances leave no room between what is near and what is far
    return must, may | {"limits"} if len(np.unique(X, axis=0)) <= 3 else may


def _laid_out(X: FloatArray, layout: str) -> tuple[Any, set[str]]:
    n, d = X.shape
    if layout == "Fortran order":
        return np.asfortranarray(X), set()
    if layout == "negative strides":
        return X[::-1, ::-1].copy()[::-1, ::-1], set()
    if layout == "every other":
        wide = np.full((2 * n, 2 * d), np.nan)
        wide[::2, ::2] = X
        return wide[::2, ::2], set()
    if layout == "read-only":
        X.flags.writeable = False
        return X, set()
    if layout == "list":
        return X.tolist(), set()
    if layout == "objects":
        return X.astype(object), set()
    if layout == "float32":
        with np.errstate(over="ignore", under="ignore"):
            return X.astype(np.float32), set()
    if layout == "frame":
        return pd.DataFrame(X, columns=[f"f{i}" for i in range(d)]), set()
    if layout in ("nullable frame", "frame with gaps"):
        frame = pd.DataFrame(X, columns=[f"f{i}" for i in range(d)]).astype("Float64")
        if layout == "nullable frame":
            return frame, set()
        frame.iloc[0, 0] = pd.NA
        return frame, {"nan"}
    if layout in ("masked nowhere", "masked array"):
        mask = np.zeros(X.shape, dtype=bool)
        mask[0, 0] = layout == "masked array"
        return np.ma.MaskedArray(X, mask=mask), {"masked"} if mask.any() else set()
    if layout == "sparse with zeros":
        explicit = sparse.csr_array(np.ones_like(X))
        explicit.data[:] = np.where(np.arange(X.size) % 2, X.ravel(), 0.0)
        return explicit, {"sparse"}
    return X, set()


def _labels(kind: str, n: int, rng: np.random.Generator) -> tuple[Any, set[str]]:
    codes = rng.permutation(np.arange(n) % 2)
    names = np.array(["left", "right"])[codes]
    repeats = set() if n > 2 else {"no class repeats"}
    plain: dict[str, Callable[[], Any]] = {
        "numbers": lambda: codes,
        "texts": lambda: names,
        "objects": lambda: names.astype(object),
        "booleans": lambda: codes.astype(bool),
        "categories": lambda: pd.Categorical(names),
        "nullable numbers": lambda: pd.Series(codes, dtype="Int64"),
        "nullable texts": lambda: pd.Series(names, dtype="string"),
    }
    if kind in plain:
        return plain[kind](), repeats
    if kind == "singletons":
        singletons = np.where(np.arange(n) == 0, 7, codes)
        is_told = np.unique(singletons, return_counts=True)[1].max() == 1  # of 3 rows some repeat
        return singletons, {"no class repeats"} if is_told else set()
    if kind == "own class each":
        return np.arange(n), {"no class repeats"}
    if kind == "one class":
        return np.zeros(n), {"one class"}
    if kind == "missing":
        return np.where(np.arange(n) == 0, np.nan, codes), {"nan"}
    if kind == "masked":
        return np.ma.MaskedArray(codes, mask=np.arange(n) == 0), {"masked"}
    if kind == "many classes":
        return np.arange(n) // 2 if n > 3 else codes, repeats
    if kind == "fractions":
        return codes + 0.5, repeats
    mixed = names.astype(object)
    mixed[0] = None if kind == "None among texts" else 3
    return mixed, {"nan" if mixed[0] is None else "mixed labels"}


def _one_of(hard: tuple[Any, ...], bad: tuple[Any, ...], *, is_bad: bool) -> Any:
    return st.sampled_from(bad if is_bad else hard)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Any combination of choices of few rows; half of the cases have no fault that is meant."""
    bad = draw(st.sets(st.sampled_from(range(5)), max_size=2)) if draw(st.booleans()) else set()
    return make(
        draw(_one_of(HARD_ROWS, BAD_ROWS, is_bad=0 in bad)),
        draw(_one_of(HARD_UNITS, BAD_UNITS, is_bad=1 in bad)),
        draw(_one_of(HARD_FLAWS, BAD_FLAWS, is_bad=2 in bad)),
        draw(_one_of(HARD_LAYOUTS, BAD_LAYOUTS, is_bad=3 in bad)),
        draw(_one_of(HARD_LABELS, BAD_LABELS, is_bad=4 in bad)),
        n=draw(st.integers(2, 16)),
        d=draw(st.integers(1, 12)),
        seed=draw(st.integers(0, 2**16)),
    )


def check(name: str, case: Case) -> str:
    """Fit, and hold what comes of it against the rules; returns "refused" or "fitted"."""
    before = _bits(case.X), _bits(case.y)
    learner = clone(LEARNERS[name])
    must, may = _for_learner(name, case)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        try:
            learner.fit(case.X, case.y)
        except (ValueError, TypeError) as refusal:
            _check_refusal(str(refusal), may)
            return "refused"
        finally:
            assert (_bits(case.X), _bits(case.y)) == before, "the input was written to"
    assert not must, f"fitted in spite of {sorted(must)}"
    check_metric(learner, case.X)
    return "fitted"


def _for_learner(name: str, case: Case) -> tuple[set[str], set[str]]:
    """The faults that count for a learner."""
    magnitude = {"overflow", "underflow", "extent", "same rows"}
    if name in UNLABELED:
        of_rows = faults_of_rows(case) & {"nan", "infinity", "sparse", "masked"}
        return of_rows, of_rows | magnitude
    must = case.must - magnitude if name in STEPLESS else case.must
    return set(must), set(case.may)


def faults_of_rows(case: Case) -> set[str]:
    """The faults of X alone."""
    if sparse.issparse(case.X):
        return {"sparse", "nan", "infinity"}
    if isinstance(case.X, np.ma.MaskedArray) and case.X.mask.any():
        return {"masked", "nan", "infinity"}
    rows = pd.DataFrame(case.X).astype(float).to_numpy()
    return ({"nan"} if np.isnan(rows).any() else set()) | (
        {"infinity"} if np.isinf(rows).any() else set()
    )


def _check_refusal(sentence: str, may: set[str]) -> None:
    assert any(re.search(FAULTS[fault], sentence) for fault in may), (
        f"{sentence!r} names none of {sorted(may)}"
    )


def check_metric(learner: Any, X: Any) -> None:
    """A fitted learner is a metric: finite, symmetric, positive, within its ball, and used so."""
    rows: npt.NDArray[Any] = np.asarray(X, dtype=float)
    L, M = learner.components_, learner.get_mahalanobis_matrix()
    assert np.isfinite(L).all()
    assert np.isfinite(M).all()
    np.testing.assert_array_equal(M, M.T)
    unit = float(np.abs(M).max()) or 1.0  # its square may not be a number
    size = unit * float(np.linalg.norm(M / unit))
    assert float(np.linalg.eigvalsh(M)[0]) >= -1e-10 * size
    facts = getattr(learner, "_last_round_", None)
    if facts is not None and (learner.init_, learner.n_rounds_) == ("identity", 1):
        projection = recipes.recipe_of(learner.method).projection
        extent = float(np.trace(M)) if projection == "frank-wolfe" else size
        outside = max(0, M.shape[0] - len(rows)) * facts["init_scale"]
        assert extent <= (facts["radius"] + outside) * (1 + 1e-9)  # the ball is that of the span
    images = learner.transform(X)
    assert images.shape == (len(rows), len(L))
    assert np.isfinite(images).all()
    pairs = np.stack([rows, rows[::-1]], axis=1)
    distances = learner.pair_distance(pairs)
    assert np.isfinite(distances).all()
    np.testing.assert_array_equal(distances, learner.pair_distance(pairs[:, ::-1]))
    assert not learner.pair_distance(np.stack([rows, rows], axis=1)).any()
    third = np.roll(rows, 1, axis=0)
    detour = sum(learner.pair_distance(np.stack([a, third], axis=1)) for a in (rows, rows[::-1]))
    rounding = 1e-14 * float(np.abs(L).max()) * float(np.abs(rows).max()) * rows.shape[1]
    assert (distances <= detour * (1 + 1e-9) + rounding).all()


def _bits(value: Any) -> bytes:
    """What a value holds; a frame's pickle also tells how it was looked at."""
    if isinstance(value, np.ma.MaskedArray):
        return value.data.tobytes() + value.mask.tobytes()
    plain = hasattr(value, "iloc") or isinstance(value, pd.Categorical)
    return pickle.dumps(np.asarray(value).tolist() if plain else value)
