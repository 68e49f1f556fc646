"""Pictures of the data before and after learning, and of the metric itself.

matplotlib is the extra ``plot``. The functions import it, and use its figures only, never the
global state of pyplot.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from calipers.arrays import FloatArray
from calipers.metric import feature_shares
from calipers.metric import spectrum as eigenvalues

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CLASS_COLORS = (
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
        raise ImportError(
            "Pictures need matplotlib: pip install 'calipers[plot]'.", name="matplotlib"
        ) from missing
    return Figure


def figure_of(panel: Axes) -> Figure:
    """Return the whole figure that a panel is a part of."""
    figure = panel.figure
    assert isinstance(figure, figure_class())
    return figure


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
    for panel, data, title in ((before, panels[0], "Before"), (after, panels[1], "After")):
        _scatter(panel, principal_plane(data), labels)
        panel.set_title(title, loc="left", fontsize=12, fontweight="bold")
    if len(np.unique(labels)) <= len(CLASS_COLORS):
        after.legend(
            title="class",
            loc="center left",
            bbox_to_anchor=(1.01, 0.5),
            frameon=False,
            markerscale=1.6,
        )
    return before, after


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
    loss, unit = _fitted(metric, "loss_curve_"), "triplets"
    seen = _fitted(metric, "triplet_curve_")
    if loss is None:
        loss, unit = _fitted(metric, "objective_curve_"), "iterations"
    if loss is None:
        name = getattr(metric, "learner_", type(metric).__name__)
        raise ValueError(f"{name} keeps no loss curve: draw one of TripletSGD or another learner.")
    if seen is None:
        seen = _fitted(metric, "pair_curve_")
        unit = unit if seen is None else "pairs"
        unit = "points of the curve" if seen is None and unit == "triplets" else unit
    place = np.arange(len(loss)) if seen is None else np.asarray(seen)
    axes = _panel(axes)
    axes.plot(place, loss, color=CLASS_COLORS[6], linewidth=1.5)
    updates = _fitted(metric, "update_curve_")
    if updates is not None:
        rose = np.diff(updates, prepend=0) > 0
        axes.plot(
            place[rose], loss[rose], "o", color=CLASS_COLORS[3], markersize=4, label="updates"
        )
        axes.legend(title=f"{int(np.max(updates, initial=0)):,} in all", frameon=False)
    axes.set_xlabel(unit)
    axes.set_ylabel("mean loss since the point before" if unit != "iterations" else "objective")
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
    axes.plot(rank[positive], values[positive], "o-", color=CLASS_COLORS[6], markersize=4)
    if positive.any():
        axes.set_yscale("log")
    axes.set_xlabel(f"number, of which {int(positive.sum())} are not 0")
    axes.set_ylabel("eigenvalue of M")
    return axes


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
        Standard deviations of the features, ``X.std(axis=0)``. By default those of a saved
        metric; without any, all features have the same.
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
    if feature_scale is None:
        feature_scale = getattr(metric, "feature_scale_", None)
    scale = None if feature_scale is None else np.asarray(feature_scale, dtype=np.float64)
    shares = feature_shares(metric.components_, scale)
    order = np.argsort(-shares, kind="stable")[:top]
    names = getattr(metric, "feature_names_in_", None)
    shown = [f"feature {i + 1}" if names is None else str(names[i]) for i in order]
    axes = _panel(axes)
    axes.barh(np.arange(len(order)), 100 * shares[order], color=CLASS_COLORS[6])
    axes.set_yticks(np.arange(len(order)), [name.replace("$", r"\$") for name in shown])
    axes.invert_yaxis()
    axes.set_xlabel("share of squared distances, %")
    return axes


def error_against_time(
    runs: Mapping[str, tuple[npt.ArrayLike, npt.ArrayLike]], *, axes: Axes | None = None
) -> Axes:
    """Draw errors against seconds, one line per method.

    Parameters
    ----------
    runs : mapping of str to (seconds, errors)
        Times of each method, and its errors in per cent at those times.
    axes : matplotlib Axes, optional
        Where to draw; by default on a new figure.

    Returns
    -------
    matplotlib Axes
        The panel.

    Examples
    --------
    >>> panel = error_against_time({"as-sgd": ([0.1, 1.0], [9.0, 5.0]), "lmnn": ([3.0], [4.8])})
    >>> panel.get_xscale()
    'log'
    """
    axes = _panel(axes)
    for number, (name, (seconds, errors)) in enumerate(runs.items()):
        times, values = np.asarray(seconds, dtype=float), np.asarray(errors, dtype=float)
        if times.shape != values.shape or times.ndim != 1:
            raise ValueError(
                f"{name!r} must have as many errors as seconds, got shapes {times.shape} and "
                f"{values.shape}."
            )
        # a colour that repeats gets another shape
        cycle, place = divmod(number, len(CLASS_COLORS))
        color, marker = CLASS_COLORS[place], MARKERS[(place + cycle) % len(MARKERS)]
        axes.plot(times, values, label=name, markersize=5, color=color, marker=marker)
    axes.set_xscale("log")
    axes.set_xlabel("seconds")
    axes.set_ylabel("error, %")
    if runs:
        axes.legend(frameon=False)
    return axes


def _fitted(metric: Any, name: str) -> npt.NDArray[Any] | None:
    """Return a curve of an estimator, or the one that a saved metric holds."""
    curve = getattr(metric, name, None)
    return getattr(metric, "facts_", {}).get(name) if curve is None else np.asarray(curve)


def _panel(axes: Axes | None) -> Axes:
    """Return the given panel, or one on a new figure, without a frame."""
    if axes is None:
        axes = figure_class()(figsize=(7, 4.5), dpi=150, layout="constrained").subplots()
    axes.spines[["top", "right"]].set_visible(False)
    return axes


def _new_axes() -> tuple[Axes, Axes]:
    figure = figure_class()(figsize=(11, 5), dpi=150, layout="constrained")
    before, after = figure.subplots(1, 2)
    return before, after


def _scatter(panel: Axes, points: FloatArray, labels: npt.NDArray[Any]) -> None:
    """Draw one cloud per class; many classes get a colour map instead of a legend."""
    from matplotlib import colormaps

    classes = np.unique(labels)
    many = colormaps["viridis"](np.linspace(0, 1, len(classes)))
    few = len(classes) <= len(CLASS_COLORS)
    size = float(np.clip(20_000 / len(points), 4, 24))
    for number, label in enumerate(classes):
        cloud = points[labels == label]
        panel.scatter(
            cloud[:, 0],
            cloud[:, 1],
            s=size,
            color=CLASS_COLORS[number] if few else many[number],
            marker=MARKERS[number] if few else "o",
            alpha=0.8,
            linewidths=0,
            label=str(label),
            rasterized=True,
        )
    if few and max(len(str(label)) for label in classes) <= 3:  # longer names hide the points
        _name_clouds(panel, points, labels)
    panel.set_xlabel("first principal component")
    panel.set_ylabel("second")
    panel.set_xticks([])
    panel.set_yticks([])
    panel.spines[["top", "right"]].set_visible(False)
    panel.set_aspect("equal", adjustable="datalim")


def _name_clouds(panel: Axes, points: FloatArray, labels: npt.NDArray[Any]) -> None:
    """Write the name of each class at the median of its cloud."""
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
            color=CLASS_COLORS[number],
            path_effects=[withStroke(linewidth=4, foreground="white")],
        )
