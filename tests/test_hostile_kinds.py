"""X and y of kinds that are no tables of numbers: a metric, or one sentence with the cause."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.exceptions import DataConversionWarning

from calipers import LMNN, TripletSGD, load
from hostile import check_metric

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

N = 24
X = np.random.default_rng(0).standard_normal((N, 3))
Y = np.arange(N) % 2
NAMES = np.array(["left", "right"])[Y]
TIMES = np.datetime64("2020-01-01") + Y
LEARNERS: dict[str, Any] = {
    "TripletSGD": TripletSGD(n_triplets=50, random_state=0),
    "LMNN": LMNN(n_neighbors=1, max_iter=5),
}

each_learner = pytest.mark.parametrize("name", LEARNERS)


def with_first(values: Any, first: Any) -> list[Any]:
    return [first, *list(values)[1:]]


def objects(values: list[Any]) -> Any:
    """An array that holds anything as it is."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


ROWS: dict[str, Any] = {
    "polars": pl.DataFrame(X, schema=["a", "b", "c"]),
    "long double": X.astype(np.longdouble),
    "half precision": X.astype(np.float16),
    "truth values": X > 0,
    "bytes": np.round(100 * X).astype(np.int8),
    "texts of numbers": [[repr(value) for value in row] for row in X.tolist()],
    "many-storied names": pd.DataFrame(X, columns=pd.MultiIndex.from_product([["a"], [1, 2, 3]])),
}
LABELS: dict[str, Any] = {
    "one-column frame": pd.DataFrame({"y": Y}),
    "polars": pl.Series(NAMES),
    "an index": pd.Index(Y),
    "moments": TIMES,
    "bytes": NAMES.astype("S"),
    "halves of characters": np.where(Y, "\ud800", "\udfff"),
    "empty text": np.where(Y, "", "x"),
    "large numbers": np.where(Y, np.uint64(2**64 - 1), np.uint64(2**63)),
    "larger numbers": [10**30 + int(y) for y in Y],
}


@each_learner
@pytest.mark.parametrize("kind", [*(f"X {k}" for k in ROWS), *(f"y {k}" for k in LABELS)])
def test_unusual_but_sound_kinds_give_a_metric_that_can_be_kept(
    kind: str, name: str, tmp_path: Path
) -> None:
    which, _, rest = kind.partition(" ")
    rows, labels = (ROWS[rest], Y) if which == "X" else (X, LABELS[rest])
    learner = clone(LEARNERS[name])
    if rest == "one-column frame":
        with pytest.warns(DataConversionWarning):
            learner.fit(rows, labels)
    else:
        learner.fit(rows, labels)
    if not hasattr(rows, "columns"):
        check_metric(learner, rows)
    learner.save(tmp_path / "metric")
    np.testing.assert_array_equal(load(tmp_path / "metric").components_, learner.components_)
    assert len(load(tmp_path / "metric").classes_) == 2


