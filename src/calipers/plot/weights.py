"""What a metric weighs: features, pairs of features, directions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from calipers.arrays import FloatArray, IndexArray
from calipers.data.files.errors import shortened
from calipers.metric.mahalanobis import feature_shares
from calipers.plot.figure import CLASS_COLORS, panel

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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
    shown = _names(metric, order)
    axes = panel(axes)
    axes.barh(np.arange(len(order)), 100 * shares[order], color=CLASS_COLORS[6])
    axes.set_yticks(np.arange(len(order)), shown)
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
    shown, places = _names(metric, order), np.arange(len(order))
    axes = panel(axes)
    limit = float(np.abs(M).max()) or 1.0
    image = axes.imshow(M / limit, cmap="RdBu", vmin=-1, vmax=1)
    axes.set_xticks(places, shown, rotation=60, ha="right", rotation_mode="anchor")
    axes.set_yticks(places, shown)
    axes.spines[:].set_visible(False)
    axes.figure.colorbar(image, ax=axes, label="weight, the largest is 1", shrink=0.8)
    return axes


def feature_directions(
    metric: Any,
    *,
    feature_scale: npt.ArrayLike | None = None,
    n_directions: int = 2,
    top: int = 10,
    axes: Axes | None = None,
) -> Axes:
    """Draw the directions in which the metric sees most: what a standard deviation of each adds.

    The directions are eigenvectors of M in units of the features' standard deviations. Bars of
    one sign work together, bars of opposite signs against each other.

    Parameters
    ----------
    metric : fitted estimator or SavedMetric
        With ``components_``.
    feature_scale : array-like of shape (n_features,), optional
        Standard deviations of the features; by default ``metric.feature_scale_``.
    n_directions : int, default=2
        Directions to show, one colour each.
    top : int, default=10
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
    >>> axes = feature_directions(Euclidean().fit([[0.0, 0.0], [1.0, 9.0]]), n_directions=1)
    >>> [label.get_text() for label in axes.get_yticklabels()]
    ['feature 2', 'feature 1']
    """
    scaled = metric.components_ * _scale(metric, feature_scale)
    _, lengths, axes_of_M = np.linalg.svd(scaled, full_matrices=False)
    n = min(n_directions, len(lengths))
    peaks = np.take_along_axis(axes_of_M, np.abs(axes_of_M).argmax(axis=1)[:, None], axis=1)
    loadings = (axes_of_M * np.sign(peaks) * lengths[:, None])[:n]
    order = np.argsort(-np.abs(loadings).max(axis=0), kind="stable")[:top]
    total = float(np.square(lengths).sum()) or 1.0
    axes = panel(axes)
    height = 0.8 / n
    for number, loading in enumerate(loadings[:, order]):
        share = 100 * lengths[number] ** 2 / total
        places = np.arange(len(order)) + (number - (n - 1) / 2) * height
        label = f"direction {number + 1}, {share:.0f} % of the weight"
        axes.barh(places, loading, height, color=CLASS_COLORS[number], label=label)
    axes.axvline(0, color="black", linewidth=0.8)
    axes.set_yticks(np.arange(len(order)), _names(metric, order))
    axes.invert_yaxis()
    axes.set_xlabel("distance that one standard deviation adds")
    axes.legend(frameon=False, loc="lower left", bbox_to_anchor=(0, 1))
    return axes


def _scale(metric: Any, feature_scale: npt.ArrayLike | None) -> FloatArray:
    """Return the given standard deviations, those kept with the metric, or 1."""
    kept = getattr(metric, "feature_scale_", None) if feature_scale is None else feature_scale
    n_features = metric.components_.shape[1]
    return np.ones(n_features) if kept is None else np.asarray(kept, dtype=np.float64)


def _names(metric: Any, places: IndexArray) -> list[str]:
    """Return names of features, without signs that matplotlib takes for mathematics."""
    names = getattr(metric, "feature_names_in_", None)
    found = [f"feature {i + 1}" if names is None else str(names[i]) for i in places]
    return [shortened(name).replace("$", r"\$") for name in found]
