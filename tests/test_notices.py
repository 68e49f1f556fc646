"""Warnings point to the line of the user, however they are reached."""

from __future__ import annotations

import numpy as np
import pytest

from calipers import LMNN, MetricCV, TripletSGD
from calipers.notices import DataWarning

X = np.random.default_rng(0).normal(size=(21, 3))
Y = np.append(np.repeat([0, 1], 10), 2)  # the last class is a singleton


@pytest.mark.parametrize("method", ["fit", "fit_transform"])
@pytest.mark.parametrize(
    "learner",
    [TripletSGD(n_triplets=1000), LMNN(), MetricCV([("one", TripletSGD(n_triplets=1000))])],
    ids=lambda learner: type(learner).__name__,
)
def test_a_warning_points_to_the_call(learner: TripletSGD, method: str) -> None:
    with pytest.warns(DataWarning) as caught:
        getattr(learner, method)(X, Y)
    assert [str(each.filename) for each in caught] == [__file__]
