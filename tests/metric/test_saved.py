"""A metric from a file keeps scikit-learn's company."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from calipers import SavedMetric, load
from calipers.metric.file import contents_of, write
from metric_files import ENCODER, FakeLearner, small_contents, small_file

X, Y = load_iris(return_X_y=True)
FRAME = pd.DataFrame(X, columns=["a", "b", "c", "d"])


@pytest.fixture
def saved(tmp_path: Path) -> SavedMetric:
    names = np.array(FRAME.columns, dtype=object)
    components = np.array([[-0.2, -0.2, 1.0, 1.0], [1.0, 0.5, 0.0, 0.0]])
    learner = FakeLearner().fit(X, components_=components, feature_names_in_=names)
    write(contents_of(learner), tmp_path / "m")
    metric: SavedMetric = load(tmp_path / "m")
    return metric


def test_it_serves_in_a_pipeline_as_it_is(saved: SavedMetric) -> None:
    model = make_pipeline(saved, KNeighborsClassifier(3))
    assert model.fit(FRAME, Y).score(FRAME, Y) > 0.9
    assert cross_val_score(model, FRAME, Y, cv=3).mean() > 0.9
    assert clone(saved) is saved


def test_names_of_features_are_checked(saved: SavedMetric) -> None:
    assert saved.feature_names_in_.tolist() == ["a", "b", "c", "d"]
    for use in (saved.transform, saved.fit):
        with pytest.raises(ValueError, match="The feature names should match those"):
            use(FRAME[["b", "a", "c", "d"]])
    with pytest.raises(ValueError, match="The feature names should match those"):
        saved.transform(FRAME[["a", "b", "c"]])


def test_output_as_a_frame(saved: SavedMetric) -> None:
    images = saved.set_output(transform="pandas").transform(FRAME)
    assert images.columns.tolist() == ["fakelearner0", "fakelearner1"]


def test_pickle_and_repr(saved: SavedMetric) -> None:
    again = pickle.loads(pickle.dumps(saved))
    np.testing.assert_array_equal(again.transform(FRAME), saved.transform(FRAME))
    assert repr(saved) == "SavedMetric(learner='FakeLearner', n_features=4, n_components=2)"


def test_everything_in_the_file_is_an_attribute(tmp_path: Path) -> None:
    metric = load(small_file(tmp_path))
    assert metric.kind_ == "metric"
    assert metric.learner_ == "TripletSGD"
    assert metric.recipe_ == {"type": "Recipe", "batch_size": 10, "loss": {"type": "Logistic"}}
    assert metric.parameters_ == {"n_triplets": 10, "init": "auto", "tau_max": None}
    assert metric.resolved_ == {"init": "standardized"}
    assert metric.facts_.pop("loss_curve_").tolist() == [1.0, 0.5]
    assert metric.facts_ == {"n_updates_": 7}
    assert metric.notes_ == ["a note"]
    assert metric.feature_scale_ is not None
    assert metric.feature_scale_.tolist() == [1.0, 2.0, 3.0]
    assert metric.label_ == "kind"
    assert metric.classes_.tolist() == ["x", "y"]
    assert metric.feature_names_in_.tolist() == ["a", "b", "c"]
    assert metric.n_features_in_ == 3
    assert metric.encoder_.to_json() == ENCODER


@pytest.mark.parametrize("chosen", ["euclidean", "Euclidean"])
def test_that_nothing_was_gained_is_said_first(chosen: str) -> None:
    contents = small_contents(facts={"chosen_": chosen, "reason_": "within"}, learner="MetricCV")
    assert repr(SavedMetric(contents)) == (
        f"SavedMetric(chosen={chosen!r}, learner='MetricCV', n_features=3, n_components=2)"
    )


def test_a_learned_similarity_is_the_score() -> None:
    W = np.arange(9.0).reshape(3, 3)
    metric = SavedMetric(small_contents(similarity=W))
    pairs = np.random.default_rng(0).standard_normal((5, 2, 3))
    expected = [first @ W @ second for first, second in pairs]
    np.testing.assert_allclose(metric.pair_score(pairs), expected)


def test_labels_of_mixed_types_stay_what_they_are() -> None:
    assert SavedMetric(small_contents(classes=["x", 1])).classes_.tolist() == ["x", 1]
