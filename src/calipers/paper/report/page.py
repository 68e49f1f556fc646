"""One HTML file that opens offline: tables as they are, pictures by scripts inside.

Every text that comes from data or rows goes through `html.escape` on its way into the
page; what scripts need is JSON (see `payload`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from html import escape
from importlib.resources import files
from statistics import median

from calipers.paper import remarks
from calipers.paper.report import words
from calipers.paper.report.payload import as_json, payload
from calipers.paper.report.words import Verdict
from calipers.paper.summary import ERROR_NEAR, UPDATES_NEAR, Cell, Summary
from calipers.paper.systems import SYSTEMS

Show = Callable[[float | None], str]
Gap = Callable[[Cell], tuple[Verdict, str] | None]

GROUPS = {"none": "Baseline", "batch": "Batch", "online": "Online", "sgd": "The paper's five"}


def page(summary: Summary) -> str:
    """The whole page."""
    spots = {
        "css": _file("page.css"),
        "chart": _file("chart.js"),
        "script": _file("page.js"),
        "payload": as_json(payload(summary)),
        "version": escape(str(_versions(summary).get("calipers", ""))),
        "tiles": _tiles(summary),
        "legend": _legend(f"at most {ERROR_NEAR:g} point apart"),
        "legend_updates": _legend(f"at most {UPDATES_NEAR:g} % apart"),
        "errors": _comparison(summary, summary.errors, words.error, words.error_gap),
        "seconds": _comparison(summary, summary.seconds, words.seconds, words.no_gap)
        + _mining(summary),
        "speedups": _speed_ups(summary),
        "updates": _comparison(summary, summary.updates, words.count, words.update_gap),
        "times": escape(remarks.TIMES),
        "skipped": escape(remarks.SKIPPED),
        "bounds": _bounds(summary),
        "study": _study(summary),
        "rates": escape(remarks.rates(summary)),
        "data": _data(summary),
        "farthest": _titled("Farthest from the paper", remarks.farthest(summary)),
        "differs": _list(remarks.unmatched(summary)),
        "notrun": _titled("Not run", remarks.not_run(summary)),
        "how": _list(remarks.protocol(summary)),
        "said": _titled("Said by the learners", remarks.said(summary)),
        "footer": escape(_footer(summary)),
    }
    return re.sub(r"@@(\w+)@@", lambda found: spots[found[1]], _file("page.html"))


def _file(name: str) -> str:
    return files("calipers.paper.report").joinpath(name).read_text(encoding="utf-8")


def _versions(summary: Summary) -> Mapping[str, str]:
    return summary.rows[-1].get("versions", {}) if summary.rows else {}


def _footer(summary: Summary) -> str:
    machine = summary.rows[-1].get("machine", {}) if summary.rows else {}
    facts = [f"{name} {value}" for name, value in {**machine, **_versions(summary)}.items()]
    when = [row["when"] for row in summary.rows if row.get("when")]
    dates = f"Rows written {min(when)[:16]} to {max(when)[:16]} UTC. " if when else ""
    return f"{dates}{', '.join(facts)}. Made by calipers paper from rows only."


def _tiles(summary: Summary) -> str:
    """The few numbers that a hurried reader takes home."""
    own = [data.name for data in summary.datasets if data.ours and not data.is_stand_in]
    five = [name for name, s in SYSTEMS.items() if s.kind == "sgd" and not s.reading_of]
    errors = [summary.errors[name, method].difference for name in own for method in five]
    updates = [summary.updates[name, "as-sgd"].per_cent for name in own]
    ran = sum(1 for row in summary.rows if "error" in row)
    tiles = [(f"{ran:,}", f"runs on {sum(1 for data in summary.datasets if data.ours)} data sets")]
    known = [abs(value) for value in errors if value is not None]
    if known:
        text = "median distance of errors from the paper's, its five methods"
        tiles.append((f"{median(known):.1f} points", text))
    known = [abs(value) for value in updates if value is not None]
    if known:
        tiles.append(
            (f"{median(known):.1f} %", "median distance of AS-SGD's updates from the paper's")
        )
    cells = [summary.speed_up(name, "hr-sgd") for name in summary.names]
    pairs = [(c.ours, c.paper) for c in cells if c.ours is not None and c.paper is not None]
    if pairs:
        ours, paper = (median(side) for side in zip(*pairs, strict=True))
        text = f"HR-SGD faster than SGD here, median (on the paper's machine {words.factor(paper)})"
        tiles.append((f"{words.factor(ours)} times", text))
    return "".join(
        f'<div class="tile"><b>{escape(value)}</b><span>{escape(text)}</span></div>'
        for value, text in tiles
    )


def _legend(near: str) -> str:
    kinds = ((words.NEAR, near), (words.LOWER, "ours is lower"), (words.HIGHER, "ours is higher"))
    signs = " ".join(
        f'<span class="gap {verdict.word}">{verdict.sign} {escape(text)}</span>'
        for verdict, text in kinds
    )
    return (
        f'<p class="legend"><b>ours</b> · the paper&#39;s · difference: {signs} · the lowest of '
        "ours in a row is underlined · † learned from so many samples only</p>"
    )


def _comparison(
    summary: Summary, table: Mapping[tuple[str, str], Cell], show: Show, gap: Gap
) -> str:
    """A table of the paper, each cell with ours, the paper's and the difference."""
    methods = summary.columns(table)
    body = []
    for name in summary.names:
        cells = {method: table[name, method] for method in methods}
        ours = [cell.ours for cell in cells.values() if cell.ours is not None]
        best = min(ours) if len(ours) > 1 else None
        parts = [
            _cell(cell, show, gap, best=best, first=_opens_group(method, methods))
            for method, cell in cells.items()
        ]
        body.append(_heading(summary, name) + "".join(parts))
    return _table(_headings(methods), body)


