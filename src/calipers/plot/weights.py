"""What a metric weighs: features, pairs of features, directions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from calipers.metric import feature_shares
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
    axes = panel(axes)
    axes.barh(np.arange(len(order)), 100 * shares[order], color=CLASS_COLORS[6])
    axes.set_yticks(np.arange(len(order)), [name.replace("$", r"\$") for name in shown])
    axes.invert_yaxis()
    axes.set_xlabel("share of squared distances, %")
    return axes
