"""``calipers fit``, and mistakes in any command for one's own data."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from calipers import MetricCV, TripletSGD, load
from calipers.cli.options import FOR_MOST, METHODS, THE_OTHERS
from calipers.recipes import RECIPES
from calipers.solvers.sgd import SGDSolver
from commands import FEATURES, FEW, SPECIES, X, quick_fit, refused, run, write_blobs

ASKED = ["fit", "iris.csv", "--label", "species", "-o", "m", "--quiet"]


def test_fit_writes_the_metric_that_python_learns(folder: Path) -> None:
    metric = quick_fit("--seed", "3", "--n-components", "2")
    expected = TripletSGD(n_triplets=500, n_components=2, random_state=3).fit(X, SPECIES)
    np.testing.assert_array_equal(metric.components_, expected.components_)
    assert metric.feature_names_in_.tolist() == FEATURES
    assert metric.classes_.tolist() == ["setosa", "versicolor", "virginica"]
    assert metric.label_ == "species"
    np.testing.assert_allclose(metric.feature_scale_, X.std(axis=0))
    assert sorted(path.name for path in folder.iterdir()) == ["iris.csv", "m"]


@pytest.mark.usefixtures("folder")
def test_every_learner_and_method() -> None:
    draw = ("itml", "spml", "scml", "oasis", "lego")
    for name in (*FOR_MOST, *THE_OTHERS):
        run(*ASKED, "--learner", name, *(["--n-triplets", "20"] if name in draw else []))
        assert load("m").learner_.lower() in (name.replace("-", ""), "metriccv")
    assert tuple(RECIPES) == METHODS
    assert quick_fit("--method", "ha-sgd").parameters_["method"] == "ha-sgd"


@pytest.mark.usefixtures("folder")
def test_by_default_a_learner_is_selected_and_said_first(
    capsys: pytest.CaptureFixture[str],
) -> None:
    run(*ASKED[:-1], "--seed", "2")
    metric, expected = load("m"), MetricCV(random_state=2).fit(X, SPECIES)
    np.testing.assert_array_equal(metric.components_, expected.components_)
    assert metric.facts_["chosen_"] == expected.chosen_
    assert capsys.readouterr().out.startswith(f"{expected.reason_}\nLearned by MetricCV from 150 ")
    write_blobs(Path("blobs.npz"))
    run("fit", "blobs.npz", "-o", "m", "--json", "--quiet")
    row = json.loads(capsys.readouterr().out)
    assert list(row)[:2] == ["chosen", "reason"]
    assert row["chosen"] == "euclidean"


@pytest.mark.usefixtures("folder")
def test_what_fit_says(capsys: pytest.CaptureFixture[str]) -> None:
    run(*ASKED[:-3], *FEW)
    output = capsys.readouterr()
    learned = "Learned by TripletSGD from 150 samples in 3 classes, 4 features to 4 components: "
    assert output.out.startswith(learned)
    assert output.out.endswith("Metric: metric.safetensors\n")
    assert output.err.startswith("Left out: note (the same text in each row).\n")
    run(*ASKED, "--json", *FEW)
    output = capsys.readouterr()
    assert output.err == ""
    row = json.loads(output.out)
    assert row["left_out"] == ["note (the same text in each row)"]
    assert (row["samples"], row["features"], row["classes"]) == (150, 4, 3)
    assert row["updates"] == load("m").facts_["n_updates_"] > 0
    run(*ASKED, *FEW)
    assert capsys.readouterr().err == "Left out: note (the same text in each row).\n"


def test_mistakes_end_in_one_sentence(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    quick_fit()
    before = Path("m").read_bytes()
    Path("lone.csv").write_text("a,b\n1,u\n2,u\n")
    Path("names.csv").write_text("\n".join(["size,who", *(f"{i}.5,name {i}" for i in range(20))]))
    label = ["--label", "species"]
    for arguments, expected in (
        (["fit", "none.csv", *label], "Cannot read 'none.csv' (No such file"),
        (["fit", "iris.csv", "--label", "spezies"], "no column 'spezies'"),
        (["fit", "iris.csv", *label, "--n-components", "9"], "has n_components=9, but X has 4"),
        (
            ["fit", "iris.csv", *label, "--learner", "lmnn", "--n-triplets", "5"],
            "--learner lmnn: Invalid parameter 'n_triplets' for",
        ),
        (["evaluate", "iris.csv", *label, "--neighbors", "500"], "n_neighbors must be between 1"),
        (
            ["evaluate", "lone.csv", "--label", "b"],
            "lone.csv: MetricCV needs samples of at least 2 classes",
        ),
        (["evaluate", "names.csv", "--label", "who"], "a different label in every row"),
        (["transform", "iris.csv", "iris.csv", "-o", "o.csv"], "metric"),
        (["transform", "m", "lone.csv", "-o", "o.csv"], "no column 'sepal length'"),
        (["inspect", "iris.csv"], "metric"),
        (["inspect", "none"], "There is no file 'none'"),
    ):
        assert expected in refused(capsys, *arguments, "--quiet"), arguments
    assert Path("m").read_bytes() == before
    assert len([*folder.iterdir()]) == 4


# Ctrl-C


def interrupt_after(n_portions: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let Ctrl-C come while a solver learns from a portion."""
    true, left = SGDSolver.advance, [n_portions]

    def advance(self: SGDSolver, *arguments: Any) -> Any:
        left[0] -= 1
        if left[0] == 0:
            signal.raise_signal(signal.SIGINT)
        return true(self, *arguments)

    monkeypatch.setattr(SGDSolver, "advance", advance)


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("words", [[], [*FEW, "--method", "mini-sgd"]], ids=["cv", "triplet-sgd"])
def test_ctrl_c_leaves_the_metric_so_far(
    words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    interrupt_after(3, monkeypatch)
    run(*ASKED[:-1], *words, code=130)
    assert "interrupted" in capsys.readouterr().err
    assert load("m").facts_["interrupted_"] is True


@pytest.mark.usefixtures("folder")
def test_ctrl_c_ends_an_evaluation(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    interrupt_after(3, monkeypatch)
    run("evaluate", *ASKED[1:4], "--quiet", *FEW, code=130)
    assert "calipers: stopped before the end" in capsys.readouterr().err


def test_ctrl_c_while_the_file_is_written_leaves_the_old_one(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    quick_fit()
    before = Path("m").read_bytes()

    def interrupt(*_: object) -> None:
        os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr("os.fsync", interrupt)
    run(*ASKED, *FEW, "--seed", "1", code=130)
    assert Path("m").read_bytes() == before
    assert sorted(path.name for path in folder.iterdir()) == ["iris.csv", "m"]
