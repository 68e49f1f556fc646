"""The report in a real browser: it draws, answers to the mouse, and asks the network nothing."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from calipers.paper.report.page import page
from calipers.paper.summary import Summary
from paper_rows import EXECUTING, HOSTILE, row, some

BROWSER = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)

pytestmark = pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed")

PROBE = """
<script>
addEventListener("load", () => setTimeout(() => {
  const out = {};
  const all = (path) => [...document.querySelectorAll(path)];
  const chart = (id) => document.querySelector(id + " > svg");
  const mouse = (svg, kind, x, y, more) => svg.dispatchEvent(new PointerEvent(kind,
    { clientX: x, clientY: y, bubbles: true, pointerType: "mouse", ...more }));
  try {
    %s
  } catch (problem) { out.problem = String(problem); }
  out.drawn = document.documentElement.dataset.drawn;
  out.resources = performance.getEntriesByType("resource").map((entry) => entry.name);
  const pre = document.createElement("pre");
  pre.id = "probe";
  pre.textContent = JSON.stringify(out);
  document.body.appendChild(pre);
}, 50));
</script>
</body>"""

USE = """
    out.svgs = all("figure.chart > svg").map((svg) => svg.querySelectorAll("path").length);
    const svg = chart("#loss-chart"), box = svg.getBoundingClientRect();
    const at = svg.querySelector("path").getBoundingClientRect();
    mouse(svg, "pointermove", at.left + at.width / 2, at.top + at.height / 2);
    const tip = document.querySelector("#loss-chart .tip");
    out.tip = [tip.hidden, tip.textContent];
    mouse(svg, "pointerleave", 0, 0);
    out.tipAfter = tip.hidden;
    const views = [svg.dataset.view];
    svg.dispatchEvent(new WheelEvent("wheel", { deltaY: -1, ctrlKey: true, cancelable: true,
      clientX: box.left + box.width / 2, clientY: box.top + box.height / 2 }));
    views.push(svg.dataset.view);
    svg.dispatchEvent(new WheelEvent("wheel", { deltaY: -1, cancelable: true }));
    views.push(svg.dataset.view);
    svg.dispatchEvent(new MouseEvent("dblclick"));
    views.push(svg.dataset.view);
    mouse(svg, "pointerdown", box.left + 150, box.top + 50, { button: 0 });
    mouse(svg, "pointermove", box.left + 300, box.top + 150);
    out.band = svg.querySelectorAll(".band").length;
    mouse(svg, "pointerup", box.left + 300, box.top + 150);
    views.push(svg.dataset.view);
    document.querySelector("#loss-chart [aria-label='Show all']").click();
    views.push(svg.dataset.view);
    svg.dispatchEvent(new KeyboardEvent("keydown", { key: "+", cancelable: true }));
    views.push(svg.dataset.view);
    out.views = views;
    const key = document.querySelector("#loss-chart .keys button");
    const lines = () => svg.querySelectorAll("polyline").length;
    out.lines = [lines()];
    key.click();
    out.lines.push(lines(), key.getAttribute("aria-pressed"));
    out.picked = all("#pick-data button").map((button) => {
      button.click();
      return [button.textContent, document.querySelector("#before-chart .bar b").textContent];
    });
    const paper = document.getElementById("with-paper");
    const marks = () => all("#glance-charts path").length;
    out.marks = [marks()];
    paper.click();
    out.marks.push(marks());
