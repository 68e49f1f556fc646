"""Samples without a label: any value may stand for none, and they are left out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from calipers import GMML, RCA
from learners import LEARNERS, little

X = np.random.default_rng(1).integers(0, 9, size=(40, 5)).astype(np.float64)
LABELS = np.arange(40) % 4
FROM_LABELS = [name for name in LEARNERS if name not in ("Euclidean", "Scaled")]


@pytest.mark.parametrize("name", FROM_LABELS)
@pytest.mark.parametrize("value", [-1, 1, 99])
def test_samples_without_a_label_are_left_out(name: str, value: int) -> None:
    labels = np.where(np.arange(len(X)) % 4 == 0, value, LABELS)
    kept = labels != value
    expected = little(name).fit(X[kept], labels[kept])
    fitted = little(name).fit(X, labels, unlabeled=value)
    np.testing.assert_array_equal(fitted.components_, expected.components_)
    if name != "MLKR":
        assert value not in fitted.classes_


@pytest.mark.parametrize("name", FROM_LABELS)
def test_no_value_stands_for_no_label_by_itself(name: str) -> None:
    labels = np.where(LABELS == 0, -1, LABELS)
    fitted, other = little(name).fit(X, labels), little(name).fit(X, labels, unlabeled=7)
    np.testing.assert_array_equal(other.components_, fitted.components_)
    if name != "MLKR":
        assert -1 in fitted.classes_
    with pytest.raises(ValueError, match=f"^{name} needs labels, but all 40 are -1, which"):
        little(name).fit(X, np.full(len(X), -1), unlabeled=-1)


@pytest.mark.parametrize("name", FROM_LABELS)
def test_samples_whose_label_is_missing_are_left_out(name: str) -> None:
    kept = np.arange(len(X)) % 4 > 0
    weights = 1.0 + np.arange(len(X)) % 3
    expected = little(name).fit(X[kept], LABELS[kept], sample_weight=weights[kept])
    floats = np.where(kept, LABELS, np.nan)
    column = pd.Series(LABELS).astype("Int64").where(kept)
    forms = [(X, floats, np.nan), (pd.DataFrame(X), column, pd.NA)]
    if name != "MLKR":
        objects = np.where(kept, LABELS.astype(object), np.array(None)).tolist()
        forms.append((X.tolist(), objects, float("nan")))
    for samples, y, value in forms:
        fitted = little(name).fit(samples, y, sample_weight=weights, unlabeled=value)
        np.testing.assert_array_equal(fitted.components_, expected.components_)
        if name != "MLKR":
            assert fitted.classes_.tolist() == expected.classes_.tolist()
    with pytest.raises(
        ValueError,
        match=r"leave out these samples; fit\(X, y\) of a learner does so with unlabeled=",
    ):
        little(name).fit(X, floats)
    with pytest.raises(ValueError, match=r"^Input y contains no label, all 40 are missing: pass"):
        little(name).fit(X, np.full(len(X), np.nan), unlabeled=np.nan)
    with pytest.raises(ValueError, match=r"inconsistent numbers of samples"):
        little(name).fit(X[1:], floats, unlabeled=np.nan)


@pytest.mark.parametrize("form", [np.asarray, pd.Series, list])
def test_a_value_for_no_label_may_be_of_another_type(form: Any) -> None:
    words = np.array(["a", "b", "c", "d"], dtype=object)[LABELS]
    kept = np.arange(len(X)) % 4 > 0
    expected = little("GMML").fit(X[kept], words[kept])
    mixed = form(np.where(kept, words, -1))
    fitted = little("GMML").fit(X, mixed, unlabeled=-1)
    np.testing.assert_array_equal(fitted.components_, expected.components_)
    assert fitted.classes_.tolist() == expected.classes_.tolist()
    with pytest.raises(ValueError, match=r"^GMML needs labels of one type, got labels of types"):
        little("GMML").fit(X, mixed, unlabeled=-2)
    with pytest.raises(ValueError, match=r"^GMML needs labels, but all 40 are -1, which"):
        little("GMML").fit(X, form(np.full(40, -1, dtype=object)), unlabeled=-1)


@pytest.mark.parametrize(
    ("labels", "value", "said"),
    [
        ("abcd", -1, r"unlabeled=-1, which no label can be, because labels are of type str \(such"),
        ((0, 1, 2, 3), "-1", r"unlabeled='-1', which no label can be, because labels are of type"),
        ((0.0, 1.0, 2.0, 3.0), b"", r"unlabeled=b'', which no label can be, because labels are"),
        ("abcd", b"a", r"unlabeled=b'a', which no label can be, because labels are of type str"),
    ],
)
def test_a_value_that_no_label_can_be_is_refused(labels: Any, value: Any, said: str) -> None:
    given = np.array(list(labels))[LABELS]
    for y in (given, given.astype(object), given.tolist(), pd.Series(given)):
        with pytest.raises(ValueError, match=f"^GMML got {said}"):
            little("GMML").fit(X, y, unlabeled=value)


@pytest.mark.parametrize("value", [[-1], np.array([-1]), pd.Series([-1]), {-1}])
def test_one_value_stands_for_no_label(value: Any) -> None:
    said = f"^GMML needs unlabeled to be one value of y, got a {type(value).__name__}: pass the"
    with pytest.raises(ValueError, match=said):
        little("GMML").fit(X, LABELS, unlabeled=value)


TIMES = np.datetime64("2020-01-01") + LABELS.astype("m8[D]")
WORDS_OR_NONE = pd.DataFrame(LABELS.astype(str)).mask(LABELS[:, None] == 0)
SOME_WITHOUT = {
    "times": (TIMES.astype("M8[ns]"), TIMES[0]),
    "float32": ((LABELS - 0.1).astype(np.float32), -0.1),
    "column of texts": (WORDS_OR_NONE, pd.NA),
    "column": (LABELS[:, None], 0),
}


@pytest.mark.parametrize("case", SOME_WITHOUT)
def test_labels_of_any_type_may_stand_for_none(case: str) -> None:
    labels, value = SOME_WITHOUT[case]
    assert len(RCA().fit(X, labels, unlabeled=value).classes_) == 3


@pytest.mark.parametrize("y", [3, np.array(3), {1, 2}], ids=repr)
def test_what_is_no_column_of_labels_is_told(y: Any) -> None:
    with pytest.raises(ValueError, match="y should be a 1d array"):
        GMML().fit(X, y, unlabeled=3)
    with pytest.raises(ValueError, match=r"got unlabeled=False, which no label can be"):
        GMML().fit(X, LABELS, unlabeled=False)
