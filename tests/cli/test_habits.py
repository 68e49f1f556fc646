"""What people expect of any command: -, completion, --no-..., and arguments the wrong way round."""

from __future__ import annotations

import io
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from calipers.cli.main import _parser, main
from commands import X, quick_fit, refused, run


@pytest.mark.usefixtures("folder")
def test_standard_input_and_output(
    capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    def give(data: bytes) -> None:
        monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(data)))

    table = Path("iris.csv").read_bytes()
    give(table)
    run("fit", "-", "--label", "species", "--learner", "scaled", "-o", "m", "--quiet")
    capfdbinary.readouterr()
    give(table)
    run("transform", "m", "-", "-o", "-", "--quiet")
    rows = capfdbinary.readouterr().out.decode().splitlines()
    images = np.array([[float(cell) for cell in row.split(",")[2:]] for row in rows[1:]])
    np.testing.assert_allclose(images, X / X.std(axis=0))
    give(b"")
    run("fit", "-", "--label", "species", code=2)
    assert capfdbinary.readouterr().err.startswith(b"calipers: standard input is empty")
    give(b"Sizes of May\nsize;kind\n1,5;a\n2,5;a\n")
    run("fit", "-", "--label", "kind", code=2)
    title, one_class = capfdbinary.readouterr().err.splitlines()
    assert title.startswith(b"The first row is read as a title above the table in standard input.")
    assert b"The comma of standard input is read as the decimal sign" in title
    assert one_class.startswith(b"calipers: standard input has one class only ('a')")
    give(b"size;kind\n1;a\n2;a\n")
    run("fit", "-", "--label", "other", code=2)
    told = b"calipers: standard input has no column 'other' (--label)"
    assert capfdbinary.readouterr().err.startswith(told)


@pytest.mark.usefixtures("folder")
def test_arguments_the_wrong_way_round(capsys: pytest.CaptureFixture[str]) -> None:
    quick_fit()
    told = refused(capsys, "transform", "iris.csv", "m", "-o", "o.csv")
    assert told == (
        "'iris.csv' is a table, and 'm' is what was learned, which comes first: calipers transform "
        "m iris.csv -o o.csv."
    )
    table = "'iris.csv' is a table, where what was learned is needed: give a file that"
    for arguments in (
        ["inspect", "iris.csv"],
        ["transform", "iris.csv", "iris.csv", "-o", "o.csv"],
    ):
        assert refused(capsys, *arguments).startswith(table)
    told = refused(capsys, "transform", "m", "iris.csv", "-o", "-", "--json")
    assert told == "-o - and --json both write to standard output: give one of them."


def test_every_switch_can_be_taken_back() -> None:
    for name, command in _parser()._subparsers._group_actions[0].choices.items():  # type: ignore[union-attr]
        switches = [action for action in command._actions if action.nargs == 0]
        for action in switches:
            taken_back = any(word.startswith("--no-") for word in action.option_strings)
            assert taken_back or "--help" in action.option_strings, (name, action.option_strings)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    run("completion", shell)
    script = capsys.readouterr().out
    for word in ("evaluate", "label", "no-drop-ids"):
        assert word in script
    if shell != "bash" or shutil.which("bash") is None or sys.platform == "win32":
        return
    ask = 'COMP_WORDS=(calipers fit --la); COMP_CWORD=2; _calipers; echo "${COMPREPLY[@]}"'
    done = subprocess.run(
        ["bash", "-c", f"{script}\n{ask}"], capture_output=True, text=True, check=True
    )
    assert done.stdout == "--label\n"


def test_suggestions_are_near(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "did you mean 'species'?" in refused(capsys, "fit", "iris.csv", "--label", "specis")
    assert "did you mean" not in refused(capsys, "fit", "iris.csv", "--label", "price")


@pytest.mark.parametrize(
    ("arguments", "near"),
    [
        ("fitt iris.csv", "fit"),
        ("fit iris.csv --methd sgd", "--method"),
        ("fit iris.csv --methd=sgd", "--method"),
        ("fit iris.csv --method sdg", "sgd"),
        ("evaluate iris.csv --lable species --fold 5 --quite", "--label' and '--quiet"),
        ("guess iris.csv", None),
        ("fit iris.csv --colour red", None),
        ("fit iris.csv label.csv", None),
    ],
)
def test_commands_and_options_that_are_near(
    arguments: str, near: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(arguments.split())
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    if near is None:
        assert "did you mean" not in told
    else:
        assert f"; did you mean '{near}'? (see calipers" in told
