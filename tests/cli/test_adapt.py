"""``calipers adapt``, and ``calipers transform`` with what it wrote."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from calipers import QueryAdapter
from commands import run
from search_log import turned, unrelated

LOG = turned()


def write(folder: Path, kind: str, log: tuple[np.ndarray, ...] = LOG) -> list[str]:
    """Write a log as files of a kind; returns the arguments."""
    queries, documents, pairs = log
    ids = [[f"{side}{i}" for i in range(len(each))] for side, each in zip("qd", log, strict=False)]
    names = [folder / f"{name}.{kind}" for name in ("queries", "documents")]
    for name, each, called in zip(names, (queries, documents), ids, strict=True):
        if kind == "npy":
            np.save(name, each)
        elif kind == "parquet":
            pq.write_table(pa.table({"id": called, "vector": each.tolist()}), name)
        else:
            rows = zip(called, each.tolist(), strict=True)
            name.write_text("".join(json.dumps({"id": i, "vector": v}) + "\n" for i, v in rows))
    clicks = [(q, d) if kind == "npy" else (ids[0][q], ids[1][d]) for q, d in pairs.tolist()]
    text = "query,document,weight\n" + "".join(f"{q},{d},1\n" for q, d in clicks)
    (folder / "clicks.csv").write_text(text)
    return ["--queries", str(names[0]), "--documents", str(names[1]), "--pairs",
            str(folder / "clicks.csv"), "-o", str(folder / "a.safetensors")]  # fmt: skip


@pytest.mark.parametrize("kind", ["npy", "parquet", "jsonl"])
def test_a_map_from_files_is_that_of_the_library(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "report.html"
    arguments = write(tmp_path, kind)
    run("adapt", *arguments, "--report", str(page))
    assert capsys.readouterr().out.startswith("The map helps: nDCG@10")
    assert page.read_text().startswith("<!doctype html>")
    out = tmp_path / "images.npy"
    run("transform", str(tmp_path / "a.safetensors"), arguments[1], "-o", str(out))
    expected = QueryAdapter(random_state=0).fit(*LOG).transform(LOG.queries)
    assert np.allclose(np.load(out), expected, atol=1e-5)


def test_no_gain_is_said_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run("adapt", *write(tmp_path, "npy", unrelated()))
    assert capsys.readouterr().out.startswith("No gain that can be told from nothing")
    run("adapt", *write(tmp_path, "npy", unrelated()), "--json")
    assert json.loads(capsys.readouterr().out)["helps"] is False


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("clicks.csv", "question,document\n1,2\n", "must have the columns 'query' and 'document'"),
        ("clicks.csv", "query,document\n1,999\n", "pairs[0, 1] = 999 points past the 200"),
        ("clicks.csv", "query,document,weight\n1,2,many\n", "weights that are no numbers"),
        ("clicks.csv", "", "has no rows with named columns"),
        ("queries.npy", "nothing", "is no NPY file"),
    ],
)
def test_mistakes_end_in_one_sentence(
    name: str, content: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = write(tmp_path, "npy")
    (tmp_path / name).write_text(content)
    run("adapt", *arguments, code=2)
    said = capsys.readouterr().err
    assert message in said
    assert said.strip().count("\n") == 0
    assert not (tmp_path / "a.safetensors").exists()
