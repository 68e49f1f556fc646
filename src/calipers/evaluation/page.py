"""A report as one HTML page that opens offline: one template, no script, pictures inside as SVG.

What `page`, `table`, `listed` and `paragraph` are given as texts may come from data: it is
escaped.
"""

from __future__ import annotations

import io
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib.resources import files
from string import Template
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ROWS_SHOWN = 30
"""Rows of a table."""


def page(
    title: str,
    *,
    over: str = "",
    lead: Iterable[str] = (),
    sections: Mapping[str, str],
    footer: str = "",
) -> str:
    """Return the whole page.

    Parameters
    ----------
    title : str
        What came out, in one sentence.
    over : str
        A line above the title, such as the name of the data.
    lead : iterable of str
        Paragraphs below the title.
    sections : mapping of str to str
        HTML of each section by its heading; a section without HTML is left out.
    footer : str
        The last line.
    """
    template = Template(files("calipers.evaluation").joinpath("page.html").read_text("utf-8"))
    return template.substitute(
        title=escape(title),
        over=escape(over),
        lead="".join(f'<p class="lead">{escape(text)}</p>' for text in lead),
        body="".join(
            f"<section><h2>{escape(heading)}</h2>{content}</section>"
            for heading, content in sections.items()
            if content
        ),
        footer=escape(footer),
    )


def table(headings: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return a table in a frame of its own that scrolls; a row's first cell is its heading.

    Of more than `ROWS_SHOWN` rows it has the first, and says so.

    >>> "<td>1&lt;2</td>" in table(["class", "samples"], [["a", "1<2"]])
    True
    """
    head = "".join(f'<th scope="col">{escape(text)}</th>' for text in headings)
    body = "".join(
        f'<tr><th scope="row">{escape(str(first))}</th>'
        + "".join(f"<td>{escape(str(cell))}</td>" for cell in cells)
        + "</tr>"
        for first, *cells in rows[:ROWS_SHOWN]
    )
    rest = paragraph(f"The first {ROWS_SHOWN} of {len(rows):,}.") if rows[ROWS_SHOWN:] else ""
    return (
        f'<div class="scroll" tabindex="0"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>{rest}"
    )


def paragraph(text: str) -> str:
    """Return a paragraph."""
    return f"<p>{escape(text)}</p>"


def listed(items: Sequence[str]) -> str:
    """Return a list; nothing where there are no items."""
    lines = "".join(f"<li>{escape(item)}</li>" for item in items)
    return f"<ul>{lines}</ul>" if lines else ""


def picture(figure: Figure, alt: str) -> str:
    """Return a matplotlib figure as a picture, and ``alt`` for those who cannot see it."""
    stream = io.BytesIO()
    figure.savefig(stream, format="svg", metadata={"Date": None})
    source = f"data:image/svg+xml;base64,{b64encode(stream.getvalue()).decode()}"
    return f'<div class="scroll" tabindex="0"><img alt="{escape(alt)}" src="{source}"></div>'
