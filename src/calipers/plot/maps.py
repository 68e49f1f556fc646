"""Samples in two dimensions: before and after learning, and with the regions of k-NN."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from calipers.arrays import FloatArray, IndexArray
from calipers.evaluation import knn_predict
from calipers.plot.figure import CLASS_COLORS, MARKERS, new_figure, panel

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SPOTS = 300  # across a map, each coloured by its vote


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
    panels = [np.asarray(X, dtype=np.float64), np.asarray(transformed, dtype=np.float64)]
    if not len(labels) == len(panels[0]) == len(panels[1]):
        raise ValueError(
            f"X, y and transformed must have as many samples as each other, "
            f"got {len(panels[0])}, {len(labels)} and {len(panels[1])}."
        )
    before, after = _new_axes() if axes is None else axes
    for axes_of, data, title in ((before, panels[0], "Before"), (after, panels[1], "After")):
        scatter(axes_of, principal_plane(data), labels, np.unique(labels))
        axes_of.set_title(title, loc="left", fontsize=12, fontweight="bold")
    legend_of_classes(after)
    return before, after


def legend_of_classes(axes: Axes) -> None:
    """Name the classes beside a panel, unless there are too many."""
    if len(axes.get_legend_handles_labels()[1]) <= len(CLASS_COLORS):
        axes.legend(
            title="class",
            loc="center left",
            bbox_to_anchor=(1.01, 0.5),
            frameon=False,
            markerscale=1.6,
        )


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
    axes = panel(axes)
    scatter(axes, new, truth, classes)
    for spine in axes.spines.values():
        spine.set_visible(False)
    _shade(axes, known, codes, new, n_neighbors=n_neighbors)
    wrong = classes[knn_predict(known, codes, new, n_neighbors=n_neighbors)] != truth
    ring(axes, new[wrong])
    return axes


def ring(axes: Axes, points: FloatArray) -> None:
    """Put a ring around each point: an error."""
    axes.scatter(
        points[:, 0], points[:, 1], s=130, facecolors="none", edgecolors="black", linewidths=1.4
    )


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


def _new_axes() -> tuple[Axes, Axes]:
    before, after = new_figure(11, 5).subplots(1, 2)
    return before, after


def scatter(
    axes: Axes,
    points: FloatArray,
    labels: npt.NDArray[Any],
    classes: npt.NDArray[Any] | None = None,
) -> None:
    """Draw one cloud per class; many classes get a colour map instead of a legend."""
    classes = np.unique(labels) if classes is None else classes
    colors = _class_colors(len(classes))
    few = len(classes) <= len(CLASS_COLORS)
    size = float(np.clip(20_000 / len(points), 4, 24))
    for number, label in enumerate(classes):
        cloud = points[labels == label]
        axes.scatter(
            cloud[:, 0],
            cloud[:, 1],
            s=size,
            color=colors[number],
            marker=MARKERS[number] if few else "o",
            alpha=0.8,
            linewidths=0,
            label=str(label),
            rasterized=True,
        )
    if few and max(len(str(label)) for label in classes) <= 3:  # longer names hide the points
        _name_clouds(axes, points, labels)
    axes.set_xlabel("first principal component")
    axes.set_ylabel("second")
    axes.set_xticks([])
    axes.set_yticks([])
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_aspect("equal", adjustable="datalim")


def _name_clouds(axes: Axes, points: FloatArray, labels: npt.NDArray[Any]) -> None:
    """Write the name of each class at the median of its cloud."""
    from matplotlib.patheffects import withStroke

    for number, label in enumerate(np.unique(labels)):
        x, y = np.median(points[labels == label], axis=0)
        axes.annotate(
            str(label),
            (x, y),
            ha="center",
            va="center",
            fontsize=15,
            fontweight="bold",
            color=CLASS_COLORS[number],
            path_effects=[withStroke(linewidth=4, foreground="white")],
        )
