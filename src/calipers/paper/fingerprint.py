"""Our numbers of updates and errors beside the paper's Tables 6 and 4.

Once features and triplets are fixed AS-SGD has no free choice left, so its number of
updates is the paper's fingerprint. HR-SGD and HA-SGD depend on what the paper does not say; the
readings that come nearest were chosen on these very numbers, and are held to them where they meet
them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from calipers.paper import datasets, published
from calipers.paper.systems import SYSTEMS

if TYPE_CHECKING:
    from calipers.paper.progress import Meter

ADAPTIVE_METHODS = ("as-sgd", "hr-sgd", "hr-sgd-sum", "ha-sgd")

FINGERPRINT_RUNS = {
    "semeion": 10,
    "dna": 10,
    "isolet": 3,
    "tdt30": 10,
    "letter": 10,
    "connect4": 3,
    "poker": 3,
}
"""Runs whose mean is reported; each has its own seed, and split where none is standard.

The paper averages ten splits of semeion, tdt30 and connect4. From split to split the
updates of AS-SGD scatter by 4 % on tdt30, so it needs them; on connect4 three will do.
"""

QUICK_RUNS = {"semeion": 2, "dna": 1}
"""The same for a first look of a few seconds."""

UPDATE_TOLERANCES: Mapping[str, Mapping[str, float]] = {
    "as-sgd": {
        "semeion": 10,
        "dna": 10,
        "isolet": 5,
        "tdt30": 5,
        "letter": 5,
        "connect4": 5,
        "poker": 5,
    },
    "hr-sgd": {"semeion": 15, "dna": 15, "isolet": 15},
    "hr-sgd-sum": dict.fromkeys(FINGERPRINT_RUNS, 15),
    "ha-sgd": {"dna": 15, "tdt30": 20, "letter": 20, "connect4": 15, "poker": 20},
}
"""Per cent by which our number of updates may differ from the paper's.

Those of the hybrid methods were set after their numbers had been seen, so that a change is
noticed; they are no evidence for a reading. HA-SGD has none on semeion and isolet, where single
runs are far from the paper's count, and wider ones where it scatters from seed to seed.
"""

ERROR_TOLERANCE = 1.0
"""Points by which AS-SGD's 3-NN error may differ from the paper's."""


@dataclass(frozen=True)
class Comparison:
    """One method on one data set, ours (mean over runs) and the paper's.

    Attributes
    ----------
    dataset, method : str
        What was run.
    runs : int
        How many runs the means are over.
    updates, published_updates : float
        Number of updates, ours and in Table 6.
    error, published_error : float
        3-NN error in per cent, ours and in Table 4.
    update_tolerance : float or None
        Allowed difference of updates in per cent, if any is set.
    error_tolerance : float or None
        Allowed difference of errors in points, if any is set.
    note : str
        What else to know about the data.
    """

    dataset: str
    method: str
    runs: int
    updates: float
    published_updates: float
    error: float
    published_error: float
    update_tolerance: float | None
    error_tolerance: float | None
    note: str = ""

    @property
    def update_difference(self) -> float:
        """Difference of updates in per cent of the paper's."""
        return 100 * (self.updates / self.published_updates - 1)

    @property
    def error_difference(self) -> float:
        """Difference of errors in points."""
        return self.error - self.published_error

    @property
    def within(self) -> bool:
        """Whether no tolerance is exceeded."""
        return _within(self.update_difference, self.update_tolerance) and _within(
            self.error_difference, self.error_tolerance
        )


def _within(difference: float, tolerance: float | None) -> bool:
    return tolerance is None or abs(difference) <= tolerance


def plan(
    names: Sequence[str] | None = None, *, quick: bool = False, runs: int | None = None
) -> dict[str, int]:
    """Choose the data sets and how many runs each gets.

    Examples
    --------
    >>> plan(quick=True)
    {'semeion': 2, 'dna': 1}
    >>> plan(["isolet"], runs=3)
    {'isolet': 3}
    """
    for name in names or ():
        if name not in published.UPDATES:
            raise datasets.DatasetError(
                f"The paper has no numbers for {name!r}: choose among "
                f"{', '.join(FINGERPRINT_RUNS)}."
            )
    usual = QUICK_RUNS if quick else FINGERPRINT_RUNS
    return {name: runs or usual.get(name, 1) for name in (names or usual)}


def run(
    chosen: Mapping[str, int], *, data_dir: str | None = None, meter: Meter
) -> Iterator[Comparison]:
    """Yield the comparisons of each data set as soon as it is done."""
    for name in chosen:
        datasets.require(name, data_dir=data_dir, report=meter.download)
    for name, runs in chosen.items():
        yield from _compare(name, runs, data_dir=data_dir, meter=meter)


def _compare(name: str, runs: int, *, data_dir: str | None, meter: Meter) -> list[Comparison]:
    """Run every method on each split or seed of one data set."""
    updates = dict.fromkeys(ADAPTIVE_METHODS, 0)
    errors = dict.fromkeys(ADAPTIVE_METHODS, 0.0)
    for number in range(runs):
        split = 0 if datasets.has_standard_split(name) else number
        with meter.step(f"{name} {number + 1}/{runs}: reading", weight=0):
            data = datasets.load(name, data_dir=data_dir, split=split)
        for method in ADAPTIVE_METHODS:
            with meter.step(f"{name} {number + 1}/{runs}: {method}") as advance:
                n_updates, error = _score(method, data, seed=number, callback=advance)
            updates[method] += n_updates
            errors[method] += error
    return [
        Comparison(
            dataset=name,
            method=method,
            runs=runs,
            updates=updates[method] / runs,
            published_updates=published.UPDATES[name][SYSTEMS[method].published],
            error=errors[method] / runs,
            published_error=published.ERRORS[name][SYSTEMS[method].published],
            update_tolerance=UPDATE_TOLERANCES.get(method, {}).get(name),
            error_tolerance=ERROR_TOLERANCE if method == "as-sgd" else None,
            note=data.note,
        )
        for method in ADAPTIVE_METHODS
    ]


def _score(method: str, data: datasets.Split, *, seed: int, callback: object) -> tuple[int, float]:
    """Fit with the paper's settings; return updates and the 3-NN error in per cent."""
    from calipers.paper.protocol import split_error

    metric = SYSTEMS[method].make(seed=seed).set_callbacks(callback)
    metric.fit(data.X_train, data.y_train)
    return metric.n_updates_, 100 * split_error(data, metric)
