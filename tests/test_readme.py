"""The README's commands are those that are run elsewhere."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[1]


def commands() -> list[str]:
    """The indented lines of the README that start with a command."""
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    return [line.strip() for line in lines if line.startswith("    python3 ")]


def test_there_is_a_command_for_the_main_job_and_one_for_the_tests() -> None:
    assert sum(command.endswith("calipers demo") for command in commands()) == 1
    assert sum(command.endswith("-m pytest") for command in commands()) == 1


def test_the_test_command_stands_word_for_word_in_ci() -> None:
    (command,) = (command for command in commands() if command.endswith("-m pytest"))
    assert command in (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
