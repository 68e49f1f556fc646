"""Sections of the page that ``calipers paper`` wrote, word for word.

``.. report:: paper/report.html`` with the title of a section as its content shows that section,
so that no number is copied by hand.
"""

from __future__ import annotations

import re
from html import escape
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
        """Return what stands in the section."""
        env = self.state.document.settings.env
        name, path = env.relfn2path(self.arguments[0])
        env.note_dependency(name)
        title = " ".join(self.content)
        pattern = rf"<section><h2>{re.escape(escape(title))}</h2>(.*?)</section>"
        found = re.search(pattern, Path(path).read_text(encoding="utf-8"), re.DOTALL)
        if found is None:
            raise self.error(f"{path} has no section {title!r}.")
        return [nodes.raw("", f'<div class="report">{found[1]}</div>', format="html")]


def setup(app: Sphinx) -> dict[str, Any]:
    """Offer the directive."""
    app.add_directive("report", Report)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
