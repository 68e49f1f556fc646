"""Pictures of data before and after a metric was learned.

matplotlib is imported inside the functions, and only its figures are used, never the
global state of pyplot.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from calipers.arrays import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLORS = (
    "#332288",
    "#e69f00",
    "#009e73",
    "#cc3311",
    "#56b4e9",
    "#aa4499",
    "#0072b2",
    "#ddcc77",
    "#882255",
    "#000000",
    "#999933",
    "#ee99aa",
)
"""From the palettes of Okabe and Ito and of Tol, made for colour-blind readers."""

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "p", "h", "d")
"""One shape per class as well, so that no reader depends on colour."""


def before_after(
    X: npt.ArrayLike,
    y: npt.ArrayLike,
    transformed: npt.ArrayLike,
    *,
    axes: Sequence[Axes] | None = None,
) -> tuple[Axes, Axes]:
    """Draw the data in two dimensions, as they were and under a learned metric.

    Each panel shows its two principal components; colour and shape tell the class, and
    up to twelve classes get a legend.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Data as they were.
    y : array-like of shape (n,)
        Labels.
    transformed : array-like of shape (n, k)
        The same rows under the metric, ``metric.transform(X)``.
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
            f"X, y and transformed must have as many rows as each other, "
            f"got {len(panels[0])}, {len(labels)} and {len(panels[1])}."
        )
    before, after = _new_axes() if axes is None else axes
    for panel, data, title in ((before, panels[0], "Before"), (after, panels[1], "After")):
        _scatter(panel, principal_plane(data), labels)
        panel.set_title(title, loc="left", fontsize=12, fontweight="bold")
    if len(np.unique(labels)) <= len(COLORS):
        after.legend(
            title="class",
            loc="center left",
            bbox_to_anchor=(1.01, 0.5),
            frameon=False,
            markerscale=1.6,
        )
    return before, after


def principal_plane(X: FloatArray) -> FloatArray:
    """Project rows onto their two principal directions.

    The larger end of each direction is made positive, so that the picture of the same data
    is the same on every machine. A single column is padded with zeros.

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
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 5), dpi=150, layout="constrained")
    before, after = figure.subplots(1, 2)
    return before, after


def _scatter(panel: Axes, points: FloatArray, labels: npt.NDArray[Any]) -> None:
    """Draw one cloud per class; many classes share a colour map instead of a legend."""
    from matplotlib import colormaps

    classes = np.unique(labels)
    many = colormaps["viridis"](np.linspace(0, 1, len(classes)))
    few = len(classes) <= len(COLORS)
    size = float(np.clip(20_000 / len(points), 4, 24))
    for number, label in enumerate(classes):
        cloud = points[labels == label]
        panel.scatter(
            cloud[:, 0],
            cloud[:, 1],
            s=size,
            color=COLORS[number] if few else many[number],
            marker=MARKERS[number] if few else "o",
            alpha=0.8,
            linewidths=0,
            label=str(label),
            rasterized=True,
        )
    if few:
        _name_clouds(panel, points, labels)
    panel.set_xlabel("first principal component")
    panel.set_ylabel("second")
    panel.set_xticks([])
    panel.set_yticks([])
    panel.spines[["top", "right"]].set_visible(False)
    panel.set_aspect("equal", adjustable="datalim")


def _name_clouds(panel: Axes, points: FloatArray, labels: npt.NDArray[Any]) -> None:
    """Write each class at the median of its cloud, so that the legend need not be read."""
    from matplotlib.patheffects import withStroke

    for number, label in enumerate(np.unique(labels)):
        x, y = np.median(points[labels == label], axis=0)
        panel.annotate(
            str(label),
            (x, y),
            ha="center",
            va="center",
            fontsize=15,
            fontweight="bold",
            color=COLORS[number],
            path_effects=[withStroke(linewidth=4, foreground="white")],
        )
