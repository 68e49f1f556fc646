"""What a file says about any estimator."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import calipers
from calipers.metric.file import contents_of, read, write
from calipers.search.query_map import load
from metric_files import FakeLearner

X = np.random.default_rng(0).standard_normal((20, 3))


class Hinge(NamedTuple):
    margin: float = 1.0


@dataclass(frozen=True)
class Recipe:
    batch_size: int = 10
    loss: Hinge = field(default_factory=Hinge)


HINGE = {"type": "Hinge", "margin": 1.0}
RECIPE = {"type": "Recipe", "batch_size": 10, "loss": HINGE}


def again(estimator: Any, folder: Path, **more: Any) -> calipers.SavedMetric:
    """The metric of the estimator after it was written and read."""
    write(contents_of(estimator, **more), folder / "m")
    metric: calipers.SavedMetric = load(folder / "m")
    return metric


def test_given_and_resolved_parameters_are_kept_apart(tmp_path: Path) -> None:
    learner = FakeLearner(n_neighbors=None).fit(
        X, init_="standardized", n_neighbors_=np.int64(3), method_="hr-sgd", n_updates_=7
    )
    metric = again(learner, tmp_path)
    assert metric.parameters_ == {"method": "hr-sgd", "init": "auto", "n_neighbors": None}
    assert metric.resolved_ == {"method": "hr-sgd", "init": "standardized", "n_neighbors": 3}
    assert metric.facts_ == {"n_updates_": 7}
    same = FakeLearner(**(metric.parameters_ | metric.resolved_))
    assert same.get_params() == metric.resolved_


def test_a_recipe_is_its_fields(tmp_path: Path) -> None:
    metric = again(FakeLearner(method=Recipe()).fit(X), tmp_path)
    assert metric.recipe_ == metric.parameters_["method"] == RECIPE
    assert again(FakeLearner(method="sgd").fit(X), tmp_path).recipe_ is None


def test_a_fitted_recipe_comes_before_the_given_one(tmp_path: Path) -> None:
    learner = FakeLearner(method=Recipe(1)).fit(X, recipe_=Recipe(5), method_=Recipe(3))
    metric = again(learner, tmp_path)
    assert metric.recipe_ == {**RECIPE, "batch_size": 5}
    assert metric.resolved_ == {"method": {**RECIPE, "batch_size": 3}}
    assert metric.facts_ == {}


def test_an_array_as_a_parameter_comes_back(tmp_path: Path) -> None:
    init = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    learner = FakeLearner(init=init).fit(X, init_=init + 1)
    contents = contents_of(learner)
    assert contents.parameters["init"] == {"type": "ndarray", "shape": [2, 3], "dtype": "float64"}
    metric = again(learner, tmp_path)
    np.testing.assert_array_equal(metric.parameters_["init"], init, strict=True)
    np.testing.assert_array_equal(metric.resolved_["init"], init + 1, strict=True)


def test_a_large_array_as_a_parameter_is_described(tmp_path: Path) -> None:
    metric = again(FakeLearner(init=np.zeros((1025, 1024))).fit(X), tmp_path)
    assert metric.parameters_["init"] == {
        "type": "ndarray",
        "shape": [1025, 1024],
        "dtype": "float64",
    }
    assert again(FakeLearner(init=np.array(["a"])).fit(X), tmp_path).parameters_["init"] == {
        "type": "ndarray",
        "shape": [1],
        "dtype": "<U1",
    }


def test_facts_are_what_is_small_and_plain(tmp_path: Path) -> None:
    learner = FakeLearner().fit(
        X,
        n_updates_=np.int64(3),
        loss_=np.float64(0.25),
        limit_=float("inf"),
        converged_=True,
        schedule_=[0.5, "x"],
        parts_=(Hinge(2.0),),
        loss_curve_=np.array([1.0, np.nan]),
        counts_=np.array([[1, 2]]),
        nothing_=None,
        history_=[object()],
        table_={"a": 1},
        embedding_=np.zeros(10_001),
        labels_=np.array(["a"]),
        _private_=3,
        unfitted=3,
    )
    facts = again(learner, tmp_path).facts_
    curves = {name: facts.pop(name) for name in ("loss_curve_", "counts_")}
    assert facts == {
        "n_updates_": 3,
        "loss_": 0.25,
        "limit_": "inf",
        "converged_": True,
        "schedule_": [0.5, "x"],
        "parts_": [{"type": "Hinge", "margin": 2.0}],
    }
    np.testing.assert_array_equal(curves["loss_curve_"], learner.loss_curve_, strict=True)
    np.testing.assert_array_equal(curves["counts_"], learner.counts_, strict=True)


def test_of_a_selection_the_choice_and_its_reason_are_kept(tmp_path: Path) -> None:
    chosen = FakeLearner()
    table = {"mean_test_score": np.zeros(3), "params": [{}]}
    learner = FakeLearner().fit(X, chosen_=chosen, reason_="within", cv_results_=table)
    assert again(learner, tmp_path).facts_ == {"chosen_": str(chosen), "reason_": "within"}


def test_names_labels_and_scale(tmp_path: Path) -> None:
    learner = FakeLearner().fit(
        X,
        feature_names_in_=np.array(["a", "b\ud800", "c"], dtype=object),
        classes_=np.array([3, 5]),
        notes_=["a note"],
    )
    contents = contents_of(learner, feature_scale=[1, 2, 3], label="kind")
    assert contents.feature_names == ["a", "b\\ud800", "c"]
    assert contents.classes == [3, 5]
    assert (contents.label, contents.notes, contents.kind) == ("kind", ["a note"], "metric")
    np.testing.assert_array_equal(contents.arrays["feature_scale"], [1.0, 2.0, 3.0], strict=True)
    assert contents.written_by == calipers.__version__
    write(contents, tmp_path / "m")
    assert read(tmp_path / "m").feature_names == contents.feature_names


@pytest.mark.parametrize("kind", ["adapter", "bridge"])
def test_other_kinds_of_maps_need_no_other_format(kind: str, tmp_path: Path) -> None:
    learner = FakeLearner().fit(X, offset_=np.array([1, 2, 3]))
    write(contents_of(learner, kind=kind), tmp_path / "m")
    contents = read(tmp_path / "m")
    assert contents.kind == kind
    np.testing.assert_array_equal(contents.arrays["offset"], [1.0, 2.0, 3.0], strict=True)


def test_contents_do_not_change_with_the_estimator() -> None:
    learner = FakeLearner(init=np.zeros(3)).fit(X, loss_curve_=np.zeros(2))
    contents = contents_of(learner)
    for array in (learner.components_, learner.init, learner.loss_curve_):
        array += 1.0
    np.testing.assert_array_equal(contents.components, np.eye(3))
    assert not contents.arrays["parameters.init"].any()
    assert not contents.arrays["facts.loss_curve_"].any()
