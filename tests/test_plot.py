"""The picture before and after."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from matplotlib.collections import PathCollection
from matplotlib.figure import Figure

from calipers.plot import before_after, principal_plane


def test_every_row_is_drawn_once_in_each_panel() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 5)), np.arange(40) % 4
    for panel in before_after(X, y, X[:, :3]):
        clouds = [c for c in panel.collections if isinstance(c, PathCollection)]
        assert [len(cloud.get_offsets()) for cloud in clouds] == [10, 10, 10, 10]  # type: ignore[arg-type]


@pytest.mark.parametrize(("n_classes", "legend"), [(12, True), (13, False)])
def test_the_legend_ends_at_twelve_classes(n_classes: int, legend: bool) -> None:
    X = np.random.default_rng(0).normal(size=(26, 3))
    before, after = before_after(X, np.arange(26) % n_classes, X)
    assert before.get_legend() is None
    assert (after.get_legend() is not None) == legend


def test_given_axes_are_used_and_pyplot_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "matplotlib.pyplot", raising=False)
    figure = Figure()
    left, right = figure.subplots(1, 2)
    X = np.eye(4)
    assert before_after(X, [0, 0, 1, 1], X, axes=[left, right]) == (left, right)
    assert "matplotlib.pyplot" not in sys.modules


def test_the_plane_keeps_the_two_largest_variances() -> None:
    X = np.random.default_rng(0).normal(size=(200, 4)) * [1, 5, 0.1, 3]
    values = np.linalg.eigvalsh(np.cov(X.T))
    np.testing.assert_allclose(principal_plane(X).var(axis=0, ddof=1), values[:-3:-1])


def test_one_column_is_padded() -> None:
    X = np.arange(3.0)[:, None]
    np.testing.assert_allclose(principal_plane(X), [[-1, 0], [0, 0], [1, 0]], atol=1e-12)


def test_lengths_that_differ_get_a_sentence() -> None:
    with pytest.raises(ValueError, match="as many rows as each other, got 3, 2 and 3"):
        before_after(np.eye(3), [0, 1], np.eye(3))