"""


def browse(text: str, folder: Path, script: str, *flags: str) -> dict[str, Any]:
    """Open the page, run the script in it, and return what it found; no console messages."""
    file = folder / "page.html"
    file.write_text(text.replace("</body>", PROBE % script), encoding="utf-8")
    assert BROWSER is not None
    done = subprocess.run(
        [
            *(BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"),
            *("--enable-logging=stderr", "--log-level=0", "--virtual-time-budget=5000"),
            *(f"--user-data-dir={folder / 'profile'}", "--dump-dom", *flags, file.as_uri()),
        ],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    said = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    assert said == []
    found = re.search(r'<pre id="probe">(.*?)</pre>', done.stdout, re.DOTALL)
    assert found is not None, done.stdout[-2000:]
    out: dict[str, Any] = json.loads(unescape(found[1]))
    assert "problem" not in out, out
    assert out["drawn"] == "yes"
    assert out["resources"] == []
    return out


def test_pictures_are_drawn_and_answer(tmp_path: Path) -> None:
    out = browse(page(Summary(some())), tmp_path, USE)
    assert len(out["svgs"]) == 2 + 1 + 4 + 2  # two at a glance, Theorem 2, four curves, two clouds
    assert all(count > 0 for count in out["svgs"])
    assert out["tip"][0] is False
    assert re.match(r"SGD\nafter \d+ triplets\nloss: ", out["tip"][1])
    assert out["tipAfter"] is True
    first, wheel, plain_wheel, double, drag, button, keyed = out["views"]
    assert wheel != first
    assert plain_wheel == wheel  # without Ctrl the page scrolls
    assert double == first
    assert out["band"] == 1
    assert drag not in (first, wheel)
    assert button == first
    assert keyed != first
    assert out["lines"] == [3, 2, "false"]
    assert out["picked"] == [["semeion", "before"], ["letter", "before"]]
    assert out["marks"][1] > out["marks"][0]


def test_hostile_names_are_shown_as_they_are(tmp_path: Path) -> None:
    script = """
    out.scripts = all("script").length;
    out.title = document.querySelector("#glance-charts .bar b").textContent;
    out.heading = document.querySelector("#errors tbody th").textContent;
    """
    rows = [row(HOSTILE, method) for method in ("euclidean", "sgd", "as-sgd")]
    out = browse(page(Summary(rows)), tmp_path, script)
    assert out["scripts"] == 4
    assert out["title"] == HOSTILE
    assert out["heading"] == HOSTILE


def test_no_name_is_run(tmp_path: Path) -> None:
    """In every place that a name or a note can come to."""
    script = """
    all("button").forEach((button) => button.click());
    out.executed = window.executed ?? null;
    out.scripts = all("script").length;
    out.images = all("img, form, math, iframe, object, embed").length;
    out.headings = all("#errors tbody th").map((cell) => cell.textContent);
    """
    rows = [
        row(name, method, notes=[name], data={**row(name, method)["data"], "note": name})
        for name in EXECUTING
        for method in ("euclidean", "sgd", "as-sgd")
    ]
    rows += [{**rows[1], "dataset": "more", "method": "lmnn", "failed": EXECUTING[3]}]
    out = browse(page(Summary(rows)), tmp_path, script)
    assert out["executed"] is None
    assert out["scripts"] == 4
    assert out["images"] == 0
    assert [name for name in EXECUTING if name not in out["headings"]] == []


@pytest.mark.parametrize("width", [400, 1400])
def test_nothing_but_tables_is_wider_than_the_window(tmp_path: Path, width: int) -> None:
    script = """
    out.width = [document.documentElement.scrollWidth, innerWidth];
    out.wide = all("main *").filter((e) => !e.closest(".scroll") && !e.closest("svg") &&
      e.getBoundingClientRect().right > innerWidth + 1).map((e) => e.className || e.tagName);
    """
    out = browse(page(Summary(some())), tmp_path, script, f"--window-size={width},900")
    assert out["wide"] == []
    assert out["width"][0] <= out["width"][1]


def test_dark_and_light_differ(tmp_path: Path) -> None:
    script = "out.paper = getComputedStyle(document.body).backgroundColor;"
    text = page(Summary(some()))
    papers = []
    for scheme in (0, 1):
        folder = tmp_path / str(scheme)
        folder.mkdir()
        flag = f"--blink-settings=preferredColorScheme={scheme}"
        papers.append(browse(text, folder, script, flag)["paper"])
    assert papers == ["rgb(20, 23, 27)", "rgb(255, 255, 255)"]


def test_the_screenshot_is_not_blank(tmp_path: Path) -> None:
    from matplotlib.image import imread

    picture = tmp_path / "picture.png"
    browse(page(Summary(some())), tmp_path, "", f"--screenshot={picture}", "--window-size=900,1200")
    if not picture.exists():
        pytest.skip("this Chromium writes no screenshot together with the DOM")
    assert imread(picture).std() > 0.02
