"""The paper's protocol."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from calipers.evaluation import knn_error
from calipers.paper.datasets import load
from calipers.paper.protocol import split_error


def test_split_error_applies_the_metric_to_both_parts() -> None:
    class SepalWidth:
        def transform(self, X: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
            return np.asarray(X * [0, 2, 0, 0])

    data = load("iris")
    expected = knn_error(data.X_train[:, 1:2], data.y_train, data.X_test[:, 1:2], data.y_test)
    assert split_error(data, SepalWidth()) == expected
    assert split_error(data) < expected