def _opens_group(method: str, methods: Sequence[str]) -> bool:
    """Whether another kind of system stands before it."""
    before = methods[: methods.index(method)]
    return all(SYSTEMS[other].kind != SYSTEMS[method].kind for other in before)


def _cell(
    cell: Cell, show: Show, gap: Gap | None, *, best: float | None = None, first: bool = False
) -> str:
    """A cell with ours, the paper's and a mark for the difference."""
    theirs = words.paper(cell, show) if cell.paper is not None or cell.says_none else ""
    paper = f'<span class="paper">{escape(theirs)}</span>'
    kinds = ["first"] if first else []
    if cell.ours is None:
        why = f' title="{escape(cell.why)}"' if cell.why else ""
        sign = "not run" if cell.why else words.NO_VALUE
        return f'<td class="{" ".join(["none", *kinds])}"{why}>{sign}<br>{paper}</td>'
    std = f"± {cell.std:.2g}, " if cell.std is not None else ""
    runs = f"{cell.runs} run" + ("s" if cell.runs > 1 else "")
    found = gap(cell) if gap else None
    mark = ""
    if found:
        verdict, text = found
        mark = f'<span class="gap {verdict.word}">{verdict.sign} {escape(text)}</span>'
    if best is not None and cell.ours == best:
        kinds.append("best")
    title = f' title="{std}{runs}"' if cell.runs else ""
    return (
        f'<td class="{" ".join(kinds)}"{title}><b>{escape(show(cell.ours) + words.mark(cell))}</b>'
        f'<span class="pack">{paper}{mark}</span></td>'
    )


def _headings(methods: Sequence[str]) -> str:
    groups: dict[str, int] = {}
    for method in methods:
        title = GROUPS[SYSTEMS[method].kind]
        groups[title] = groups.get(title, 0) + 1
    above = "".join(
        f'<th colspan="{n}" class="first">{escape(title)}</th>' for title, n in groups.items()
    )
    below = "".join(
        f'<th scope="col"{_first(m, methods)}>{escape(SYSTEMS[m].label)}</th>' for m in methods
    )
    return f'<tr class="groups"><th></th>{above}</tr><tr><th></th>{below}</tr>'


def _first(method: str, methods: Sequence[str]) -> str:
    return ' class="first"' if _opens_group(method, methods) else ""


def _heading(summary: Summary, name: str) -> str:
    data, mark = summary.dataset(name), ""
    if data.is_stand_in:
        mark = f'<br><span class="stand-in" title="{escape(data.note)}">stand-in</span>'
    elif data.ours is None:
        mark = f'<br><span class="stand-in" title="{escape(data.note)}">not here</span>'
    return f'<th scope="row">{escape(name)}{mark}</th>'


