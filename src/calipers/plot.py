"""Pictures of the data before and after learning, and of the metric itself.

matplotlib is the extra ``plot``. The functions import it, and use its figures only, never the
global state of pyplot.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_consistent_length

from calipers.arrays import FloatArray, IndexArray
from calipers.data.files import needs_package, shortened
from calipers.evaluation import knn_predict
from calipers.metric.mahalanobis import feature_shares, spectrum as eigenvalues

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "CLASS_COLORS",
    "MARKERS",
    "before_after",
    "feature_importances",
    "feature_interactions",
    "figure_class",
    "figure_of",
    "knn_map",
    "loss_curve",
    "principal_plane",
    "spectrum",
]

_PALETTE = "332288 e69f00 009e73 cc3311 56b4e9 aa4499 0072b2 ddcc77 882255 000000 999933 ee99aa"
CLASS_COLORS = tuple(f"#{color}" for color in _PALETTE.split())
"""From the palettes of Okabe and Ito and of Tol, made for colour-blind readers."""

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "p", "h", "d")
"""One shape per class as well, so that no reader depends on colour."""

_BLUE, _RED = CLASS_COLORS[6], CLASS_COLORS[3]
_SPOTS = 300  # across a map, each coloured by its vote

# Samples in two dimensions


def before_after(
    X: npt.ArrayLike,
    y: npt.ArrayLike,
    transformed: npt.ArrayLike,
    *,
    axes: Sequence[Axes] | None = None,
) -> tuple[Axes, Axes]:
    """Draw the data in two dimensions, as given and under a learned metric.

    Each panel shows its first two principal components. Colour and shape tell the class. Up to
    twelve classes get a legend.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Samples.
    y : array-like of shape (n,)
        Labels.
    transformed : array-like of shape (n, k)
        The same samples under the metric, ``metric.transform(X)``.
    axes : sequence of two matplotlib Axes, optional
        Where to draw; by default on a new figure, ``before.figure``.

    Returns
    -------
    tuple of two matplotlib Axes
        The panels before and after.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> before, after = before_after(X, y, X * [1, 1, 3, 3])
    >>> before.get_title("left")
    'Before'
    """
    labels = np.asarray(y)
    given, learned = (np.asarray(data, dtype=np.float64) for data in (X, transformed))
    check_consistent_length(given, labels, learned)
    before, after = _new_figure(11, 5).subplots(1, 2) if axes is None else axes
    for panel, data, title in ((before, given, "Before"), (after, learned, "After")):
        scatter(panel, principal_plane(data), labels)
        panel.set_title(title, loc="left", fontsize=12, fontweight="bold")
    legend_of_classes(after)
    return before, after


def knn_map(
    X_train: npt.ArrayLike,
    y_train: npt.ArrayLike,
    X_test: npt.ArrayLike,
    y_test: npt.ArrayLike,
    *,
    n_neighbors: int = 3,
    axes: Axes | None = None,
) -> Axes:
    """Draw unseen samples of two dimensions on the regions that k-NN gives to each class.

    The regions are those of the training samples, which are not drawn. A ring marks a test
    sample in the region of another class. One unit is as long on both axes.

    Parameters
    ----------
    X_train, X_test : array-like of shape (n, 2)
        Samples in two dimensions, for example transformed with ``n_components=2``.
    y_train, y_test : array-like of shape (n,)
        Their labels.
    n_neighbors : int, default=3
        Number of neighbours that vote.
    axes : matplotlib Axes, optional
        Where to draw; by default on a new figure.

    Returns
    -------
    matplotlib Axes
        The panel.

    Examples
    --------
    >>> panel = knn_map([[0, 0], [3, 1]], ["a", "b"], [[0, 1], [1, 1]], ["a", "b"], n_neighbors=1)
    >>> len(panel.collections[-1].get_offsets())  # rings
    1
    """
    known, new = np.asarray(X_train, dtype=np.float64), np.asarray(X_test, dtype=np.float64)
    if known.shape[1:] != (2,) or new.shape[1:] != (2,):
        raise ValueError(
            f"X_train and X_test must have two features, got shapes {known.shape} and {new.shape}: "
            "transform them by a metric with n_components=2."
        )
    truth = np.asarray(y_test)
    classes, codes = np.unique(np.asarray(y_train), return_inverse=True)
    axes = _panel(axes)
    scatter(axes, new, truth, classes)
    axes.spines[:].set_visible(False)
    _shade(axes, known, codes, new, n_neighbors=n_neighbors)
    wrong = classes[knn_predict(known, codes, new, n_neighbors=n_neighbors)] != truth
    ring(axes, new[wrong])
    return axes


def principal_plane(X: FloatArray) -> FloatArray:
    """Project samples onto their two principal directions.

    The largest entry of each direction is positive, so that the picture of the same data is the
    same on every machine. A single feature gets a second one of zeros.

    Examples
    --------
    >>> principal_plane(np.array([[0.0, 0.0], [0.0, 2.0], [0.0, 4.0]]))[:, 0]
    array([-2.,  0.,  2.])
    """
    centred = X - X.mean(axis=0)
    if centred.shape[1] < 2:
        centred = np.column_stack([centred, np.zeros((len(X), 2 - centred.shape[1]))])
    _, directions = np.linalg.eigh(centred.T @ centred)
    directions = directions[:, :-3:-1]
    ends = np.abs(directions).argmax(axis=0)
    plane: FloatArray = centred @ (directions * np.sign(directions[ends, [0, 1]]))
    return plane


def scatter(
    axes: Axes,
    points: FloatArray,
    labels: npt.NDArray[Any],
    classes: npt.NDArray[Any] | None = None,
) -> None:
    """Draw one cloud per class; short names of classes are written beside their clouds."""
    classes = np.unique(labels) if classes is None else classes
    few = len(classes) <= len(CLASS_COLORS)
    size = float(np.clip(20_000 / len(points), 4, 24))
    for number, (label, color) in enumerate(zip(classes, _class_colors(len(classes)), strict=True)):
        cloud = points[labels == label]
        marker = MARKERS[number] if few else "o"
        axes.scatter(
            cloud[:, 0],
            cloud[:, 1],
            s=size,
            color=color,
            marker=marker,
            alpha=0.8,
            linewidths=0,
            label=_plain(label),
            rasterized=True,  # in an SVG of many samples
        )
    axes.set_xlabel("first principal component")
    axes.set_ylabel("second")
    axes.set_xticks([])
    axes.set_yticks([])
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_aspect("equal", adjustable="datalim")


def ring(axes: Axes, points: FloatArray) -> None:
    """Put a ring around each point: an error."""
    look: dict[str, Any] = {"facecolors": "none", "edgecolors": "black", "linewidths": 1.4}
    axes.scatter(points[:, 0], points[:, 1], s=130, **look)


def legend_of_classes(axes: Axes) -> None:
    """Name the classes beside a panel, unless there are too many."""
    if len(axes.get_legend_handles_labels()[1]) <= len(CLASS_COLORS):
        beside: dict[str, Any] = {"loc": "center left", "bbox_to_anchor": (1.01, 0.5)}
        axes.legend(title="class", frameon=False, markerscale=1.6, **beside)


def _shade(
    axes: Axes, known: FloatArray, codes: IndexArray, new: FloatArray, *, n_neighbors: int
) -> None:
    """Colour the square around ``new`` by the class that the nearest training samples vote for."""
    from matplotlib.colors import ListedColormap

    centre = (new.max(axis=0) + new.min(axis=0)) / 2
    reach = 0.55 * float(np.ptp(new, axis=0).max()) or 1.0
    (left, right), (low, high) = ((middle - reach, middle + reach) for middle in centre)
    x, y = np.meshgrid(np.linspace(left, right, _SPOTS), np.linspace(low, high, _SPOTS))
    spots = np.column_stack([x.ravel(), y.ravel()])
    axes.imshow(
        knn_predict(known, codes, spots, n_neighbors=n_neighbors).reshape(x.shape),
        origin="lower",
        extent=(left, right, low, high),
        cmap=ListedColormap(_class_colors(int(codes.max()) + 1)),
        vmin=0,
        vmax=max(1, int(codes.max())),
        alpha=0.22,
        interpolation="nearest",
        zorder=0,
    )
    axes.set_aspect("equal", adjustable="box")


def _class_colors(n_classes: int) -> list[Any]:
    """One colour per class; many classes get those of a colour map."""
    from matplotlib import colormaps

    if n_classes <= len(CLASS_COLORS):
        return list(CLASS_COLORS[:n_classes])
    return list(colormaps["viridis"](np.linspace(0, 1, n_classes)))


# Curves


def loss_curve(metric: Any, *, axes: Axes | None = None) -> Axes:
    """Draw the loss during a fit; a dot marks a point if M changed since the point before.

    Parameters
    ----------
    metric : fitted estimator or SavedMetric
        With ``loss_curve_``, or the ``objective_curve_`` of LMNN.
    axes : matplotlib Axes, optional
        Where to draw; by default on a new figure.

    Returns
    -------
    matplotlib Axes
        The panel.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from calipers import TripletSGD
    >>> metric = TripletSGD("as-sgd", n_triplets=500).fit(*load_iris(return_X_y=True))
    >>> loss_curve(metric).get_xlabel()
    'triplets'
    """
    loss, objective = _fitted(metric, "loss_curve_"), _fitted(metric, "objective_curve_")
    curve = objective if loss is None else loss
    if curve is None:
        name = getattr(metric, "learner_", type(metric).__name__)
        raise ValueError(f"{name} keeps no loss curve: draw one of TripletSGD or another learner.")
    unit, place = "iterations" if loss is None else "points of the curve", np.arange(len(curve))
    for name, what in (("triplet_curve_", "triplets"), ("pair_curve_", "pairs")):
        seen = _fitted(metric, name)
        if seen is not None:
            unit, place = what, seen
    axes = _panel(axes)
    axes.plot(place, curve, color=_BLUE, linewidth=1.5)
    updates = _fitted(metric, "update_curve_")
    if updates is not None:
        rose = np.diff(updates, prepend=0) > 0
        axes.plot(place[rose], curve[rose], "o", color=_RED, markersize=4, label="updates")
        axes.legend(title=f"{int(np.max(updates, initial=0)):,} in all", frameon=False)
    axes.set_xlabel(unit)
    axes.set_ylabel("objective" if loss is None else "mean loss since the point before")
    return axes


def spectrum(metric: Any, *, axes: Axes | None = None) -> Axes:
    """Draw the eigenvalues of M, the largest first, on a logarithmic scale.

    Parameters
    ----------
    metric : fitted estimator or SavedMetric
        With ``components_``.
    axes : matplotlib Axes, optional
        Where to draw; by default on a new figure.

    Returns
    -------
    matplotlib Axes
        The panel.

    Examples
    --------
    >>> from calipers import Euclidean
    >>> spectrum(Euclidean().fit(np.eye(3))).get_ylabel()
    'eigenvalue of M'
    """
    values = eigenvalues(metric.components_)
    positive = values > values[0] * 1e-14
    axes = _panel(axes)
    rank = np.arange(1, len(values) + 1)
    axes.plot(rank[positive], values[positive], "o-", color=_BLUE, markersize=4)
    if positive.any():
        axes.set_yscale("log")
    axes.set_xlabel(f"number, of which {int(positive.sum())} are not 0")
    axes.set_ylabel("eigenvalue of M")
    return axes


# What a metric weighs


def feature_importances(
    metric: Any,
    *,
    feature_scale: npt.ArrayLike | None = None,
    top: int = 20,
    axes: Axes | None = None,
) -> Axes:
    """Draw the share of each feature in squared distances, the largest on top.

    Parameters
    ----------
    metric : fitted estimator or SavedMetric
        With ``components_``.
    feature_scale : array-like of shape (n_features,), optional
        Standard deviations of the features, ``X.std(axis=0)``. By default those of the training
        samples, ``metric.feature_scale_``.
    top : int, default=20
        Features to show.
    axes : matplotlib Axes, optional
        Where to draw; by default on a new figure.

    Returns
    -------
    matplotlib Axes
        The panel.

    Examples
    --------
    >>> from calipers import Euclidean
    >>> panel = feature_importances(Euclidean().fit(np.eye(3)), feature_scale=[1, 2, 3])
    >>> [label.get_text() for label in panel.get_yticklabels()]
    ['feature 3', 'feature 2', 'feature 1']
    """
    shares = feature_shares(metric.components_, _scale(metric, feature_scale))
    order = np.argsort(-shares, kind="stable")[:top]
    names, places = _names(metric, order), np.arange(len(order))
    axes = _panel(axes)
    axes.barh(places, 100 * shares[order], color=_BLUE)
    axes.set_yticks(places, names)
    axes.invert_yaxis()
    axes.set_xlabel("share of squared distances, %")
    return axes


def feature_interactions(
    metric: Any,
    *,
    feature_scale: npt.ArrayLike | None = None,
    top: int = 12,
    axes: Axes | None = None,
) -> Axes:
    """Draw M in units of the features' standard deviations, for the features that weigh most.

    On the diagonal is the weight of a feature alone. Blue beside it: two samples that differ in
    both features in the same sense are farther apart than by each feature alone. Red: they are
    nearer, as with correlated features that say the same thing.

    Parameters
    ----------
    metric : fitted estimator or SavedMetric
        With ``components_``.
    feature_scale : array-like of shape (n_features,), optional
        Standard deviations of the features; by default ``metric.feature_scale_``.
    top : int, default=12
        Features to show.
    axes : matplotlib Axes, optional
        Where to draw; by default on a new figure.

    Returns
    -------
    matplotlib Axes
        The panel.

    Examples
    --------
    >>> from calipers import Scaled
    >>> axes = feature_interactions(Scaled().fit([[0.0, 10.0], [1.0, 30.0], [3.0, 20.0]]))
    >>> axes.images[0].get_array().tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    scaled = metric.components_ * _scale(metric, feature_scale)
    order = np.argsort(-np.square(scaled).sum(axis=0), kind="stable")[:top]
    M = scaled[:, order].T @ scaled[:, order]
    names, places = _names(metric, order), np.arange(len(order))
    axes = _panel(axes)
    image = axes.imshow(M / (float(np.abs(M).max()) or 1.0), cmap="RdBu", vmin=-1, vmax=1)
    axes.set_xticks(places, names, rotation=60, ha="right", rotation_mode="anchor")
    axes.set_yticks(places, names)
    axes.spines[:].set_visible(False)
    axes.figure.colorbar(image, ax=axes, label="weight, the largest is 1", shrink=0.8)
    return axes


