"""A verdict as one HTML page that opens offline; every text from data is escaped."""

from __future__ import annotations

import base64
import io
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from calipers.cli.verdict import DISTANCES, Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt
    from matplotlib.figure import Figure

    from calipers.cli.encoded import Labelled

MOST_SHOWN = 30
"""Lines of a list of classes, samples or features."""


def page(verdict: Verdict, data: Labelled, *, source: str, figure: Figure | None) -> str:
    """Return the whole page."""
    first, *others = [*verdict.sentences(), verdict.selection()]
    sections = {
        "Errors of each class": _classes(verdict),
        "Confusions, raw": _confusion(verdict, "raw"),
        "Confusions, learned": _confusion(verdict, "learned"),
        "Samples that changed sides": _changed(verdict, data),
        "What the metric weighs": _weights(verdict),
    }
    notes = [*data.notes, *verdict.notes]
    if data.left_out:
        notes.insert(0, f"Left out: {', '.join(data.left_out)}.")
    if notes:
        sections["Notes"] = "<ul>" + "".join(f"<li>{escape(note)}</li>" for note in notes) + "</ul>"
    css = files("calipers.paper.report").joinpath("page.css").read_text(encoding="utf-8")
    body = "".join(
        f"<section><h2>{escape(title)}</h2>{content}</section>"
        for title, content in sections.items()
    )
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(source)}: is a learned distance better?</title><style>{css}"
        ".picture { margin-top: 16px; }"
        "img { width: 100%; min-width: 720px; background: #fff; border-radius: 8px; }"
        ".bar { background: var(--accent); height: .8em; display: inline-block; }"
        "td, th { white-space: nowrap; } td.text { min-width: 8ch; }</style></head><body>"
        f'<header><p class="over">{escape(source)}</p><h1>{escape(first)}</h1>'
        + "".join(f'<p class="lead">{escape(text)}</p>' for text in others if text)
        + f'<div class="tiles">{_tiles(verdict)}</div></header><main>'
        + _image(figure)
        + f"{body}</main><footer>{len(data.y):,} samples, each held out once in "
        f"{len(verdict.folds)} folds; errors are of {verdict.n_neighbors}-NN. Made by calipers "
        "evaluate.</footer></body></html>"
    )


def _tiles(verdict: Verdict) -> str:
    return "".join(
        f'<div class="tile"><b>{verdict.error(name):.1f} %</b><span>error, {name}</span></div>'
        for name in DISTANCES
    )


def _image(figure: Figure | None) -> str:
    if figure is None:
        return ""
    picture = io.BytesIO()
    figure.savefig(picture, format="png")
    data = base64.b64encode(picture.getvalue()).decode()
    alt = "Held-out samples under each distance; errors are ringed"
    return (
        f'<div class="scroll picture" tabindex="0"><img alt="{alt}" '
        f'src="data:image/png;base64,{data}"></div>'
    )


def _table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in a frame of its own that scrolls; the first cell of a row is its heading."""
    head = "".join(f'<th scope="col">{escape(text)}</th>' for text in headings)
    body = "".join(
        f'<tr><th scope="row">{escape(first)}</th>'
        + "".join(f"<td>{escape(cell)}</td>" for cell in cells)
        + "</tr>"
        for first, *cells in rows
    )
    return (
        f'<div class="scroll" tabindex="0"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def _truth(verdict: Verdict) -> npt.NDArray[Any]:
    import numpy as np

    return np.concatenate([fold.y_test for fold in verdict.folds])


def _classes(verdict: Verdict) -> str:
    import numpy as np

    truth = _truth(verdict)
    wrong = {name: verdict.wrong(name) for name in DISTANCES}
    rows = []
    for label in np.unique(truth):
        own = truth == label
        errors = (f"{100 * wrong[name][own].mean():.1f} %" for name in DISTANCES)
        rows.append([str(label), f"{own.sum():,}", *errors])
    return _table(["class", "samples", *DISTANCES], rows[:MOST_SHOWN]) + _more(len(rows))


def _confusion(verdict: Verdict, distance: str) -> str:
    import numpy as np

    truth = _truth(verdict)
    predicted = np.concatenate([held[distance].predicted for held in verdict.held])
    classes = np.unique(truth)[:MOST_SHOWN]
    rows = [
        [str(label), *(str(int(((truth == label) & (predicted == p)).sum())) for p in classes)]
        for label in classes
    ]
    headings = ["true class", *(f"as {label}" for label in classes)]
    return _table(headings, rows) + _more(len(np.unique(truth)))


def _changed(verdict: Verdict, data: Labelled) -> str:
    """Samples that only one of the raw and the learned distance gets right."""
    rows = []
    for fold, held in zip(verdict.folds, verdict.held, strict=True):
        raw, learned = held["raw"], held["learned"]
        right = {name: held[name].predicted == fold.y_test for name in ("raw", "learned")}
        for i in (right["raw"] != right["learned"]).nonzero()[0].tolist():
            told = "now right" if right["learned"][i] else "now wrong"
            cells = (
                ", ".join(
                    f"{data.y[j]} (row {data.row(j)})" for j in distance.neighbors[i].tolist()
                )
                for distance in (raw, learned)
            )
            rows.append([f"row {data.row(fold.test[i])}", str(fold.y_test[i]), told, *cells])
    if not rows:
        return "<p>None: the raw and the learned distance misclassify the same samples.</p>"
    rows.sort(key=lambda row: (row[2] == "now wrong", int(row[0].split()[1])))
    headings = ["sample", "class", "", "nearest, raw", "nearest, learned"]
    return _table(headings, rows[:MOST_SHOWN]) + _more(len(rows))


def _weights(verdict: Verdict) -> str:
    shares = list(verdict.importances().items())
    longest = max((share for _, share in shares), default=1.0) or 1.0
    rows = "".join(
        f'<tr><th scope="row">{escape(name)}</th><td>{100 * share:.1f} %</td>'
        f'<td class="text"><span class="bar" style="width:{16 * share / longest:.1f}em"></span>'
        "</td></tr>"
        for name, share in shares[:MOST_SHOWN]
    )
    return (
        "<p>Share of each feature in squared distances, by its spread among the samples that were "
        "learned from; mean over the folds.</p>"
        f'<div class="scroll" tabindex="0"><table><tbody>{rows}</tbody></table></div>'
    ) + _more(len(shares))


def _more(n: int) -> str:
    return f"<p>The first {MOST_SHOWN} of {n:,}.</p>" if n > MOST_SHOWN else ""
