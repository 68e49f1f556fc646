"""The report as one HTML file that opens offline: no script, pictures as SVG inside."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from calipers.search.ranking import MEASURES

if TYPE_CHECKING:
    from calipers.search.report import Comparison, RetrievalReport

_STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #5f6875; --line: #d5d9df;
  --paper: #fff; --before: #6b7280; --after: #0072b2; --won: #008060; --lost: #c0392b; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8eaed; --soft: #a3abb6; --line: #3a4048;
  --paper: #16181c; --before: #9aa3af; --after: #56b4e9; --won: #3fbf95; --lost: #ff7b6b; } }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper);
  max-width: 56rem; margin: 2rem auto; padding: 0 1rem; }
.verdict { font-size: 1.25rem; border-left: .4rem solid var(--lost); padding: .4rem 1rem; }
.verdict.helps { border-color: var(--won); }
table { border-collapse: collapse; margin: 1rem 0; }
th, td { padding: .2rem .8rem; text-align: right; border-bottom: 1px solid var(--line); }
th:first-child, td:first-child { text-align: left; overflow-wrap: anywhere; }
figure { margin: 1rem 0; overflow-x: auto; } figcaption, .note { color: var(--soft); }
svg { width: 100%; min-width: 30rem; height: auto; }
svg text { fill: var(--ink); font-size: 13px; } .axis { stroke: var(--line); }
.before { fill: var(--before); } .after { fill: var(--after); }
.won { fill: var(--won); } .lost { fill: var(--lost); } .change { stroke: var(--after); }
.lists { display: flex; flex-wrap: wrap; gap: 2rem; }
"""


def page(report: RetrievalReport) -> str:
    """Return the whole page; texts that come from data are escaped."""
    from calipers.version import __version__

    remarks = "".join(f"<p>{escape(remark)}</p>" for remark in report.remarks)
    kind = "helps" if report.helps else "none"
    parts = "".join(_section(one) for one in report.comparisons.values())
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Search report</title><style>{_STYLE}</style></head><body>"
        f'<h1>Search report</h1><p class="verdict {kind}">{escape(report.verdict)}</p>{remarks}'
        f'{parts}<p class="note">Calipers {escape(__version__)}. Scores are of 100. Intervals are '
        "95 % bootstrap intervals of the gain over queries.</p></body></html>\n"
    )


def _section(one: Comparison) -> str:
    from calipers.search.report import MEASURE_NAMES, TITLES

    rows = "".join(
        f"<tr><td>{MEASURE_NAMES[m]}</td><td>{100 * one.before[m]:.1f}</td>"
        f"<td>{100 * one.after[m]:.1f}</td><td>{100 * (one.after[m] - one.before[m]):+.1f}</td>"
        f"<td>{100 * one.interval[m][0]:+.1f} to {100 * one.interval[m][1]:+.1f}</td></tr>"
        for m in MEASURES
    )
    same = one.n_queries - one.won - one.lost
    saturation = f"<p>{escape(one.saturation)}</p>" if one.saturation else ""
    return (
        f'<section id="{one.name}"><h2>{TITLES[one.name]}</h2>'
        f"<p>{one.n_queries:,} queries: {one.won:,} won, {one.lost:,} lost, {same:,} the same.</p>"
        f"{saturation}{_before_after(one)}<table><tr><th>measure</th><th>before</th><th>after</th>"
        f"<th>gain</th><th>95 % interval</th></tr>{rows}</table>{_gains(one)}"
        f'<div class="lists">{_listed("Gained most", one.gained_most)}'
        f"{_listed('Lost most', one.lost_most)}</div></section>"
    )


def _before_after(one: Comparison) -> str:
    """Draw a line from before to after for each measure."""
    from calipers.search.report import MEASURE_NAMES

    def x(score: float) -> float:
        return 110 + 560 * score

    marks = "".join(
        f'<line class="axis" x1="{x(tick / 4)}" x2="{x(tick / 4)}" y1="10" y2="140"/>'
        f'<text x="{x(tick / 4)}" y="158" text-anchor="middle">{25 * tick}</text>'
        for tick in range(5)
    )
    for place, m in enumerate(MEASURES):
        y, before, after = 28 + 32 * place, x(one.before[m]), x(one.after[m])
        marks += (
            f'<text x="0" y="{y + 5}">{MEASURE_NAMES[m]}</text>'
            f'<line class="change" stroke-width="3" x1="{before:.1f}" '
            f'x2="{after:.1f}" y1="{y}" y2="{y}"/>'
            f'<circle class="before" cx="{before:.1f}" cy="{y}" r="6"/>'
            f'<circle class="after" cx="{after:.1f}" cy="{y}" r="6"/>'
        )
    return _figure(marks, 165, "Means before (grey) and after (blue).")


def _gains(one: Comparison) -> str:
    """Draw the gain of every query in nDCG@10, largest first."""
    gains = one.gains[::-1]
    step = max(1, len(gains) // 560)  # at most one bar a pixel
    shown = [gains[i] for i in range(0, len(gains), step)]
    width = 560 / len(shown)
    bars = "".join(
        f'<rect class="{"won" if gain > 0 else "lost"}" x="{110 + i * width:.2f}" '
        f'y="{80 - 70 * max(gain, 0.0):.1f}" width="{max(width, 1):.2f}" '
        f'height="{70 * abs(gain):.1f}"/>'
        for i, gain in enumerate(shown)
        if gain
    )
    axis = "".join(
        f'<line class="axis" x1="110" x2="670" y1="{80 - 70 * at}" y2="{80 - 70 * at}"/>'
        f'<text x="100" y="{85 - 70 * at}" text-anchor="end">{100 * at:+d}</text>'
        for at in (1, 0, -1)
    )
    return _figure(axis + bars, 160, "Gain of every query in nDCG@10, largest first.")


def _figure(marks: str, height: int, caption: str) -> str:
    return (
        f'<figure><svg viewBox="0 0 690 {height}" role="img" aria-label="{escape(caption)}">'
        f"{marks}</svg><figcaption>{escape(caption)}</figcaption></figure>"
    )


def _listed(title: str, queries: list[tuple[Any, float, float]]) -> str:
    if not queries:
        return ""
    rows = "".join(
        f"<tr><td>{escape(str(query))}</td><td>{100 * before:.0f}</td><td>{100 * after:.0f}</td>"
        "</tr>"
        for query, before, after in queries
    )
    return (
        f"<table><caption>{title}</caption><tr><th>query</th><th>before</th><th>after</th></tr>"
        f"{rows}</table>"
    )
