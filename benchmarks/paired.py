"""Paired differences, with standard errors."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

Pair: TypeAlias = tuple[Hashable, float, float]  # of a group: a value, and the baseline's


ROUNDING = 1e-9  # differences below are rounding errors of means


class Difference(NamedTuple):
    """A mean difference to a baseline."""

    value: float
    baseline: float
    change: float
    standard_error: float | None  # None for a single pair
    better: int
    worse: int

    @property
    def is_worse(self) -> bool:
        """Whether the value is higher by two standard errors."""
        error = self.standard_error
        return error is not None and self.change > ROUNDING and self.change >= 2 * error


def difference(values: npt.ArrayLike, baseline: npt.ArrayLike) -> Difference:
    """Mean of the differences of two lists.

    >>> difference([1.0, 4.0], [1.0, 2.0])
    Difference(value=2.5, baseline=1.5, change=1.0, standard_error=1.0, better=0, worse=1)
    """
    first, second = np.asarray(values, dtype=float), np.asarray(baseline, dtype=float)
    changes = first - second
    n = len(changes)
    return Difference(
        value=float(first.mean()),
        baseline=float(second.mean()),
        change=float(changes.mean()),
        standard_error=float(changes.std(ddof=1) / n**0.5) if n > 1 else None,
        better=int(np.sum(changes < -ROUNDING)),
        worse=int(np.sum(changes > ROUNDING)),
    )


def over_groups(pairs: Iterable[Pair]) -> Difference:
    """Mean over groups of the means within groups, with the standard error over groups."""
    groups: dict[Hashable, list[tuple[float, float]]] = defaultdict(list)
    for group, value, baseline in pairs:
        groups[group].append((value, baseline))
    means = np.array([np.mean(of_group, axis=0) for of_group in groups.values()])
    return difference(means[:, 0], means[:, 1])
