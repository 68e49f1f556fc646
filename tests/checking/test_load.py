"""Under load: fits by the dozen, threads by the dozen. ``python -m checks load`` does more."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from checks import load

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_memory_does_not_grow_with_the_number_of_fits() -> None:
    before, after = load.memory_over(20)  # loads and compiles
    before, after = load.memory_over(200)
    assert after - before <= 8.0, (before, after)


def test_threads_that_transform_at_once_get_what_one_gets() -> None:
    assert load.same_in_threads(16)


def test_threads_would_be_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """The check can fail: a transform that is random is noticed."""
    rng = np.random.default_rng(0)
    monkeypatch.setattr(
        "calipers.metric.mahalanobis.MahalanobisMixin.transform", lambda self, X: rng.random(len(X))
    )
    assert not load.same_in_threads(2)
