"""Pictures of samples, of a fit, and of what a metric weighs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import PathCollection
from matplotlib.figure import Figure
from sklearn.datasets import load_iris

from calipers import LEGO, LMNN, Euclidean, TripletSGD, load
from calipers.plot import (
    before_after,
    feature_importances,
    feature_interactions,
    knn_map,
    loss_curve,
    principal_plane,
    spectrum,
)

IRIS = load_iris(return_X_y=True)


@pytest.mark.parametrize(("n_classes", "legend"), [(12, True), (13, False)])
def test_before_and_after(n_classes: int, legend: bool) -> None:
    X, y = np.random.default_rng(0).normal(size=(52, 5)), np.arange(52) % n_classes
    panels = before_after(X, y, X[:, :3])
    for panel in panels:
        clouds = [c for c in panel.collections if isinstance(c, PathCollection)]
        drawn = [len(np.asarray(cloud.get_offsets())) for cloud in clouds]
        assert drawn == np.bincount(y).tolist()
    assert panels[0].get_legend() is None
    assert (panels[1].get_legend() is not None) == legend
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        before_after(np.eye(3), [0, 1], np.eye(3))


def test_the_plane_keeps_the_two_largest_variances() -> None:
    X = np.random.default_rng(0).normal(size=(200, 4)) * [1, 5, 0.1, 3]
    values = np.linalg.eigvalsh(np.cov(X.T))
    np.testing.assert_allclose(principal_plane(X).var(axis=0, ddof=1), values[:-3:-1])
    one_feature = principal_plane(np.arange(3.0)[:, None])
    np.testing.assert_allclose(one_feature, [[-1, 0], [0, 0], [1, 0]], atol=1e-12)


def test_regions_are_those_of_the_training_samples() -> None:
    """A class that only training samples have keeps its colour; two features are needed."""
    train, labels = [[0.0, 0.0], [4.0, 0.0], [9.0, 9.0]], ["a", "b", "c"]
    axes = knn_map(train, labels, [[0.5, 0.0], [3.0, 1.0]], ["a", "a"], n_neighbors=1)
    np.testing.assert_allclose(np.asarray(axes.collections[-1].get_offsets()), [[3.0, 1.0]])
    voted = np.asarray(axes.images[0].get_array())
    assert (voted[0, 0], voted[0, -1]) == (0, 1)
    with pytest.raises(ValueError, match="two features, got shapes"):
        knn_map(np.eye(3), labels, np.eye(3), labels)


@pytest.mark.parametrize(
    ("learner", "unit"),
    [
        (TripletSGD("as-sgd", n_triplets=500, random_state=0), "triplets"),
        (LEGO(n_triplets=200), "pairs"),
        (LMNN(), "iterations"),
    ],
    ids=str,
)
def test_the_loss_of_a_fit_and_of_its_file(learner: Any, unit: str, tmp_path: Path) -> None:
    metric = learner.fit(*IRIS)
    metric.save(tmp_path / "m")
    for drawn in (metric, load(tmp_path / "m")):
        axes = loss_curve(drawn)
        assert axes.get_xlabel() == unit
        line, *dots = axes.lines
        loss = getattr(metric, "loss_curve_", getattr(metric, "objective_curve_", None))
        np.testing.assert_array_equal(line.get_ydata(), loss)
        if hasattr(metric, "update_curve_"):
            rose = np.diff(metric.update_curve_, prepend=0) > 0
            assert len(np.asarray(dots[0].get_ydata())) == rose.sum()
    with pytest.raises(ValueError, match="Euclidean keeps no loss curve"):
        loss_curve(Euclidean().fit(IRIS[0]))


def test_the_spectrum_leaves_zeros_out() -> None:
    metric = Euclidean().fit(IRIS[0])
    metric.components_ = np.diag([3.0, 2.0, 1.0, 0.0])
    axes = spectrum(metric)
    np.testing.assert_allclose(np.asarray(axes.lines[0].get_ydata(), dtype=float), [9, 4, 1])
    assert axes.get_yscale() == "log"
    assert "of which 3" in axes.get_xlabel()


def test_importances_are_those_of_named_features(tmp_path: Path) -> None:
    long = "status=" + "the parcel was returned " * 3
    frame = pd.DataFrame(IRIS[0], columns=["$a", "b", "c", long])
    Euclidean().fit(frame).save(tmp_path / "m")
    shares = 100 * IRIS[0].var(axis=0) / IRIS[0].var(axis=0).sum()
    axes = feature_importances(load(tmp_path / "m"), top=3)
    widths = [bar.get_width() for bar in axes.patches]  # type: ignore[attr-defined]
    np.testing.assert_allclose(widths, np.sort(shares)[:0:-1])
    *names, last = [label.get_text() for label in axes.get_yticklabels()]
    assert names == ["c", r"\$a"]
    assert len(last) == 36


def test_given_axes_are_used_and_pyplot_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "matplotlib.pyplot", raising=False)
    metric = TripletSGD(n_triplets=50).fit(*IRIS)
    for draw in (loss_curve, spectrum, feature_importances, feature_interactions):
        axes = Figure().subplots()
        assert draw(metric, axes=axes) is axes
        assert draw(metric) is not axes
    left, right = Figure().subplots(1, 2)
    assert before_after(IRIS[0], IRIS[1], IRIS[0], axes=[left, right]) == (left, right)
    assert "matplotlib.pyplot" not in sys.modules


def test_a_notebook_shows_panels_and_figures() -> None:
    axes: Any = feature_importances(Euclidean().fit(np.eye(3)))
    before: Any = before_after(np.eye(3), [0, 1, 1], np.eye(3))[0]
    for shown in (axes, axes.figure, before.figure):
        assert shown._repr_png_().startswith(b"\x89PNG")


def test_without_matplotlib_a_sentence_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match=r"pip install 'calipers\[plot\]'\."):
        spectrum(Euclidean().fit(IRIS[0]))