def _table(head: str, body: Sequence[str]) -> str:
    rows = "".join(f"<tr>{row}</tr>" for row in body)
    return (
        f'<div class="scroll" tabindex="0"><table><thead>{head}</thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )


def _speed_ups(summary: Summary) -> str:
    methods = [name for name in summary.methods if name not in ("euclidean", "sgd")]
    body = []
    for name in summary.names:
        cells = [
            _cell(summary.speed_up(name, m), words.factor, None, first=_opens_group(m, methods))
            for m in methods
        ]
        body.append(_heading(summary, name) + "".join(cells))
    return _table(_headings(methods), body)


def _mining(summary: Summary) -> str:
    """The seconds that Table 5 leaves out, in a sentence."""
    shared = [name for name, system in SYSTEMS.items() if system.kind in ("online", "sgd")]
    parts = []
    for name in summary.names:
        known = [summary.mining_seconds[name, method].ours for method in shared]
        seconds = next((value for value in known if value is not None), None)
        if seconds is not None:
            parts.append(f"{name} {words.seconds(seconds)}")
    if not parts:
        return ""
    return f"<p>Seconds to make the triplets, not in the table: {escape(', '.join(parts))}.</p>"


def _bounds(summary: Summary) -> str:
    titles = ("updates, ours", "paper's", "bound by slopes", "Theorem 2", "3 η L A²")
    head = "<tr><th></th>" + "".join(f'<th scope="col">{title}</th>' for title in titles) + "</tr>"
    body = []
    for name in summary.names:
        bound = summary.first(name, "as-sgd", "bound")
        if bound:
            cell = summary.updates[name, "as-sgd"]
            numbers = (cell.ours, cell.paper, bound["sharp"], bound["updates"])
            contraction = bound["contraction"]
            shown = [
                *map(words.count, numbers),
                words.NO_VALUE if contraction is None else f"{contraction:.3g}",
            ]
            body.append(_heading(summary, name) + "".join(f"<td>{text}</td>" for text in shown))
    if not body:
        return ""
    return _table(head, body) + (
        '<p class="legend">The bound on updates holds in any case; the bounds on the loss only '
        "where 3 η L A² &lt; 1, which the paper's own settings hardly ever meet.</p>"
    )


def _study(summary: Summary) -> str:
    titles = ("method", "parameter", "updates", "error, %", "seconds")
    head = "<tr><th></th>" + "".join(f'<th scope="col">{title}</th>' for title in titles) + "</tr>"
    body = [
        f'<th scope="row">{escape(row.dataset)}</th><td>{escape(row.label)}</td>'
        f"<td>{row.parameter} = {row.value:g}</td><td>{words.count(row.updates)}</td>"
        f"<td>{words.error(row.error)}</td><td>{words.seconds(row.seconds)}</td>"
        for row in summary.study
    ]
    return _table(head, body) if body else "<p>Not run: calipers paper --methods parameters.</p>"


def _data(summary: Summary) -> str:
    titles = ("classes", "features", "training samples", "test samples", "runs")
    head = "<tr><th></th>" + "".join(f'<th scope="col">{title}</th>' for title in titles)
    body = []
    for data in summary.datasets:
        numbers = []
        for k, _ in enumerate(titles[:-1]):
            ours, paper = data.ours and data.ours[k], data.paper and data.paper[k]
            text = f"{ours:,}" if ours is not None else words.NO_VALUE
            mark = "" if paper is None or ours == paper else f"paper {paper:,}"
            numbers.append(f'<td>{text}<br><span class="paper">{mark}</span></td>')
        numbers.append(f"<td>{data.runs}</td>")
        numbers.append(f'<td class="text">{escape(data.note)}</td>')
        body.append(_heading(summary, data.name) + "".join(numbers))
    return _table(f'{head}<th scope="col" class="text">note</th></tr>', body)


def _titled(title: str, sentences: Sequence[str]) -> str:
    return f"<h3>{escape(title)}</h3>{_list(sentences)}" if sentences else ""


def _list(sentences: Sequence[str]) -> str:
    return "<ul>" + "".join(f"<li>{escape(sentence)}</li>" for sentence in sentences) + "</ul>"
