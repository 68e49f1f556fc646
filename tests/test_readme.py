"""The README's commands are those that are run elsewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from sklearn.datasets import load_iris

import calipers
from search_log import turned

ROOT = Path(__file__).parents[1]


def commands() -> list[str]:
    """The indented lines of the README that start with a command."""
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    return [line.strip() for line in lines if line.startswith("    python3 ")]


def test_there_is_a_command_for_the_main_job_and_one_for_the_tests() -> None:
    assert sum(command.endswith("calipers demo") for command in commands()) == 1
    assert sum(command.endswith("-m pytest -n 3") for command in commands()) == 1


def test_the_demonstration_brings_what_it_uses() -> None:
    (command,) = (command for command in commands() if command.endswith("calipers demo"))
    assert "pip install '.[cli,plot]'" in command


def test_the_test_command_stands_word_for_word_in_ci() -> None:
    (command,) = (command for command in commands() if command.endswith("-m pytest -n 3"))
    assert command in (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()


def test_the_lines_for_own_data_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    lines, search = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    monkeypatch.chdir(tmp_path)
    table = load_iris(as_frame=True).frame.rename(columns={"target": "species"})
    table.to_csv("flowers.csv", index=False)
    known: dict[str, object] = {}
    exec(lines, known)
    assert (tmp_path / "metric.safetensors").is_file()
    assert "learner='MetricCV'" in repr(known["metric"])
    exec(search, {**known, **turned()._asdict()})
    assert calipers.load("adapter.safetensors").facts["helps"]
