"""The report as text, dictionary and page."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from calipers import QueryMap, retrieval_report
from calipers.search.report import RetrievalReport
from search_log import turned

LOG = turned()
HOSTILE = "<script>document.title = 'taken'</script>"
BROWSER = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)


def report() -> RetrievalReport:
    """Of the rotation back; one query has a name that would run if it were not escaped."""
    queries, documents, pairs = LOG
    Q, D = (np.asarray(each, dtype=np.float64) for each in (queries, documents))
    back = np.linalg.lstsq(Q[pairs[:, 0]], D[pairs[:, 1]], rcond=None)[0].T
    ids = [HOSTILE, *range(1, len(Q))]
    named = [(ids[q], int(d)) for q, d in pairs]
    return retrieval_report(QueryMap(back), Q, D, named, query_ids=np.array(ids, dtype=object))


def test_numbers_are_those_of_the_dictionary_and_of_the_text() -> None:
    found = report()
    one = found.to_dict()["comparisons"]["given"]
    assert json.loads(json.dumps(found.to_dict())) == json.loads(json.dumps(found.to_dict()))
    assert found.helps
    assert one["won"] + one["lost"] <= one["n_queries"] == 200
    assert one["gained_most"][0][2] - one["gained_most"][0][1] == pytest.approx(one["gains"][-1])
    low, high = one["interval"]["ndcg@10"]
    gain = np.mean(one["gains"])
    assert low < gain < high
    assert one["lower_bound"] == pytest.approx(
        gain - 1.65 * np.std(one["gains"]) / 200**0.5, abs=2e-3
    )
    for line in (f"{100 * one['before']['mrr']:.1f}", f"{one['won']:,} queries won"):
        assert line in str(found)


def test_saturation_is_named_where_nothing_is_left_to_gain() -> None:
    found = retrieval_report(QueryMap(np.eye(5)), np.eye(5), np.eye(5), [[i, i] for i in range(5)])
    assert not found.helps
    assert "near its ceiling: nDCG@10 is 100.0 of 100" in str(found)
    assert "near its ceiling" in found.to_html()
    assert "near its ceiling" not in str(report())


@pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed")
def test_the_page_in_a_browser(tmp_path: Path) -> None:
    found = report()
    found.save(tmp_path / "plain.html")
    probe = (
        "<script>addEventListener('load', () => { const out = {"
        " svgs: [...document.querySelectorAll('svg')].map((s) => s.getBoundingClientRect().height),"
        " marks: document.querySelectorAll('svg circle').length, title: document.title,"
        " verdict: document.querySelector('.verdict').textContent,"
        " wide: document.documentElement.scrollWidth > innerWidth,"
        " resources: performance.getEntriesByType('resource').map((e) => e.name)};"
        " const pre = document.createElement('pre'); pre.id = 'probe';"
        " pre.textContent = JSON.stringify(out); document.body.append(pre); });</script></body>"
    )
    text = found.to_html()
    assert "<script>" not in text
    (tmp_path / "page.html").write_text(text.replace("</body>", probe), encoding="utf-8")
    command = [str(BROWSER), "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"]
    command += [f"--user-data-dir={tmp_path / 'profile'}", (tmp_path / "page.html").as_uri()]
    dom = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout
    out = json.loads(dom.split('<pre id="probe">')[1].split("</pre>")[0].replace("&gt;", ">"))
    assert len(out["svgs"]) == 2
    assert min(out["svgs"]) > 50
    assert out["marks"] == 8
    assert out["title"] == "Search report"
    assert out["verdict"] == found.verdict
    assert out["resources"] == []
    assert not out["wide"]
