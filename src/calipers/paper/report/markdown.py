"""The tables and remarks as Markdown."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from calipers.paper import remarks
from calipers.paper.report import words
from calipers.paper.report.words import Verdict
from calipers.paper.summary import Cell, Summary
from calipers.paper.systems import SYSTEMS

Gap = Callable[[Cell], tuple[Verdict, str] | None]


def markdown(summary: Summary) -> str:
    """The whole report as a text that reads well as it is."""
    parts = [
        "# The paper's experiments, ours beside the paper's",
        "Qian, Jin, Yi, Zhang and Zhu (2013), *Efficient Distance Metric Learning by Adaptive "
        "Sampling and Mini-Batch Stochastic Gradient Descent*. Each cell: ours (paper; "
        "difference). ≈ near, ▼ ours is lower, ▲ ours is higher, † learned from so many samples "
        "only, * a stand-in for the paper's data.",
        "## Table 4: error of 3-NN, per cent",
        _comparison(summary, summary.errors, words.error, words.error_gap),
        "## Table 5: seconds, without making triplets",
        _comparison(summary, summary.seconds, words.seconds, words.no_gap),
        "## Table 5 as ratios: times faster than SGD, ours (paper)",
        _speed_ups(summary),
        "## Table 6: updates",
        _comparison(summary, summary.updates, words.count, words.update_gap),
        *_study(summary),
        "## Table 1: data",
        _data(summary),
        "## How it was run",
        _list(remarks.protocol(summary)),
        "## Where the paper cannot be matched",
        _list(remarks.unmatched(summary)),
    ]
    for title, sentences in (
        ("Farthest from the paper", remarks.farthest(summary)),
        ("Not run", remarks.not_run(summary)),
        ("Said by the learners", remarks.said(summary)),
    ):
        if sentences:
            parts += [f"## {title}", _list(sentences)]
    return "\n\n".join(parts) + "\n"


def _comparison(
    summary: Summary,
    table: Mapping[tuple[str, str], Cell],
    show: Callable[[float | None], str],
    gap: Gap,
) -> str:
    def text(cell: Cell) -> str:
        if cell.is_empty:
            return words.NO_VALUE
        found = gap(cell)
        inside = words.paper(cell, show) + (f"; {found[0].sign} {found[1]}" if found else "")
        if cell.paper is None and not cell.says_none:
            return f"{show(cell.ours)}{words.mark(cell)}"
        return f"{show(cell.ours)}{words.mark(cell)} ({inside})"

    methods = summary.columns(table)
    rows = [
        [_named(summary, name), *(text(table[name, method]) for method in methods)]
        for name in summary.names
    ]
    return _table(["", *(SYSTEMS[method].label for method in methods)], rows)


def _named(summary: Summary, name: str) -> str:
    """The name of a data set, with a star for a stand-in."""
    return f"{name}*" if summary.dataset(name).is_stand_in else name


def _study(summary: Summary) -> list[str]:
    """The parameter study as a section, if it was run."""
    if not summary.study:
        return []
    headings = ["", "method", "parameter", "updates", "error, %", "seconds"]
    rows = [
        [
            row.dataset,
            row.label,
            f"{row.parameter} = {row.value:g}",
            words.count(row.updates),
            words.error(row.error),
            words.seconds(row.seconds),
        ]
        for row in summary.study
    ]
    return ["## Parameter study", _table(headings, rows)]


def _speed_ups(summary: Summary) -> str:
    methods = [method for method in summary.methods if method not in ("euclidean", "sgd")]
    cells = {(n, m): summary.speed_up(n, m) for n in summary.names for m in methods}
    rows = [
        [
            _named(summary, name),
            *(f"{words.factor(c.ours)} ({words.factor(c.paper)})" for c in own),
        ]
        for name in summary.names
        for own in [[cells[name, method] for method in methods]]
    ]
    return _table(["", *(SYSTEMS[method].label for method in methods)], rows)


def _data(summary: Summary) -> str:
    headings = ["", "classes", "features", "training samples", "test samples", "runs", "note"]
    rows = []
    for data in summary.datasets:
        size = data.ours or data.paper
        numbers = [f"{number:,}" for number in size] if size else [words.NO_VALUE] * 4
        runs = str(data.runs) if data.ours else "not here"
        rows.append([data.name, *numbers, runs, data.note])
    return _table(headings, rows)


def _table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [headings, ["---", *(["---:"] * (len(headings) - 1))], *rows]
    return "\n".join(f"| {' | '.join(_escaped(cell) for cell in line)} |" for line in lines)


def _list(sentences: Sequence[str]) -> str:
    return "\n".join(f"- {_escaped(sentence)}" for sentence in sentences)


def _escaped(text: str) -> str:
    """The text with nothing in it that Markdown or HTML would take for markup."""
    one_line = " ".join(text.split())
    safe = one_line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"([|\\`*_\[\]])", r"\\\1", safe)
