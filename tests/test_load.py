"""Under load: fits by the dozen, threads by the dozen. ``python -m checks load`` does more."""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np
import pytest

load = pytest.importorskip("checks.load", reason="the checks are not beside the tests")
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

MEMORY: Callable[[int], tuple[float, float]] = load.memory_over


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_memory_does_not_grow_with_the_number_of_fits() -> None:
    before, after = MEMORY(20)  # loads and compiles
    before, after = MEMORY(200)
    assert after - before <= 8.0, (before, after)


def test_threads_that_transform_at_once_get_what_one_gets() -> None:
    assert load.same_in_threads(16)


def test_threads_would_be_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """The check can fail: a transform with chance in it is noticed."""
    rng = np.random.default_rng(0)
    monkeypatch.setattr(
        "calipers.metric.MahalanobisMixin.transform", lambda self, X: rng.random(len(X))
    )
    assert not load.same_in_threads(2)
