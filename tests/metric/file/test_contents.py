"""What a file holds: arrays by name, and groups of them with their plain entries."""

from __future__ import annotations

import numpy as np

from metric_files import ARRAYS, small_contents


def test_arrays_of_known_names_are_properties() -> None:
    contents = small_contents(similarity=np.eye(3))
    assert contents.components is ARRAYS["components"]
    assert contents.feature_scale is ARRAYS["feature_scale"]
    np.testing.assert_array_equal(contents.similarity, np.eye(3))
    without = small_contents(feature_scale=None)
    assert without.feature_scale is None
    assert without.similarity is None


def test_a_group_is_its_entries_and_its_arrays() -> None:
    init = np.zeros((2, 3))
    described = {"type": "ndarray", "shape": [2, 3], "dtype": "float64"}
    contents = small_contents(
        parameters={"init": described, "n_triplets": 3}, arrays={"parameters.init": init}
    )
    assert contents.group("parameters")["init"] is init
    assert contents.group("parameters")["n_triplets"] == 3
    assert contents.group("facts").keys() == {"n_updates_", "loss_curve_"}
    assert contents.parameters["init"] == described
