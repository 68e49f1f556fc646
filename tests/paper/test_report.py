"""The report: tables with the paper's numbers, safe for any name, complete in itself."""

from __future__ import annotations

import json
import re
from html import unescape
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path

import pytest

from calipers.paper import report
from calipers.paper.report import words
from calipers.paper.report.figures import METHOD_COLORS
from calipers.paper.report.markdown import markdown
from calipers.paper.report.page import page
from calipers.paper.report.payload import as_json, payload
from calipers.paper.summary import Cell, Summary
from calipers.paper.systems import SYSTEMS
from paper_rows import DATA, HOSTILE, row, some


class Reader(HTMLParser):
    """Elements and their attributes, and the text between them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def cells_of(text: str, section: str, dataset: str) -> list[str]:
    """The texts of the cells of a row in the first table of a section."""
    part = text[text.index(f'<section id="{section}">') :]
    part = part[part.index(f'<th scope="row">{dataset}') :]
    part = part[: part.index("</tr>")]
    return [
        " ".join(unescape(re.sub(r"<[^>]*>", " ", cell)).split())
        for cell in re.findall(r"<td.*?</td>", part)
    ]


def test_cells_show_ours_the_papers_and_the_difference() -> None:
    text = page(Summary(some()))
    errors = cells_of(text, "errors", "semeion")
    assert len(errors) == 12  # no numbers of MMC and MCML at all
    assert errors[0] == "6.0 8.7 ▼ -2.7"
    assert errors[7] == "6.0 6.3 ≈ -0.3"
    assert errors[10] == "9.0 6.2 ▲ +2.8"
    assert errors[9] == "not run 6.4"  # a second reading beside the same published number
    assert errors[1] == "not run 9.0"
    assert cells_of(text, "seconds", "semeion")[6] == "2.00 45.2"
    assert cells_of(text, "updates", "semeion")[-5] == "145 142.2 ≈ +2 %"


def test_the_lowest_of_a_row_is_marked_and_the_legend_needs_no_colour() -> None:
    text = page(Summary(some()))
    assert text.count('class="best"') + text.count('class="first best"') >= 3
    legend = Reader(text).text
    assert "≈ at most 1 point apart" in legend
    assert "▼ ours is lower" in legend
    assert "▲ ours is higher" in legend


def test_speed_ups_bounds_and_reasons_are_there() -> None:
    text = Reader(page(Summary(some()))).text
    for sentence in (
        "Seconds to make the triplets, not in the table: semeion 0.50",
        "LMNN on letter: too many rows.",
        "sensit: sensit is not here.",
        "HA-SGD finds W",
        "compare ratios",
        "Number of runs, whose means are shown: semeion 2, letter 1",
        "cpu Abacus 3",
    ):
        assert sentence in text
    assert "5,000" in cells_of(page(Summary(some())), "theorem", "semeion")[3]


def test_the_page_is_complete_in_itself() -> None:
    text = page(Summary(some()))
    reader = Reader(text)
    for tag, attributes in reader.tags:
        source = attributes.get("src") or attributes.get("href") or ""
        assert source == "data:," or source.startswith("#") or not source, (tag, attributes)
    assert not re.search(r"@import|url\((?!#)", text)
    addresses = set(re.findall(r"https?://[^\s\"'<)]+", text))
    assert addresses <= {"http://www.w3.org/2000/svg"}
    assert "default-src 'none'" in text
    assert "@@" not in text


def test_hostile_names_stay_text() -> None:
    rows = [
        row(HOSTILE, "as-sgd", notes=[HOSTILE], data={**DATA, "note": HOSTILE}),
        {**row(HOSTILE, "lmnn"), "failed": HOSTILE},
    ]
    del rows[1]["error"]
    rows[0]["machine"] = {"cpu": HOSTILE}
    summary = Summary(rows)
    text = page(summary)
    assert [tag for tag, _ in Reader(text).tags].count("script") == 3
    assert "<script>alert" not in text
    inside = text[text.index('id="payload">') + len('id="payload">') :]
    inside = inside[: inside.index("</script>")]
    assert not set("<>&\u2028") & set(inside)
    assert json.loads(inside)["datasets"][0]["name"] == HOSTILE
    plain = markdown(summary)
    assert "<script" not in plain
    tables = re.findall(r"(?:^\|.*\n)+", plain, re.MULTILINE)
    assert len(tables) == 5
    for table in tables:
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}) == 1


def test_json_is_that_of_the_payload() -> None:
    summary = Summary(some())
    again = json.loads(as_json(payload(summary)))
    assert again == payload(summary)
    assert [data["name"] for data in again["datasets"]] == ["semeion", "letter"]
    semeion = again["datasets"][0]
    assert semeion["results"]["as-sgd"]["paperUpdates"] == 142.2
    assert semeion["spectra"]["as-sgd"] == [[1, 1.0], [2, 0.5], [3, 0.25]]  # 0 has no logarithm
    assert set(semeion["curves"]) == {"lego", "sgd", "as-sgd", "ha-sgd"}
    assert semeion["bound"]["updates"] == 5000.0


def test_long_spectra_are_thinned() -> None:
    summary = Summary([row("isolet", "sgd", spectrum=[1 / rank for rank in range(1, 618)])])
    spectrum = payload(summary)["datasets"][0]["spectra"]["sgd"]
    assert len(spectrum) == 120
    assert (spectrum[0], spectrum[-1][0]) == ([1, 1.0], 617)


def test_markdown_has_the_same_numbers() -> None:
    text = markdown(Summary(some()))
    assert "| semeion | 6.0 (8.7; ▼ -2.7) |" in text
    assert "145 (142.2; ≈ +2 %)" in text
    assert "10 (48)" in text  # times faster than SGD
    assert "- LMNN on letter: too many rows." in text
    assert "## Farthest from the paper" in text


def test_a_report_is_files_in_a_folder(tmp_path: Path) -> None:
    written = report.write(some(), tmp_path)
    assert written[0] == tmp_path / "report.html"
    names = {path.relative_to(tmp_path).as_posix() for path in written}
    for figure in (
        "error-time",
        "figure-1",
        "online-loss",
        "spectrum",
        "theorem-2",
        "before-after-letter",
    ):
        assert {f"figures/{figure}.png", f"figures/{figure}.svg"} <= names
    assert all(path.stat().st_size > 500 for path in written)
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


def test_figures_and_page_share_their_colours() -> None:
    style = files("calipers.paper.report").joinpath("page.css").read_text(encoding="utf-8")
    by_day = style[: style.index("@media")]
    assert tuple(re.findall(r"--m\d+: (#\w{6});", by_day)) == METHOD_COLORS
    assert len(METHOD_COLORS) == len(SYSTEMS)


def test_hostile_names_make_no_paths_or_formulas(tmp_path: Path) -> None:
    name = "../../a$\\frac{1}$"
    written = report.write([row(name, "as-sgd"), row(name, "sgd")], tmp_path / "")
    assert all(tmp_path in path.resolve().parents for path in written)
    assert (tmp_path / "figures" / "before-after--a-frac-1-.png").exists()


@pytest.mark.parametrize("rows", [[row("dna", "euclidean")], some()[-3:]])
def test_few_rows_make_a_report_too(tmp_path: Path, rows: list[dict[str, object]]) -> None:
    assert report.write(rows, tmp_path)[0].stat().st_size > 10_000


def test_what_the_paper_does_not_have_is_said() -> None:
    summary = Summary([row("poker", "lmnn"), row("poker", "sgd")])
    assert cells_of(page(summary), "errors", "poker")[1] == "6.0 N/A"
    assert "| 6.0 (N/A) |" in markdown(summary)


def test_numbers_read_well() -> None:
    assert words.seconds(None) == words.error(None) == words.count(None) == words.factor(None)
    assert words.count(145.5) == "145.5"
    assert words.count(100_000.4) == "100,000"
    assert words.error_gap(Cell(6.0, None)) is None
    assert words.mark(Cell(1.0)) == ""
    assert words.update_gap(Cell(111.0, 100.0)) == (words.HIGHER, "+11 %")
    assert words.update_gap(Cell(110.0, 100.0)) == (words.NEAR, "+10 %")
