"""Sections of a report that ``calipers paper`` wrote, word for word: tables and lists.

``.. report:: paper/report.md`` with the title of a section as its content shows that section,
so that no number is copied by hand.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.parsers.rst import Directive
from sphinx.application import Sphinx


class Report(Directive):  # type: ignore[misc]
    """One section of the file."""

    has_content = True
    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return a table, or a list of sentences."""
        env = self.state.document.settings.env
        name, path = env.relfn2path(self.arguments[0])
        env.note_dependency(name)
        title = " ".join(self.content)
        lines = _section(Path(path), title)
        if not lines:
            raise self.error(f"{path} has no section {title!r}.")
        if lines[0].startswith("|"):
            return [_table([_cells(line) for line in (lines[0], *lines[2:])])]
        return [_list([line.removeprefix("- ") for line in lines])]


def _section(path: Path, title: str) -> list[str]:
    """Lines below a title that are not blank."""
    _, _, rest = path.read_text(encoding="utf-8").partition(f"\n## {title}\n")
    return [line for line in rest.partition("\n## ")[0].splitlines() if line.strip()]


def _cells(line: str) -> list[str]:
    return [_plain(cell.strip()) for cell in line.strip("|").split("|")]


def _plain(text: str) -> str:
    return text.replace("\\", "")


def _table(rows: list[list[str]]) -> nodes.table:
    group = nodes.tgroup(cols=len(rows[0]))
    group += [nodes.colspec(colwidth=1) for _ in rows[0]]
    group += nodes.thead("", _row(rows[0]))
    group += nodes.tbody("", *(_row(row) for row in rows[1:]))
    return nodes.table("", group, classes=["numbers"])


def _row(cells: list[str]) -> nodes.row:
    return nodes.row("", *(nodes.entry("", nodes.paragraph("", cell)) for cell in cells))


def _list(sentences: list[str]) -> nodes.bullet_list:
    items = (nodes.list_item("", nodes.paragraph("", _plain(text))) for text in sentences)
    return nodes.bullet_list("", *items)


def setup(app: Sphinx) -> dict[str, Any]:
    """Offer the directive."""
    app.add_directive("report", Report)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