def _fitted(metric: Any, name: str) -> npt.NDArray[Any] | None:
    """Return a curve of an estimator, or the one that a saved metric holds."""
    curve = getattr(metric, name, getattr(metric, "facts_", {}).get(name))
    return None if curve is None else np.asarray(curve)


def _scale(metric: Any, feature_scale: npt.ArrayLike | None) -> FloatArray:
    """Return the given standard deviations, those kept with the metric, or 1."""
    kept = getattr(metric, "feature_scale_", None) if feature_scale is None else feature_scale
    n_features = metric.components_.shape[1]
    return np.ones(n_features) if kept is None else np.asarray(kept, dtype=np.float64)


def _names(metric: Any, places: IndexArray) -> list[str]:
    """Return names of features, as a picture shows them."""
    names = getattr(metric, "feature_names_in_", None)
    return [f"feature {i + 1}" if names is None else _plain(names[i]) for i in places]


def _plain(name: object) -> str:
    """Return a name without signs that matplotlib takes for mathematics, short enough."""
    return shortened(str(name)).replace("$", r"\$")


# Figures and panels


def figure_class() -> type[Figure]:
    """Return matplotlib's Figure.

    Raises
    ------
    ImportError
        matplotlib is not installed; the sentence says how to install it.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as missing:
        sentence = needs_package("A picture", "matplotlib", "plot")
        raise ImportError(sentence, name="matplotlib") from missing
    return Figure


def figure_of(panel: Axes) -> Figure:
    """Return the whole figure that a panel is a part of."""
    figure = panel.figure
    assert isinstance(figure, figure_class())
    return figure


def _new_figure(width: float, height: float) -> Figure:
    """Return a figure that a notebook shows, also where pyplot was not imported."""
    figure: Any = figure_class()(figsize=(width, height), dpi=150, layout="constrained")
    figure._repr_png_ = partial(_png, figure)
    return cast("Figure", figure)


def _png(figure: Figure) -> bytes:
    stream = io.BytesIO()
    figure.savefig(stream, format="png")
    return stream.getvalue()


def _panel(axes: Axes | None) -> Axes:
    """Return the given panel, or one on a new figure that a notebook shows, without a frame."""
    panel: Any = axes
    if panel is None:
        figure: Any = _new_figure(7, 4.5)
        panel = figure.subplots()
        panel._repr_png_ = figure._repr_png_
    panel.spines[["top", "right"]].set_visible(False)
    return cast("Axes", panel)
