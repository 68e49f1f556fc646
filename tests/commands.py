"""Commands as a user meets them, and a table for them: iris with a column of text."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris

from calipers import load
from calipers.cli.main import main

X, Y = load_iris(return_X_y=True)
SPECIES = np.array(["setosa", "versicolor", "virginica"])[Y]
FEATURES = ["sepal length", "sepal width", "petal length", "petal width"]
FEW = ["--learner", "triplet-sgd", "--n-triplets", "500"]


def write_csv(path: Path, samples: Any = X, names: Any = FEATURES, labels: Any = SPECIES) -> None:
    """Write a table with a column of text, features and labels."""
    with path.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["note", *names, "species"])
        writer.writerows(
            ["text", *sample, label] for sample, label in zip(samples.tolist(), labels, strict=True)
        )


def write_blobs(path: Path) -> None:
    """Write two classes far apart, for which no metric is better than the Euclidean one."""
    classes = np.arange(60) % 2
    samples = np.random.default_rng(0).normal(size=(60, 3)) + 100.0 * classes[:, None]
    np.savez(path, X=samples, y=classes)


def run(*arguments: str, code: int = 0) -> None:
    """Run a command and check its exit code."""
    assert main(arguments) == code


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Return the one line with which a command refuses to work."""
    capsys.readouterr()
    run(*arguments, code=2)
    output = capsys.readouterr()
    assert output.out == ""
    told = output.err.removeprefix("Left out: note (the same text in each row).\n")
    assert told.count("\n") == 1
    assert told.startswith("calipers: ")
    return told.removeprefix("calipers: ").strip()


def quick_fit(*more: str) -> Any:
    """Return the metric of a quick fit."""
    run("fit", "iris.csv", "--label", "species", "-o", "m", "--quiet", *FEW, *more)
    return load("m")
