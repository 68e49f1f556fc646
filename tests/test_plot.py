"""The picture before and after."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import PathCollection
from matplotlib.figure import Figure
from sklearn.datasets import load_iris, load_wine

from calipers import ITML, LEGO, LMNN, OASIS, SPML, Discriminant, Euclidean, TripletSGD, load
from calipers.plot import (
    before_after,
    error_against_time,
    feature_directions,
    feature_importances,
    feature_interactions,
    knn_map,
    loss_curve,
    principal_plane,
    spectrum,
)

IRIS = load_iris(return_X_y=True)


def test_every_sample_is_drawn_once_in_each_panel() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 5)), np.arange(40) % 4
    for panel in before_after(X, y, X[:, :3]):
        clouds = [c for c in panel.collections if isinstance(c, PathCollection)]
        assert [len(cloud.get_offsets()) for cloud in clouds] == [10, 10, 10, 10]  # type: ignore[arg-type]


@pytest.mark.parametrize(("n_classes", "legend"), [(12, True), (13, False)])
def test_the_legend_ends_at_twelve_classes(n_classes: int, legend: bool) -> None:
    X = np.random.default_rng(0).normal(size=(26, 3))
    before, after = before_after(X, np.arange(26) % n_classes, X)
    assert before.get_legend() is None
    assert (after.get_legend() is not None) == legend


def test_long_names_do_not_hide_the_points() -> None:
    X = np.random.default_rng(0).normal(size=(6, 3))
    for labels, n_names in ((list("ababab"), 2), (["setosa", "virginica"] * 3, 0)):
        before, _ = before_after(X, labels, X)
        assert len(before.texts) == n_names


def test_given_axes_are_used_and_pyplot_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "matplotlib.pyplot", raising=False)
    figure = Figure()
    left, right = figure.subplots(1, 2)
    X = np.eye(4)
    assert before_after(X, [0, 0, 1, 1], X, axes=[left, right]) == (left, right)
    assert "matplotlib.pyplot" not in sys.modules


def test_the_plane_keeps_the_two_largest_variances() -> None:
    X = np.random.default_rng(0).normal(size=(200, 4)) * [1, 5, 0.1, 3]
    values = np.linalg.eigvalsh(np.cov(X.T))
    np.testing.assert_allclose(principal_plane(X).var(axis=0, ddof=1), values[:-3:-1])


def test_one_feature_is_padded() -> None:
    X = np.arange(3.0)[:, None]
    np.testing.assert_allclose(principal_plane(X), [[-1, 0], [0, 0], [1, 0]], atol=1e-12)


def test_lengths_that_differ_get_a_sentence() -> None:
    with pytest.raises(ValueError, match="as many samples as each other, got 3, 2 and 3"):
        before_after(np.eye(3), [0, 1], np.eye(3))


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
        (SPML(n_triplets=200), "triplets"),
        (OASIS(n_triplets=200), "triplets"),
        (LEGO(n_triplets=200), "pairs"),
        (ITML(n_triplets=20), None),
        (LMNN(), "iterations"),
    ],
    ids=str,
)
def test_loss_of_every_learner_and_of_its_file(learner: Any, unit: str, tmp_path: Path) -> None:
    metric = learner.fit(*IRIS)
    metric.save(tmp_path / "m")
    for drawn in (metric, load(tmp_path / "m")):
        axes = loss_curve(drawn)
        if unit is not None:
            assert axes.get_xlabel() == unit
        line, *dots = axes.lines
        loss = getattr(metric, "loss_curve_", getattr(metric, "objective_curve_", None))
        np.testing.assert_array_equal(line.get_ydata(), loss)
        if hasattr(metric, "update_curve_"):
            rose = np.diff(metric.update_curve_, prepend=0) > 0
            assert len(np.asarray(dots[0].get_ydata())) == rose.sum()


def test_no_curve_gets_a_sentence() -> None:
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
    X = IRIS[0]
    frame = pd.DataFrame(X, columns=["$a", "b", "c", "d"])
    Euclidean().fit(frame).save(tmp_path / "m", X=frame)
    shares = 100 * X.var(axis=0) / X.var(axis=0).sum()
    axes = feature_importances(load(tmp_path / "m"), top=3)
    widths = [bar.get_width() for bar in axes.patches]  # type: ignore[attr-defined]
    np.testing.assert_allclose(widths, np.sort(shares)[:0:-1])
    assert [label.get_text() for label in axes.get_yticklabels()] == ["c", r"\$a", "d"]


def test_weights_are_in_units_of_the_training_samples(tmp_path: Path) -> None:
    """What a metric weighs does not depend on units, and a file says the same."""
    X, y = load_wine(return_X_y=True, as_frame=True)
    pictures = []
    for unit in (1.0, 1000.0):
        metric = Discriminant().fit(X.assign(proline=X["proline"] * unit), y)
        metric.save(tmp_path / "m")
        for known in (metric, load(tmp_path / "m")):
            bars = feature_importances(known, top=2)
            assert {t.get_text() for t in bars.get_yticklabels()} == {"flavanoids", "proline"}
            (image,) = feature_interactions(known, top=4).images
            directions = feature_directions(known, n_directions=1, top=4)
            widths = [bar.get_width() for bar in directions.patches]  # type: ignore[attr-defined]
            pictures.append([*np.ravel(np.asarray(image.get_array())), *widths])
    for picture in pictures[1:]:
        np.testing.assert_allclose(picture, pictures[0], rtol=1e-6)


def test_errors_against_time() -> None:
    axes = error_against_time({"a": ([1, 2], [5, 4]), "b": ([3], [2])})
    assert [line.get_label() for line in axes.lines] == ["a", "b"]
    with pytest.raises(ValueError, match="'a' must have as many errors as seconds"):
        error_against_time({"a": ([1], [1, 2])})


def test_no_two_of_many_methods_look_alike() -> None:
    axes = error_against_time({f"method {number}": ([1], [number]) for number in range(30)})
    assert len({(line.get_color(), line.get_marker()) for line in axes.lines}) == 30


def test_new_plots_use_given_axes_and_no_pyplot(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "matplotlib.pyplot", raising=False)
    metric = TripletSGD(n_triplets=50).fit(*IRIS)
    for draw in (
        loss_curve,
        spectrum,
        feature_importances,
        feature_interactions,
        feature_directions,
    ):
        axes = Figure().subplots()
        assert draw(metric, axes=axes) is axes
        assert draw(metric) is not axes
    assert "matplotlib.pyplot" not in sys.modules


def test_without_matplotlib_a_sentence_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    metric = Euclidean().fit(IRIS[0])
    for draw in (lambda: spectrum(metric), lambda: before_after(IRIS[0], IRIS[1], IRIS[0])):
        with pytest.raises(ImportError, match=r"pip install matplotlib\."):
            draw()


def test_a_notebook_shows_panels_and_figures_without_pyplot() -> None:
    metric = Euclidean().fit(np.eye(3))
    axes: Any = feature_importances(metric)
    before: Any = before_after(np.eye(3), [0, 1, 1], np.eye(3))[0]
    for shown in (axes, axes.figure, before.figure):
        assert shown._repr_png_().startswith(b"\x89PNG")


def test_long_names_of_features_are_cut() -> None:
    metric = Euclidean().fit(np.eye(2))
    metric.feature_names_in_ = np.array(["short", "status=" + "the parcel was returned " * 3])
    labels = feature_importances(metric).get_yticklabels()
    assert [len(label.get_text()) for label in labels] == [5, 36]
