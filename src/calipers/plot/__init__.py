"""Pictures of the data before and after learning, and of the metric itself.

matplotlib is the extra ``plot``. The functions import it, and use its figures only, never the
global state of pyplot.

Map of this package:

- `figure`: colours, shapes and panels;
- `maps`: samples in two dimensions;
- `curves`: the loss, the eigenvalues, errors against time;
- `weights`: what the metric weighs.
"""

from calipers.plot.curves import error_against_time, loss_curve, spectrum
from calipers.plot.figure import CLASS_COLORS, MARKERS, figure_class, figure_of
from calipers.plot.maps import before_after, knn_map, principal_plane
from calipers.plot.weights import feature_directions, feature_importances, feature_interactions

__all__ = [
    "CLASS_COLORS",
    "MARKERS",
    "before_after",
    "error_against_time",
    "feature_directions",
    "feature_importances",
    "feature_interactions",
    "figure_class",
    "figure_of",
    "knn_map",
    "loss_curve",
    "principal_plane",
    "spectrum",
]
