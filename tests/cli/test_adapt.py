"""``calipers adapt``, and ``calipers transform`` with what it wrote."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from calipers import QueryAdapter, QueryMap
from calipers.cli.reading import read_embeddings
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
    shown = capsys.readouterr().out
    assert shown.startswith("The map helps: nDCG@10")
    assert page.read_text().startswith("<!doctype html>")
    out = tmp_path / "images.npy"
    run("transform", str(tmp_path / "a.safetensors"), arguments[1], "-o", str(out))
    expected = QueryAdapter(random_state=0).fit(*LOG).transform(LOG.queries)
    assert np.allclose(np.load(out), expected, atol=1e-5)


def test_inspect_begins_with_the_verdict(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "a.safetensors"
    facts = {"verdict": "It helps\x1b[31m.", "n_pairs": 7, "report": {}}
    QueryMap(np.eye(3, 4), facts=facts).save(file)
    run("inspect", str(file))
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "verdict: It helps\\x1b[31m."
    assert lines[2:] == [
        "query features: 4",
        "document features: 3",
        "components: 3",
        "n pairs: 7",
    ]
    run("inspect", str(file), "--json")
    assert json.loads(capsys.readouterr().out)["n_pairs"] == 7


def test_no_gain_is_said_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page, map_file = tmp_path / "report.html", tmp_path / "a.safetensors"
    arguments = write(tmp_path, "npy", unrelated())
    run("adapt", *arguments, "--report", str(page))
    verdict, then, *_, last = capsys.readouterr().out.splitlines()
    assert verdict.startswith("No gain that can be told from nothing")
    assert then.startswith("So nothing learned is kept: without n_components, queries stay")
    assert last == f"Map: {map_file}"
    assert then in page.read_text()
    run("adapt", *arguments, "--quiet")
    assert capsys.readouterr().out == verdict + "\n"
    run("adapt", *arguments, "--json")
    assert json.loads(capsys.readouterr().out)["helps"] is False


def test_vectors_of_half_precision(tmp_path: Path) -> None:
    vectors = np.arange(12.0).reshape(4, 3)
    cells = pa.array([*vectors.astype(np.float16)], pa.list_(pa.float16()))
    pq.write_table(
        pa.table({"vector": cells, "text": ["not asked for"] * 4}), tmp_path / "a.parquet"
    )
    found, ids = read_embeddings(tmp_path / "a.parquet")
    assert found.dtype == np.float32
    assert ids is None
    np.testing.assert_array_equal(found, vectors)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("clicks.csv", "question,document\n1,2\n", "must have the columns 'query' and 'document'"),
        ("clicks.csv", "query,document\n1,999\n", "pairs[0] names the document 999, which is not"),
        ("clicks.csv", "query,document,weight\n1,2,many\n", "to float: 'many'"),
        ("queries.npy", None, "(No such file or directory)"),
    ],
)
def test_mistakes_end_in_one_sentence(
    name: str, content: str | None, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = write(tmp_path, "npy")
    (tmp_path / name).unlink()
    if content is not None:
        (tmp_path / name).write_text(content)
    run("adapt", *arguments, code=2)
    said = capsys.readouterr().err
    assert message in said
    assert said.strip().count("\n") == 0
    assert not (tmp_path / "a.safetensors").exists()
