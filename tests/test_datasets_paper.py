"""The paper's data sets as they are in the data folder."""

from __future__ import annotations

import numpy as np
import pytest

from calipers import datasets
from calipers.evaluation import split_error
from calipers.experiments.published import SIZES
from data_folder import FOLDER, needs_data

pytestmark = needs_data

COMPLETE = ["semeion", "dna", "isolet", "tdt30", "letter", "connect4", "poker"]


@pytest.mark.parametrize("name", COMPLETE)
def test_sizes_are_those_of_table_1(name: str) -> None:
    data = datasets.load(name, data_dir=FOLDER)
    size = SIZES[name]
    assert data.X_train.shape == (size.n_train, size.n_features)
    assert data.X_test.shape == (size.n_test, size.n_features)
    assert len(np.unique(data.y_train)) == size.n_classes
    assert datasets.has_standard_split(name) == (name not in {"semeion", "tdt30", "connect4"})


def test_poker_says_that_it_is_simulated() -> None:
    assert "simulated" in datasets.load("poker", data_dir=FOLDER).note


def test_tdt30_is_reduced_once_per_process() -> None:
    first, second = (datasets.load("tdt30", data_dir=FOLDER, split=s) for s in (0, 1))
    np.testing.assert_array_equal(
        np.sort(np.r_[first.X_train[:, 0], first.X_test[:, 0]]),
        np.sort(np.r_[second.X_train[:, 0], second.X_test[:, 0]]),
    )


@pytest.mark.parametrize(
    ("name", "error"), [("dna", 20.40), ("isolet", 8.98), ("letter", 4.66), ("pendigits", 2.86)]
)
def test_euclidean_error(name: str, error: float) -> None:
    found = 100 * split_error(datasets.load(name, data_dir=FOLDER))
    assert found == pytest.approx(error, abs=0.005)
