"""The command line as a user meets it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from calipers import __version__
from calipers.cli.main import main
from metric_files import small_file


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Return the one line on stderr with which the arguments are refused."""
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    return one_line(capsys)


def one_line(capsys: pytest.CaptureFixture[str]) -> str:
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.count("\n") == 1
    return output.err.strip()


def test_help_is_light_and_gives_examples() -> None:
    code = (
        "import sys; from calipers.cli.main import main\n"
        "try: main(['--help'])\n"
        "finally: print(sorted({'numpy', 'sklearn', 'rich', 'matplotlib'} & set(sys.modules)))"
    )
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert "examples:" in answer.stdout
    assert answer.stdout.rstrip().endswith("[]")


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["--version"])
    assert caught.value.code == 0
    assert capsys.readouterr().out == f"calipers {__version__}\n"


def test_module_is_the_command() -> None:
    command = [sys.executable, "-m", "calipers", "--version"]
    assert subprocess.check_output(command, text=True) == f"calipers {__version__}\n"


def test_no_command_prints_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    assert "calipers demo" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["dmeo"], "invalid choice: 'dmeo'"),
        (["demo", "--seed", "-1"], "must be a whole number from 0 to 4294967295, got '-1'"),
        (["demo", "--seed", "4294967296"], "from 0 to 4294967295, got '4294967296'"),
        (["demo", "--output", "x.txt"], "must end in .png, .svg, .pdf, got 'x.txt'"),
        (["fingerprint", "--seeds", "0"], "must be a whole number of at least 1, got '0'"),
    ],
)
def test_bad_arguments_get_one_sentence(
    capsys: pytest.CaptureFixture[str], arguments: list[str], expected: str
) -> None:
    assert expected in refused(capsys, *arguments)


def test_a_bad_number_of_threads_gets_one_sentence(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CALIPERS_NUM_THREADS", "many")
    assert "CALIPERS_NUM_THREADS must be a whole number" in refused(capsys, "demo")


def test_mistakes_of_the_user_end_in_one_sentence(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CALIPERS_DATA", raising=False)
    assert main(["demo", "--output", str(tmp_path / "no" / "p.png")]) == 2
    assert one_line(capsys).endswith("does not exist: create it first.")
    assert main(["fingerprint"]) == 2
    assert one_line(capsys).startswith("calipers: Data set 'semeion' needs semeion.npz or semeion")
    assert main(["fingerprint", "--datasets", "iris"]) == 2
    assert one_line(capsys).startswith("calipers: The paper has no numbers for 'iris'")
    assert main(["fingerprint", "--data-dir", str(tmp_path)]) == 2
    assert f"is not in {str(tmp_path)!r} or" in one_line(capsys)


def test_an_interrupt_is_one_sentence(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("calipers.cli.demo.learned_and_given", interrupt)
    assert main(["demo", "--output", str(tmp_path / "p.png")]) == 130
    assert one_line(capsys) == "calipers: stopped before the end; no half-written file is left."
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="no such pipes on Windows")
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("command", ["demo", "inspect"])
def test_a_reader_that_leaves_is_not_an_error(
    command: str, unbuffered: str, tmp_path: Path
) -> None:
    """Neither at the first line nor at the end, where Python writes what is in the buffer."""
    words = {
        "demo": ["demo", "--json", "--quiet", "--output", str(tmp_path / "p.png")],
        "inspect": ["inspect", str(small_file(tmp_path)), "--json"],
    }[command]
    code = (
        "import sys; from calipers.cli import demo; from calipers.cli.main import main\n"
        f"demo.N_SPLITS = 2; sys.exit(main({words}))"
    )
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing) as closed_pipe:
        done = subprocess.run(
            [sys.executable, "-c", code],
            stdout=closed_pipe,
            stderr=subprocess.PIPE,
            check=False,
            env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
        )
    assert (done.returncode, done.stderr) == (0, b"")


MISSING = """
import sys
sys.modules["{package}"] = None
from calipers.cli.main import main
sys.exit(main({arguments}))
"""
NO_RICH = "The command line needs the package rich: pip install rich."
NO_MATPLOTLIB = "A picture needs the package matplotlib: pip install matplotlib."


@pytest.mark.parametrize(
    ("package", "arguments", "expected"),
    [
        ("rich", ["demo"], NO_RICH),
        ("rich", ["fit", "no"], NO_RICH),
        ("rich", ["evaluate", "no"], NO_RICH),
        ("rich", ["fingerprint"], NO_RICH),
        ("rich", ["paper"], NO_RICH),
        ("rich", ["inspect", "no"], "There is no file 'no'"),
        ("matplotlib", ["demo"], NO_MATPLOTLIB),
        (
            "matplotlib",
            ["paper"],
            NO_MATPLOTLIB,
        ),
        ("matplotlib", ["evaluate", "no", "-o", "p.png"], NO_MATPLOTLIB),
        ("matplotlib", ["fit", "no.csv"], "'no.csv' does not exist"),
    ],
)
def test_a_missing_extra_is_named_before_any_work(
    package: str, arguments: list[str], expected: str, tmp_path: Path
) -> None:
    code = MISSING.format(package=package, arguments=arguments)
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"calipers: {expected}")
    assert done.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", ["", "fit", "evaluate", "demo", "paper"])
def test_help_needs_no_extra(command: str) -> None:
    code = MISSING.format(package="rich", arguments=[*filter(None, [command]), "--help"])
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert answer.stdout.startswith("usage: calipers")


def test_other_missing_packages_are_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ImportError("no module of ours", name="calipers.nowhere")

    monkeypatch.setattr("calipers.search.query_map.load", broken)
    with pytest.raises(ImportError, match="no module of ours"):
        main(["inspect", "m"])


@pytest.mark.skipif(os.name == "nt", reason="needs a shell")
@pytest.mark.parametrize(
    ("closed", "words", "code"),
    [(1, "--version", 0), (1, "inspect x", 2), (2, "inspect x", 2), (2, "nonsense", 2)],
)
def test_closed_outputs(closed: int, words: str, code: int, tmp_path: Path) -> None:
    command = f"'{sys.executable}' -m calipers {words} {closed}>&-"
    done = subprocess.run(
        command, shell=True, capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
