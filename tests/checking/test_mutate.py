"""The command that lets a mutation tool loose on our Python modules."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from checks import ROOT, mutate
from checks.__main__ import main


@pytest.mark.parametrize("module", mutate.MODULES)
def test_every_module_is_there(module: str) -> None:
    assert (ROOT / "src" / "calipers" / f"{module}.py").is_file()


def test_a_module_without_tests_does_not_hold(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["mutate", "no_such_module", "--rows", str(tmp_path / "rows.jsonl")]) == 1
    assert "skipped: no tests/test_no_such_module*.py" in capsys.readouterr().out


def test_the_copy_tells_the_tool_what_to_do(tmp_path: Path) -> None:
    mutate._copy(tmp_path, "recipes", ["tests/test_recipes.py"])
    settings = tomllib.loads((tmp_path / "pyproject.toml").read_text())["tool"]["mutmut"]
    assert settings["only_mutate"] == ["src/calipers/recipes.py"]
    assert settings["pytest_add_cli_args_test_selection"] == ["tests/test_recipes.py"]
    assert (tmp_path / "src" / "calipers" / "recipes.py").is_file()


def test_survivors_lower_the_share(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def answer(folder: Path, *words: str) -> str:
        if words[0] == "export-cicd-stats":
            (folder / "mutants").mkdir()
            counts = '{"total": 10, "survived": 2, "no_tests": 1, "killed": 7}'
            (folder / "mutants" / "mutmut-cicd-stats.json").write_text(counts)
        return (
            "    calipers.solvers.plan.x_one: survived\n    calipers.solvers.plan.x_two: no tests\n"
        )

    monkeypatch.setattr(mutate, "_mutmut", answer)
    words = ["mutate", "plan", "--tests", "tests/test_plan.py", "--rows", str(tmp_path / "rows")]
    assert main(words) == 1
    assert "calipers.solvers.plan.x_one" in capsys.readouterr().out
    assert main([*words, "--least", "0.7"]) == 0
