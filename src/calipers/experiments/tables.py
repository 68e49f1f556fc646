"""Rows of the experiments as tables for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table

    from calipers.experiments.demo import Row
    from calipers.experiments.fingerprint import Comparison

_NOTHING = "-"


def demo_table(rows: Sequence[Row]) -> Table:
    """Lay out what each method of the demonstration did."""
    table = _table("3-NN on embedded digits", left=("method",))
    for heading in ("error %", "updates", "projections", "mining s", "solve s"):
        table.add_column(heading, justify="right")
    for row in rows:
        table.add_row(
            row.method,
            f"{row.error:.2f}",
            _whole(row.updates),
            _whole(row.projections),
            _seconds(row.mining_seconds),
            _seconds(row.solve_seconds),
        )
    return table


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


def _table(title: str, *, left: Sequence[str]) -> Table:
    from rich import box
    from rich.table import Table

    table = Table(title=title, box=box.SIMPLE_HEAD, title_justify="left", padding=(0, 1))
    for heading in left:
        table.add_column(heading)
    return table


def _whole(number: int | None) -> str:
    return _NOTHING if number is None else f"{number:,}"


def _seconds(number: float | None) -> str:
    return _NOTHING if number is None else f"{number:.2f}"


def _verdict(difference: float, tolerance: float | None, unit: str) -> str:
    if tolerance is None:
        return _NOTHING
    word = "[green]yes[/]" if abs(difference) <= tolerance else "[bold red]NO[/]"
    return f"{tolerance:g}{unit} {word}"
