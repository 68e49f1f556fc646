"""The command line as a user meets it: help, exit codes, one sentence for a mistake."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from calipers.cli.main import COMMANDS, main
from metric_files import small_file


def one_line(capsys: pytest.CaptureFixture[str]) -> str:
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.count("\n") == 1
    return output.err.strip()


def test_help_is_light_and_lists_the_commands() -> None:
    code = (
        "import sys; from calipers.cli.main import main\n"
        "try: main(sys.argv[1:])\n"
        "finally: print(sorted({'numpy', 'sklearn', 'rich', 'matplotlib'} & set(sys.modules)))"
    )
    answers = [
        subprocess.run(
            [sys.executable, "-c", code, *words, "--help"],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for words in ([], ["fit"])
    ]
    assert all(answer.rstrip().endswith("[]") for answer in answers)
    for command in COMMANDS:
        assert f"\n    {command.__name__.rpartition('.')[2]}" in answers[0]
    everyday, advanced = answers[1].split("\nadvanced:\n")
    assert "--label" in everyday
    assert "--seed" in advanced


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("dmeo", "invalid choice: 'dmeo'"),
        ("demo --seed -1", "must be a whole number from 0 to 4294967295, got '-1'"),
        ("demo --output x.txt", "the name must end in .png, .svg, .pdf, got 'x.txt'"),
        ("evaluate iris.csv --html -", "the name must end in .html, got '-'"),
        ("evaluate iris.csv --folds 1", "must be a whole number of at least 2, got '1'"),
        ("fit iris.csv --colour red", "unrecognized arguments: --colour red"),
    ],
)
def test_bad_arguments_get_one_sentence(
    capsys: pytest.CaptureFixture[str], words: str, expected: str
) -> None:
    with pytest.raises(SystemExit) as caught:
        main(words.split())
    assert caught.value.code == 2
    assert expected in one_line(capsys)


def test_mistakes_end_in_one_sentence(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["demo", "--output", str(tmp_path / "no" / "p.png")]) == 2
    assert "(No such file or directory)" in one_line(capsys)
    monkeypatch.setenv("CALIPERS_NUM_THREADS", "many")
    with pytest.raises(SystemExit, match="2"):
        main(["demo"])
    assert "CALIPERS_NUM_THREADS must be a whole number" in one_line(capsys)


@pytest.mark.parametrize(
    ("error", "code", "told"),
    [
        (KeyboardInterrupt(), 130, "stopped before the end; no half-written file is left."),
        (MemoryError(), 2, "more memory is needed than there is: take fewer samples or features."),
        (ImportError("x needs the package y.", name="y"), 2, "x needs the package y."),
    ],
)
def test_how_a_command_ends(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    error: BaseException,
    code: int,
    told: str,
) -> None:
    def fail(path: str) -> None:
        raise error

    monkeypatch.setattr("calipers.load", fail, raising=False)
    assert main(["inspect", "m"]) == code
    assert one_line(capsys) == f"calipers: {told}"


def test_defects_are_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(path: str) -> None:
        raise ImportError("no module of ours", name="calipers.nowhere")

    monkeypatch.setattr("calipers.load", fail, raising=False)
    with pytest.raises(ImportError, match="no module of ours"):
        main(["inspect", "m"])


@pytest.mark.skipif(sys.platform == "win32", reason="no such pipes on Windows")
def test_a_reader_that_leaves_is_not_an_error(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "calipers", "inspect", str(small_file(tmp_path))]
    with os.fdopen(writing) as closed_pipe:
        done = subprocess.run(command, stdout=closed_pipe, stderr=subprocess.PIPE, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize(
    ("package", "words", "expected"),
    [
        ("rich", "fit no", "The command line needs the package rich: pip install 'calipers[cli]'."),
        ("matplotlib.figure", "demo", "A picture needs the package"),
    ],
)
def test_a_missing_extra_is_named_before_any_work(
    package: str,
    words: str,
    expected: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in {package, *(m for m in sys.modules if m.startswith(f"{package}."))}:
        monkeypatch.setitem(sys.modules, name, None)
    assert main(words.split()) == 2
    assert one_line(capsys).startswith(f"calipers: {expected}")
    assert list(tmp_path.iterdir()) == []
