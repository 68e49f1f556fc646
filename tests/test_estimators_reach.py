"""Anchors that are far from all others do not lead the walk."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from calipers import TripletSGD
from calipers.arrays import FloatArray, IndexArray
from calipers.estimators.inputs import typical_far
from calipers.evaluation import knn_error
from calipers.solver import Solver
from calipers.triplets import RowsInMemory, each_far_row_once


def long_tailed(seed: int) -> tuple[FloatArray, IndexArray, npt.NDArray[np.bool_]]:
    """Two classes that differ by the first feature; every twentieth row is far away."""
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=400)
    X = rng.standard_normal((400, 6))
    X[:, 0] += 2.5 * y
    lengths = 30.0 * np.exp(1.5 * rng.standard_normal(400))
    is_far = np.arange(400) % 20 == 0
    return X * np.where(is_far, lengths, 1.0)[:, None], y, is_far


def test_rows_far_away_do_not_spoil_the_rest() -> None:
    (X, y, _), (other, labels, is_far) = long_tailed(2), long_tailed(102)
    model = TripletSGD(start="identity", guard=False, random_state=0).fit(X, y)
    asked, expected = model.transform(other[~is_far]), labels[~is_far]
    assert knn_error(model.transform(X), y, asked, expected) < 0.2


@pytest.mark.parametrize("scale", ["triplets", "none"])
@pytest.mark.parametrize(
    ("settings", "times"),
    [({}, 2.0), ({"method": "mini-sgd"}, np.inf), ({"batch_size": 30}, np.inf)],
)
def test_reach_is_twice_the_usual_distance(
    settings: dict[str, Any], times: float, scale: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y, _ = long_tailed(0)
    reaches: list[tuple[float, float]] = []
    made = Solver.__init__

    def told(self: Solver, recipe: Any, *rest: Any, **more: Any) -> None:
        made(self, recipe, *rest, **more)
        reaches.append((recipe.reach, recipe.crossed))

    monkeypatch.setattr(Solver, "__init__", told)
    model = TripletSGD(
        scale=scale, n_stages=1, start="identity", guard=False, random_state=0, **settings
    )
    model.fit(X, y)
    source = model._drawn(RowsInMemory(X, y), model._shares(RowsInMemory(X, y))[0], _stream())
    ((reach, crossed),) = reaches
    first = each_far_row_once(next(source.portions(65_536)), int(crossed))
    assert reach == pytest.approx(times * typical_far(X, first) ** 0.5)


def _stream() -> np.random.Generator:
    """The stream of triplets of ``random_state=0``."""
    stream: np.random.Generator = TripletSGD(random_state=0)._streams()[0]
    return stream


def test_far_rows_that_are_the_anchors_have_no_usual_distance() -> None:
    X = np.repeat(np.arange(4.0), 30)[:, None]
    fitted = TripletSGD(guard=False, random_state=0).fit(X, np.arange(120) % 2)
    assert np.isfinite(fitted.components_).all()
