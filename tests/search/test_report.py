"""The report as text, dictionary and page."""

from __future__ import annotations

import html
import json
from pathlib import Path

import numpy as np
import pytest

from calipers import QueryMap, retrieval_report
from calipers.search.report import RetrievalReport
from search_log import turned

LOG = turned()
HOSTILE = "<script>document.title = 'taken'</script>"


def report() -> RetrievalReport:
    """Of the rotation back; queries have names that would run if they were not escaped."""
    queries, documents, pairs = LOG
    Q, D = (np.asarray(each, dtype=np.float64) for each in (queries, documents))
    back = np.linalg.lstsq(Q[pairs[:, 0]], D[pairs[:, 1]], rcond=None)[0].T
    ids = [f"{HOSTILE}{i}" for i in range(len(Q))]
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
    assert found.remarks[0].startswith("The base is near its ceiling: nDCG@10 is 100.0 of")
    assert not report().remarks


def test_the_page_has_pictures_and_runs_nothing(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="needs calipers[plot]")
    found = report()
    found.save(tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert text.index(html.escape(found.verdict)) < text.index("<img")
    assert html.escape(HOSTILE) in text
    assert "<script" not in text
    assert "http" not in text
    assert all(cell in text for row in found.comparisons["given"].rows() for cell in row)
