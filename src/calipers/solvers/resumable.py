"""What solvers have in common: points of the loss curve, and a state to go on from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from calipers.arrays import FloatArray


@dataclass
class Point:
    """What one call of ``advance`` saw: a point of the loss curve."""

    n_examples: int  # triplets, or pairs, so far
    loss: float  # mean over those of the call
    n_updates: int  # so far


class State(NamedTuple):
    """What a solver goes on from: arrays, and facts that JSON can hold."""

    arrays: dict[str, npt.NDArray[Any]]
    facts: dict[str, Any]


def curve_array(curve: list[Point]) -> FloatArray:
    """Points as an array of shape (n_points, 3)."""
    rows = [(point.n_examples, point.loss, point.n_updates) for point in curve]
    return np.array(rows, dtype=np.float64).reshape(-1, 3)


def points_of(array: FloatArray) -> list[Point]:
    """The inverse of :func:`curve_array`."""
    return [Point(int(n), float(loss), int(updates)) for n, loss, updates in array]


class Resumable:
    """A solver whose next steps depend on attributes that it names, and on nothing else."""

    state_arrays: ClassVar[Sequence[str]]
    state_facts: ClassVar[Sequence[str]]
    curve: list[Point]

    def state(self) -> State:
        """Return everything that the next steps depend on, for :meth:`restore`."""
        arrays = {name: getattr(self, name).copy() for name in self.state_arrays}
        facts = {name: getattr(self, name) for name in self.state_facts}
        return State(arrays | {"curve": curve_array(self.curve)}, facts)

    def restore(self, state: State) -> None:
        """Continue from a state that :meth:`state` returned."""
        for name in self.state_arrays:
            setattr(self, name, state.arrays[name].copy())
        for name in self.state_facts:
            setattr(self, name, state.facts[name])
        self.curve[:] = points_of(state.arrays["curve"])
