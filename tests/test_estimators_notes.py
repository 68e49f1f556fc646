"""What is only said or noted, and any array and labels that are as good as others."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from calipers.arrays import FloatArray
from calipers.estimators.inputs import DataWarning
from little_learners import (
    X,
    Y,
    each_learner,
    little,
    small,
)


@each_learner
def test_a_class_of_one_row_is_said_once(name: str) -> None:
    labels = Y.astype(object)
    labels[0] = "alone"
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fitted = little(name).fit(X, labels.astype(str))
    assert [str(warning.message) for warning in caught] == [
        "1 of 4 classes have one row only ('alone'): they have no near row, so they serve as far "
        "rows only."
    ]
    assert caught[0].category is DataWarning
    assert len(fitted.classes_) == 4


def test_many_classes_of_one_row_are_named_by_three() -> None:
    labels = np.where(np.arange(30) < 5, np.arange(30), 100 + Y)
    with pytest.warns(DataWarning) as caught:
        small().fit(X, labels)
    assert str(caught[0].message).startswith("5 of 8 classes have one row only (0, 1, 2, ...): ")


@each_learner
def test_the_warning_points_at_the_call(name: str) -> None:
    labels = np.where(np.arange(30) < 1, 7, Y)
    with pytest.warns(DataWarning) as caught:
        little(name).fit(X, labels)
    assert caught[0].filename == __file__


def test_constant_features_are_noted() -> None:
    given = X.copy()
    given[:, [1, 3]] = 5.0
    fitted = small(average=False, start="features").fit(given, Y)
    assert fitted.notes_ == [
        "2 of 4 features are constant (the first is number 1): no distance depends on them, their "
        "part of the metric is as at the start."
    ]
    M = fitted.get_mahalanobis_matrix()
    assert M[1, 1] == pytest.approx(M[3, 3])
    np.testing.assert_allclose(M[1, [0, 2, 3]], 0.0, atol=1e-14 * M.max())


def test_duplicated_rows_are_noted() -> None:
    fitted = small().fit(np.vstack([X, X[:3]]), np.concatenate([Y, Y[:3]]))
    assert fitted.notes_ == ["3 of 33 rows repeat another row: they are neighbours at distance 0."]


def test_there_is_but_one_zero() -> None:
    (note,) = small().fit(np.vstack([0.0 * X[:1], -0.0 * X[:1], X]), np.r_[Y[:2], Y]).notes_
    assert note.startswith("1 of 32 rows repeat another row")


def test_small_classes_are_noted() -> None:
    fitted = small(n_neighbors=10).fit(X, Y)
    assert fitted.notes_ == [
        "3 of 3 classes have no more than n_neighbors=10 rows: near rows are drawn among all "
        "others of such a class."
    ]


def test_nothing_to_note() -> None:
    assert small().fit(X, Y).notes_ == []


def test_rows_that_equal_their_far_rows() -> None:
    """Label noise on duplicated rows: every far difference is zero."""
    given, labels = np.repeat(X[:10], 2, axis=0), np.arange(20) % 2
    for scale in ("triplets", "none"):
        M = small(n_neighbors=1, scale=scale).fit(given, labels).get_mahalanobis_matrix()
        assert np.isfinite(M).all()
        assert np.linalg.eigvalsh(M)[0] >= -1e-10


@pytest.mark.parametrize("factor", [1e-74, 1e-30, 1e30, 2e74])
@pytest.mark.parametrize("method", ["as-sgd", "hr-sgd"])
@pytest.mark.parametrize("start", ["auto", "identity"])
def test_extreme_scales_that_are_accepted(start: str, factor: float, method: str) -> None:
    """The default measures rows by their own distances: the metric only changes units."""
    plain = small(method=method, n_triplets=500, start=start).fit(X, Y)
    scaled = small(method=method, n_triplets=500, start=start).fit(factor * X, Y)
    assert scaled.n_updates_ == plain.n_updates_
    np.testing.assert_allclose(factor * scaled.components_, plain.components_, rtol=1e-6, atol=1e-9)
    literal = small(method=method, n_triplets=500, scale="none").fit(factor * X, Y)
    assert np.isfinite(literal.components_).all()


@pytest.mark.parametrize("factor", [1e-3, 1e3])
@pytest.mark.parametrize("start", ["auto", "identity"])
def test_the_ball_is_measured_in_the_units_of_the_rows(start: str, factor: float) -> None:
    tight = small(radius=2.01, n_triplets=500, start=start).fit(X, Y)
    free = small(n_triplets=500, start=start).fit(X, Y)
    assert np.linalg.norm(free.components_ - tight.components_) > 0.01
    scaled = small(radius=2.01, n_triplets=500, start=start).fit(factor * X, Y)
    np.testing.assert_allclose(factor * scaled.components_, tight.components_, rtol=1e-6, atol=1e-9)


def variants(given: FloatArray) -> dict[str, Any]:
    doubled = np.zeros((2 * len(given), given.shape[1]))
    doubled[::2] = given
    read_only = given.copy()
    read_only.flags.writeable = False
    return {
        "list": given.tolist(),
        "read-only": read_only,
        "every other row": doubled[::2],
        "negative strides": given[::-1].copy()[::-1],
        "Fortran order": np.asfortranarray(given),
        "float32": given.astype(np.float32),
        "int64": given.astype(np.int64),
        "uint8": given.astype(np.uint8),
        "object": given.astype(object),
    }


WHOLE = np.random.default_rng(1).integers(0, 9, size=(40, 5)).astype(np.float64)
WHOLE_LABELS = np.arange(40) % 4


@each_learner
@pytest.mark.parametrize("kind", list(variants(WHOLE)))
def test_any_array_gives_the_same_metric_and_is_left_alone(kind: str, name: str) -> None:
    given = variants(WHOLE)[kind]
    before = np.array(given)
    fitted = little(name).fit(given, WHOLE_LABELS)
    expected = little(name).fit(WHOLE, WHOLE_LABELS)
    # rows in other coordinates are rounded to float32 again, which walks carry on
    tolerance = 1e-6 if kind == "float32" else 0.0
    np.testing.assert_allclose(
        fitted.components_, expected.components_, rtol=tolerance, atol=tolerance
    )
    np.testing.assert_allclose(
        fitted.transform(given), expected.transform(WHOLE), rtol=1e-8, atol=10 * tolerance
    )
    np.testing.assert_array_equal(np.array(given), before)


def test_bool_rows() -> None:
    given = WHOLE > 4
    expected = small().fit(given.astype(float), WHOLE_LABELS)
    np.testing.assert_array_equal(
        small().fit(given, WHOLE_LABELS).components_, expected.components_
    )


def test_rows_mapped_from_a_file(tmp_path: Any) -> None:
    mapped = np.memmap(tmp_path / "rows", dtype=np.float64, mode="w+", shape=WHOLE.shape)
    mapped[:] = WHOLE
    mapped.flush()
    given = np.memmap(tmp_path / "rows", dtype=np.float64, mode="r", shape=WHOLE.shape)
    expected = small().fit(WHOLE, WHOLE_LABELS)
    np.testing.assert_array_equal(
        small().fit(given, WHOLE_LABELS).components_, expected.components_
    )


@pytest.mark.parametrize(
    "labels",
    [
        WHOLE_LABELS.astype(float),
        WHOLE_LABELS.astype(str),
        np.array(["a", "b", "c", "d"], dtype=object)[WHOLE_LABELS],
        WHOLE_LABELS.tolist(),
        (100 - WHOLE_LABELS).astype(np.int8)[::-1][::-1],
    ],
)
def test_any_labels(labels: Any) -> None:
    fitted = small().fit(WHOLE, labels)
    assert fitted.classes_.tolist() == sorted(set(np.asarray(labels).tolist()))
    expected = small().fit(WHOLE, WHOLE_LABELS)
    np.testing.assert_array_equal(fitted.components_, expected.components_)


def test_given_triplets_are_left_alone() -> None:
    triplets = np.array([[0, 3, 1], [4, 1, 2], [5, 2, 0]] * 30)
    triplets.flags.writeable = False
    fitted = small().fit_triplets(X, triplets)
    assert fitted.n_iter_ == 90
