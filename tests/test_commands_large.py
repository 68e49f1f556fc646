"""``calipers fit`` on large files, interrupted, and going on from a checkpoint."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris

from calipers import load
from calipers.cli import main
from calipers.solver import Solver

X, Y = load_iris(return_X_y=True)
FEW = ("--triplets", "500", "--quiet")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    np.save("X.npy", X)
    np.save("y.npy", Y)
    np.save("both.npy", np.column_stack([X, Y]))
    return tmp_path


def interrupt_after(n_portions: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let Ctrl-C come while a portion is walked through."""
    true, left = Solver.advance, [n_portions]

    def advance(self: Solver, *arguments: Any) -> Any:
        left[0] -= 1
        if left[0] == 0:
            signal.raise_signal(signal.SIGINT)
        return true(self, *arguments)

    monkeypatch.setattr(Solver, "advance", advance)


def test_ctrl_c_leaves_the_metric_so_far_and_a_checkpoint(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["fit", "X.npy", "--label", "y.npy", "-o", "whole", *FEW]) == 0
    words = ["fit", "X.npy", "--label", "y.npy", "-o", "m", "--checkpoint", "state"]
    with monkeypatch.context() as patched:
        interrupt_after(30, patched)
        assert main([*words, "--triplets", "500"]) == 130
    assert "interrupted after 30 of" in capsys.readouterr().err
    assert load("m").facts_["n_iter_"] < load("whole").facts_["n_iter_"]
    assert Path("state").exists()
    assert main([*words, *FEW]) == 0
    np.testing.assert_array_equal(load("m").components_, load("whole").components_)
    assert not Path("state").exists()


def test_ctrl_c_ends_commands_of_many_fits(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    interrupt_after(3, monkeypatch)
    assert main(["evaluate", "X.npy", "--label", "y.npy", *FEW]) == 130


def test_a_checkpoint_is_of_no_use_to_some(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["fit", "X.npy", "--label", "y.npy", "--checkpoint", "state", *FEW]
    assert main([*words[:-3], "--quiet", "--method", "lmnn"]) == 2
    assert "--checkpoint is of no use to --method lmnn." in capsys.readouterr().err
    assert main([*words, "--method", "oasis"]) == 2
    assert "OASIS cannot go on from a checkpoint" in capsys.readouterr().err
