"""The report of the paper's experiments, made from rows only.

Map of this package, in reading order:

- `words`: numbers as people read them, and how near ours is to the paper's;
- `markdown`: the tables as `report.md`;
- `payload`: what the page's pictures need, as JSON;
- `page`: one HTML file that opens offline, from `page.html`, `page.css`, `chart.js`
  and `page.js` beside it;
- `figures`: the same pictures by matplotlib.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from calipers.paper.runs import Row


def write(rows: Sequence[Row], folder: Path) -> list[Path]:
    """Write every form of the report into the folder; return the files, the page first."""
    from calipers.paper.report.figures import draw
    from calipers.paper.report.markdown import markdown
    from calipers.paper.report.page import page
    from calipers.paper.summary import Summary

    summary = Summary(rows)
    texts = {folder / "report.html": page(summary), folder / "report.md": markdown(summary)}
    for path, text in texts.items():
        draft = path.with_name(f".{path.name}.part")
        draft.write_text(text, encoding="utf-8")
        draft.replace(path)
    return [*texts, *draw(summary, folder / "figures")]