FRAME = pd.DataFrame(X, columns=list("abc"))
REFUSED: dict[str, tuple[Any, Any, str]] = {
    "no labels": (
        X,
        None,
        "{} requires y to be passed, but the target y is None: pass a label for each",
    ),
    "NaT": (X, with_first(TIMES, np.datetime64("NaT")), "Input y contains NaN"),
    "an array with NaT": (X, np.where(Y, TIMES, np.datetime64("NaT")), "missing label (12 of 24)"),
    "NA among texts": (X, pd.Series(with_first(NAMES, None), dtype="string"), "missing label (1"),
    "NA among objects": (X, np.array(with_first(NAMES, pd.NA), dtype=object), "missing label (1"),
    "NA among numbers": (
        X,
        pd.array(with_first(Y, None), dtype="Int64"),
        "missing label (1 of 24)",
    ),
    "gaps in categories": (X, pd.Series(with_first(NAMES, None), dtype="category"), "label (1 of"),
    "nulls of polars": (X, pl.Series(with_first(Y.tolist(), None)), "Input y contains NaN"),
    "nulls in polars": (pl.DataFrame({"a": with_first(X[:, 0], None)}), Y, "Input X contains NaN"),
    "complex X": (X + 1j, Y, "Complex data not supported: X is of complex128; pass real"),
    "complex y": (X, Y + 1j, "Complex data not supported"),
    "fields": (np.zeros(N, dtype=[("u", float), ("v", float)]), Y, "with fields 'u', 'v': pass"),
    "moments": (TIMES[:, None], Y, "X is of datetime64[D]: pass times as numbers"),
    "a column of moments": (FRAME.assign(when=TIMES), Y, "Column 'when' of X is of datetime64"),
    "moments of polars": (pl.DataFrame({"t": TIMES}), Y, "Column 't' of X is of Date"),
    "names twice": (FRAME.set_axis(["a", "b", "a"], axis=1), Y, "X has 2 columns named 'a': give"),
    "no columns": (FRAME[[]], Y, "X is a table without columns: at least one feature is needed."),
    "an empty table": (X[:, :0], Y, "0 feature(s) (shape=(24, 0)) while a minimum of 1 is"),
    "texts": ([["a", "b"]] * N, Y, "could not convert string to float: X has 'a' in the"),
    "a lazy table": (
        pl.LazyFrame(X),
        Y,
        "X is a LazyFrame, which is not in memory: pass X.collect().",
    ),
    "a file's name": ("table.csv", Y, "X is of type str: pass numbers of shape (n_samples, n_"),
    "a set": ({1, 2}, Y, "X is of type set: pass numbers of shape (n_samples, n_features), as an"),
    "vectors in one column": (pl.DataFrame({"a": X.tolist()}), Y, "in the column 'a': encode the"),
    "samples as objects": (objects(list(X)), Y, "X has its samples in one column: pass numpy.st"),
    "ragged": ([[1.0], [1.0, 2.0]] * (N // 2), Y, "X has samples of different lengths: give each"),
    "periods": (
        FRAME.assign(when=pd.period_range("2020", periods=N, freq="D")),
        Y,
        "X has Period('2020-01-01', 'D') in the column 'when': encode the table by",
    ),
    "intervals": (FRAME.assign(size=pd.cut(X[:, 0], 3)), Y, "in the column 'size': encode the"),
    "lazy labels": (X, pl.LazyFrame({"y": Y}), "y should be a 1d array of labels, got LazyFrame:"),
    "a generator of labels": (X, (y for y in Y), "labels, got generator: pass a list, an array"),
    "sparse labels": (X, csr_array(Y[:, None]), "labels, got csr_array: pass a list, an array"),
    "labels by name": (X, dict(enumerate(Y)), "labels, got dict: pass a list, an array or a col"),
    "labels of two levels": (X, pd.MultiIndex.from_arrays([Y, Y]), "made an array of labels (isna"),
    "numbers and texts": (X, [1, "1"] * (N // 2), "labels of one type, got labels of types int, s"),
    "both ends of float64": (np.where(X > 0, 1e308, -1e308), Y, "fourth powers overflow float64"),
    "beyond float64": (X.astype(np.longdouble) * np.longdouble("1e400"), Y, "X contains infinity"),
    "two columns of labels": (X, np.stack([Y, Y], axis=1), "y should be a 1d array, got an array"),
}


@each_learner
@pytest.mark.parametrize("kind", REFUSED)
def test_other_kinds_are_refused_with_the_cause(kind: str, name: str) -> None:
    rows, labels, told = REFUSED[kind]
    with pytest.raises((ValueError, TypeError)) as caught:
        clone(LEARNERS[name]).fit(rows, labels)
    assert told.format(name) in str(caught.value)


@each_learner
@pytest.mark.parametrize(
    "labels", [["a", "a\0", "b"], [b"a", b"a\0", b"b"], [2**53, 2**53 + 1, 0.5], [1, 1.5, 10**30]]
)
def test_a_list_of_labels_is_taken_as_it_is(labels: list[Any], name: str) -> None:
    """NumPy cuts zeros off texts, and rounds whole numbers beside others."""
    fitted = clone(LEARNERS[name]).fit(X, labels * (N // 3))
    assert fitted.classes_.tolist() == sorted(labels)


@pytest.mark.parametrize("kind", ["NA among texts", "NaT", "complex X", "names twice", "moments"])
def test_batches_are_looked_at_in_the_same_way(kind: str) -> None:
    rows, labels, told = REFUSED[kind]
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        TripletSGD().partial_fit(rows, labels)
    assert told in str(caught.value)


@pytest.mark.parametrize("kind", ["complex X", "names twice", "moments", "a column of moments"])
def test_rows_to_be_mapped_are_looked_at_in_the_same_way(kind: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        clone(LEARNERS["LMNN"]).fit(X, Y).transform(REFUSED[kind][0])
    assert REFUSED[kind][2] in str(caught.value)
