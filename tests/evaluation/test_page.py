"""Reports as pages."""

from __future__ import annotations

from base64 import b64decode

from matplotlib.figure import Figure

from calipers.evaluation.page import listed, page, paragraph, picture, table

SCRIPT = "<script>alert('$1')</script>"


def test_foreign_text_does_nothing_to_a_page() -> None:
    figure = Figure()
    figure.subplots().set_title(SCRIPT.replace("$", ""))
    parts = [table([SCRIPT], [[SCRIPT, SCRIPT]]), paragraph(SCRIPT), listed([SCRIPT])]
    sections = {SCRIPT: "".join(parts), "Picture": picture(figure, SCRIPT), "Empty": listed([])}
    whole = page(SCRIPT, over=SCRIPT, lead=[SCRIPT], sections=sections, footer=SCRIPT)
    assert "<script" not in whole
    assert whole.count("&lt;script&gt;alert(&#x27;$1&#x27;)") == 12
    assert "http" not in whole
    assert "Empty" not in whole
    drawn = whole.split("base64,")[1].split('"')[0]
    assert b"<script" not in b64decode(drawn)
