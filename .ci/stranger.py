"""What somebody does who has just installed Calipers without any extra."""

from __future__ import annotations

import csv
import doctest
import subprocess
import sys
from pathlib import Path

import calipers


def command(*words: str, fails: bool = False) -> str:
    """Run a command of Calipers; returns what it said."""
    done = subprocess.run(["calipers", *words, "--quiet"], capture_output=True, text=True)
    said = done.stdout + done.stderr
    assert (done.returncode != 0) == fails, f"calipers {' '.join(words)}: {said}"
    assert "Traceback" not in said, said
    return said


def refusal(call: object) -> str:
    """The sentence with which something that is not installed is asked for."""
    try:
        call()  # type: ignore[operator]
    except ImportError as error:
        return str(error)
    raise AssertionError("nothing was missed: this environment has extras")


def main() -> None:
    """Fit on a CSV, map it, look at it; try the first example; miss every extra."""
    from sklearn.datasets import load_iris

    assert Path(calipers.__file__).is_relative_to(sys.prefix), calipers.__file__
    X, y = load_iris(return_X_y=True)
    with Path("flowers.csv").open("w", newline="") as stream:
        table = csv.writer(stream)
        table.writerow(["a", "b", "c", "d", "species"])
        table.writerows([*row, f"kind {label}"] for row, label in zip(X, y, strict=True))
    command("fit", "flowers.csv", "--label", "species", "-o", "metric.safetensors")
    command("transform", "metric.safetensors", "flowers.csv", "-o", "mapped.csv")
    said = command("evaluate", "flowers.csv", "--label", "species", "--folds", "2", "-o", "p.png")
    assert "3-NN error" in said
    assert "species" in command("inspect", "metric.safetensors", "--json")

    assert not doctest.testmod(calipers).failed

    from calipers.dask import DaskTripletSGD

    assert "pip install 'calipers[dask]'" in refusal(lambda: DaskTripletSGD().fit(X, y))
    metric = calipers.load("metric.safetensors")
    assert "pip install 'calipers[onnx]'" in refusal(metric.to_onnx)
    assert "pip install 'calipers[faiss]'" in refusal(metric.to_faiss)
    written = ("transform", "metric.safetensors", "flowers.csv", "-o", "mapped.parquet")
    assert "pip install 'calipers[tables]'" in command(*written, fails=True)
    sys.stdout.write("a stranger gets along\n")


if __name__ == "__main__":
    main()
