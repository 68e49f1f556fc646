"""scikit-learn's LinearDiscriminantAnalysis with its defaults: classes - 1 components."""

from __future__ import annotations

from time import perf_counter

from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from benchmarks.learners.fitted import Fitted
from calipers.arrays import FloatArray, IndexArray


def fit(X: FloatArray, y: IndexArray, *, seed: int, cap: float) -> Fitted:
    """Fit; neither the seed nor the cap means anything to it."""
    started = perf_counter()
    model = LinearDiscriminantAnalysis().fit(X, y)
    seconds = perf_counter() - started
    # its transform is (X - mean) @ scalings, and the mean does not matter to distances
    return Fitted(model.scalings_[:, : model._max_components].T, seconds, None, False)
