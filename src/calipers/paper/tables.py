"""Rows of the experiments as tables for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.markup import escape

if TYPE_CHECKING:
    from rich.table import Table

    from calipers.paper.fingerprint import Comparison
    from calipers.paper.runs import Row, RunFile

_NOTHING = "-"


def fingerprint_table(rows: Sequence[Comparison]) -> Table:
    """Lay out our numbers beside the paper's, with the verdict where there is a tolerance."""
    table = _table("Updates (Table 6) and 3-NN error % (Table 4)", left=("data set", "method"))
    headings = ("runs", "updates", "paper", "diff", "allowed", "error", "paper", "diff", "allowed")
    for heading in headings:
        table.add_column(heading, justify="right")
    for row in rows:
        table.add_row(
            row.dataset,
            row.method,
            str(row.runs),
            f"{row.updates:,.1f}",
            f"{row.published_updates:,.1f}",
            f"{row.update_difference:+.1f} %",
            _verdict(row.update_difference, row.update_tolerance, " %"),
            f"{row.error:.2f}",
            f"{row.published_error:.1f}",
            f"{row.error_difference:+.2f}",
            _verdict(row.error_difference, row.error_tolerance, ""),
            end_section=row.method == "ha-sgd",
        )
    return table


def fingerprint_remarks(rows: Sequence[Comparison]) -> list[str]:
    """Say in sentences what the table cannot: how many runs, which data, how many missed."""
    few = sorted({row.dataset for row in rows if row.runs < 10})
    notes = sorted({f"{row.dataset}: {row.note}." for row in rows if row.note})
    judged = [row for row in rows if row.update_tolerance or row.error_tolerance]
    met = sum(row.within for row in judged)
    remarks = [f"{met} of {len(judged)} rows with a tolerance are within it.", *notes]
    if few:
        remarks.append(
            f"Means of fewer than ten runs: {', '.join(few)} (--seeds 10 takes ten; the paper "
            f"averages ten splits of semeion, connect4 and tdt30)."
        )
    return remarks


def paper_tables(rows: Sequence[Row]) -> list[Table]:
    """Lay out the errors, seconds and updates of the paper's tables, ours over the paper's."""
    from calipers.paper.report import words
    from calipers.paper.summary import Summary
    from calipers.paper.systems import SYSTEMS

    summary = Summary(rows)
    forms = (
        ("3-NN error % (Table 4)", summary.errors, words.error),
        ("Seconds to learn (Table 5)", summary.seconds, words.seconds),
        ("Updates (Table 6)", summary.updates, words.count),
    )
    tables = []
    for title, cells, show in forms:
        methods = [m for m in summary.methods if any(cells[n, m].runs for n in summary.names)]
        table = _table(f"{title}, the paper's below", left=("data set",))
        for method in methods:
            table.add_column(SYSTEMS[method].label, justify="right")
        for name in summary.names:
            own = [cells[name, method] for method in methods]
            both = (f"{show(cell.ours)}\n[dim]{show(cell.paper)}[/]" for cell in own)
            table.add_row(escape(name), *both)
        tables.append(table)
    return tables


def paper_remarks(rows: Sequence[Row], file: RunFile) -> list[str]:
    """Say in sentences what is missing, and which rows of the file were left alone."""
    from calipers.paper import remarks
    from calipers.paper.summary import Summary

    summary = Summary(rows)
    sentences = remarks.not_run(summary)
    all_rows = file.read()
    others = sum(1 for row in all_rows if row["identity"] != rows[-1]["identity"])
    if others:
        sentences.append(
            f"{others} rows of other settings, versions or machines are in {file.path}; they are "
            "not used."
        )
    if file.n_dropped:
        sentences.append(f"{file.n_dropped} lines of {file.path} are not whole rows: left out.")
    return [escape(sentence) for sentence in sentences]


def _table(title: str, *, left: Sequence[str]) -> Table:
    from rich import box
    from rich.table import Table

    table = Table(title=title, box=box.SIMPLE_HEAD, title_justify="left", padding=(0, 1))
    for heading in left:
        table.add_column(heading)
    return table


def _verdict(difference: float, tolerance: float | None, unit: str) -> str:
    if tolerance is None:
        return _NOTHING
    word = "[green]yes[/]" if abs(difference) <= tolerance else "[bold red]NO[/]"
    return f"{tolerance:g}{unit} {word}"
