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

from calipers import SavedMetric, TripletSGD, load

X, Y = load_iris(return_X_y=True)
FRAME = pd.DataFrame(X, columns=["a", "b", "c", "d"])


@pytest.fixture
def saved(tmp_path: Path) -> SavedMetric:
    TripletSGD(n_triplets=500, n_components=2, random_state=0).fit(FRAME, Y).save(tmp_path / "m")
    return load(tmp_path / "m")


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
    assert images.columns.tolist() == ["tripletsgd0", "tripletsgd1"]


def test_pickle_and_repr(saved: SavedMetric) -> None:
    again = pickle.loads(pickle.dumps(saved))
    np.testing.assert_array_equal(again.transform(FRAME), saved.transform(FRAME))
    assert repr(saved) == "SavedMetric(learner='TripletSGD', n_features=4, n_components=2)"


def test_it_goes_on_to_onnx_and_faiss_too(saved: SavedMetric) -> None:
    pytest.importorskip("onnx", reason="needs calipers[onnx]")
    assert isinstance(saved.to_onnx(), bytes)
