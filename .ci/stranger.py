"""What somebody does who has just installed Calipers without any extra, or with ``cli`` alone."""

from __future__ import annotations

import csv
import doctest
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import calipers


def command(*words: str, fails: bool = False) -> str:
    """Run a command of Calipers; returns what it said."""
    calls = [sys.executable, "-m", "calipers", *words, "--quiet"]
    done = subprocess.run(calls, capture_output=True, text=True)
    said = done.stdout + done.stderr
    assert (done.returncode != 0) == fails, f"calipers {' '.join(words)}: {said}"
    assert "Traceback" not in said, said
    return said


def refusal(call: Callable[[], object]) -> str:
    """The sentence with which something that is not installed is asked for."""
    try:
        call()
    except ImportError as error:
        return str(error)
    raise AssertionError("nothing was missed: this environment has extras")


def library() -> None:
    """Fit, save, load; try the first example; miss every extra."""
    from sklearn.datasets import load_iris

    from calipers import plot

    X, y = load_iris(return_X_y=True)
    calipers.MetricCV(random_state=0).fit(X, y).save("metric.safetensors")
    metric = calipers.load("metric.safetensors")
    assert metric.transform(X).shape[0] == len(X)
    assert not doctest.testmod(calipers).failed
    assert "pip install 'calipers[onnx]'" in refusal(metric.to_onnx)
    assert "pip install 'calipers[faiss]'" in refusal(metric.to_faiss)
    assert "pip install 'calipers[plot]'" in refusal(plot.figure_class)


def commands() -> None:
    """Fit on a CSV, map it, look at it."""
    from sklearn.datasets import load_iris

    X, y = load_iris(return_X_y=True)
    with Path("flowers.csv").open("w", newline="") as stream:
        table = csv.writer(stream)
        table.writerow(["a", "b", "c", "d", "species"])
        table.writerows([*row, f"kind {label}"] for row, label in zip(X, y, strict=True))
    fit = ("fit", "flowers.csv", "--label", "species", "-o", "metric.safetensors")
    evaluate = ("evaluate", "flowers.csv", "--label", "species", "--folds", "2")
    transform = ("transform", "metric.safetensors", "flowers.csv", "-o")
    if find_spec("rich") is None:
        assert "pip install 'calipers[cli]'" in command(*fit, fails=True)
        return
    command(*fit)
    command(*transform, "mapped.csv")
    assert "3-NN error" in command(*evaluate)
    assert "species" in command("inspect", "metric.safetensors", "--json")
    assert "pip install 'calipers[plot]'" in command(*evaluate, "-o", "p.png", fails=True)
    assert "pip install 'calipers[tables]'" in command(*transform, "mapped.parquet", fails=True)


def main() -> None:
    """Try both."""
    assert Path(calipers.__file__).is_relative_to(sys.prefix), calipers.__file__
    library()
    commands()
    sys.stdout.write("a stranger gets along\n")


if __name__ == "__main__":
    main()
