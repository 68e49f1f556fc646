"""Text of files and servers does nothing to a terminal, wherever a command quotes it."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import numpy as np
import pytest

from calipers.cli.main import main
from calipers.metric.file import write
from commands import FEW, SPECIES, X, write_csv
from metric_files import small_contents

EVIL = "a\x1b[2J\u202e\u2066b\x07\x9b1m"


def written(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    capsys.readouterr()
    main(arguments)
    captured = capsys.readouterr()
    told = captured.out + captured.err
    assert all(line.isprintable() for line in told.splitlines()), told
    assert told
    return told


def test_names_and_labels_in_tables(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    labels = np.where(SPECIES == "setosa", EVIL, SPECIES)
    write_csv(Path("evil.csv"), X, [EVIL, "b", "c", "d"], labels)
    assert "\\x1b[2J" in written(capsys, "evaluate", "evil.csv", "--label", EVIL + "s", *FEW)
    for command in ("fit", "evaluate"):
        written(capsys, command, "evil.csv", "--label", "species", *FEW)
    assert "\\u202e" in written(capsys, "inspect", "metric.safetensors")
    Path(f"{EVIL}.csv").write_text("a,y\n1\n")
    assert "\\x1b[2J" in written(capsys, "fit", f"{EVIL}.csv", "--label", "y")
    assert "\\x1b" in written(capsys, "transform", "metric.safetensors", "iris.csv", "-o", "o.csv")
    assert "\\x1b" in written(capsys, "fit", "iris.csv", "--label", f"species{EVIL}")


def test_headers_of_metrics(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    contents = small_contents(
        feature_names=[EVIL, "b", "c\n"], notes=[EVIL], learner=EVIL, written_by=EVIL, label=EVIL
    )
    write(contents, "m")
    assert "\\x1b[2J" in written(capsys, "inspect", "m")
    assert EVIL not in written(capsys, "inspect", "m", "--json")
    written(capsys, "transform", "m", "iris.csv", "-o", "o.csv")


def test_a_terminal_of_few_characters(monkeypatch: pytest.MonkeyPatch) -> None:
    from calipers.cli.output import say

    screen = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", screen)
    say("caf\u00e9 \u2588")
    screen.flush()
    assert screen.buffer.getvalue() == b"caf\\xe9 \\u2588\n"


def test_no_output_over_an_input(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.save("X.npy", X)
    np.save("y.npy", SPECIES)
    Path("link").symlink_to("y.npy")
    before = Path("y.npy").read_bytes()
    fit = ["fit", "X.npy", "--label", "y.npy", *FEW]
    for more in (["-o", "y.npy"], ["-o", "link"]):
        told = written(capsys, *fit, *more)
        assert "is read by this command and would be lost: name another place." in told
    main([*fit, "-o", "m", "--quiet"])
    told = written(capsys, "transform", "m", "X.npy", "--label", "y.npy", "-o", "y.npy")
    assert "is read by this command" in told
    assert Path("y.npy").read_bytes() == before
