"""What type checkers know about the estimators of a user's program."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import calipers

PROGRAM = """
import numpy as np
from calipers import MetricCV, TripletSGD

X, y = np.eye(3), np.arange(3)
reveal_type(TripletSGD().fit(X, y))
reveal_type(TripletSGD().fit(X, y).components_)
reveal_type(MetricCV().fit(X, y))
TripletSGD(method="foo")
"""


@pytest.mark.slow
def test_mypy_knows_what_fit_returns_and_which_methods_there_are(tmp_path: Path) -> None:
    pytest.importorskip("mypy", reason="needs the extra dev")
    (tmp_path / "program.py").write_text(PROGRAM)
    home = Path(calipers.__file__).parents[1]
    path = {} if home.name == "site-packages" else {"MYPYPATH": str(home)}
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--follow-imports=silent", "program.py"],
        cwd=tmp_path,
        env={**os.environ, **path},
        capture_output=True,
        text=True,
        check=False,
    )
    lines = [line.partition(": ")[2] for line in done.stdout.splitlines()]
    revealed = [line for line in lines if line.startswith("note: Revealed")]
    assert "TripletSGD" in revealed[0]
    assert "ndarray" in revealed[1]
    assert "MetricCV" in revealed[2]
    (error,) = (line for line in lines if line.startswith("error"))
    assert "incompatible type" in error
    assert "foo" in error
