"""Results are held to those of a file."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest
from benchmarks import golden
from benchmarks.__main__ import main

import calipers


def run(tmp_path: Path, case: str, *words: str) -> Any:
    rows = ["--rows", str(tmp_path / "rows.jsonl")]
    return main(["golden", str(tmp_path / "golden.npz"), *rows, "--only", case, *words])


def other(monkeypatch: pytest.MonkeyPatch, name: str, **settings: Any) -> None:
    learner = partial(getattr(calipers, name), **settings)
    monkeypatch.setattr(golden, "LEARNERS", {**golden.LEARNERS, name: learner})


def test_the_same_code_holds_and_another_result_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(tmp_path, "iris SPML fit", "--make")
    (row,) = run(tmp_path, "iris SPML fit")
    assert (row["verdict"], row["difference"]) == ("holds", 0.0)
    assert row["counts"]
    assert row["values"]
    other(monkeypatch, "SPML", n_triplets=5000, random_state=1)
    with pytest.raises(SystemExit, match=r"^1 of 1 differ$"):
        run(tmp_path, "iris SPML fit")


def test_what_is_to_change_may_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(tmp_path, "iris LMNN fit", "--make")
    other(monkeypatch, "LMNN", push_weight=0.4)
    (row,) = run(tmp_path, "iris LMNN fit")
    assert row["verdict"] == "changed on purpose"
    assert row["difference"] > row["allowed"]


def test_the_file_has_every_case() -> None:
    assert list(golden.read(golden.FILE)) == list(golden.cases())
