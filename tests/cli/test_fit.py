"""``calipers fit``, and mistakes in any command for one's own data."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file

from calipers import MetricCV, TripletSGD, load
from calipers.cli.learners import LEARNERS, METHOD_NAMES, feature_units
from calipers.cli.main import main
from calipers.recipes import RECIPES
from commands import FEATURES, FEW, SPECIES, X, Y, quick_fit, refused, run, write_blobs


def test_fit_writes_the_metric_that_python_learns(folder: Path) -> None:
    metric = quick_fit("--seed", "3", "--components", "2")
    expected = TripletSGD(n_triplets=500, n_components=2, random_state=3).fit(X, SPECIES)
    np.testing.assert_array_equal(metric.components_, expected.components_)
    assert metric.feature_names_in_.tolist() == FEATURES
    assert metric.classes_.tolist() == ["setosa", "versicolor", "virginica"]
    assert metric.label_ == "species"
    np.testing.assert_allclose(metric.feature_scale_, X.std(axis=0))
    assert sorted(path.name for path in folder.iterdir()) == ["iris.csv", "m"]


@pytest.mark.usefixtures("folder")
def test_every_learner() -> None:
    few = {"itml": "20", "spml": "500", "scml": "500", "oasis": "500", "lego": "500"}
    for name, home in LEARNERS.items():
        words = ["fit", "iris.csv", "--label", "species", "-o", "m", "--quiet", "--learner", name]
        run(*words, *(["--triplets", few[name]] if name in few else []))
        assert load("m").learner_ == home


@pytest.mark.usefixtures("folder")
def test_every_method() -> None:
    assert tuple(RECIPES) == METHOD_NAMES
    for method in METHOD_NAMES:
        assert quick_fit("--method", method).parameters_["method"] == method


@pytest.mark.usefixtures("folder")
def test_by_default_a_learner_is_selected() -> None:
    run("fit", "iris.csv", "--label", "species", "-o", "m", "--quiet", "--seed", "2")
    metric, expected = load("m"), MetricCV(random_state=2).fit(X, SPECIES)
    np.testing.assert_array_equal(metric.components_, expected.components_)
    assert metric.facts_["chosen_"] == expected.chosen_
    assert metric.facts_["reason_"] == expected.reason_


@pytest.mark.usefixtures("folder")
def test_what_was_selected_is_said_first(capsys: pytest.CaptureFixture[str]) -> None:
    write_blobs(Path("blobs.npz"))
    for data, chosen in ((["blobs.npz"], "euclidean"), (["iris.csv", "--label", "species"], "")):
        run("fit", *data, "-o", "m")
        shown = capsys.readouterr().out
        facts = load("m").facts_
        assert shown.startswith(f"{facts['reason_']}\nLearned from ")
        assert chosen in ("", facts["chosen_"])
        assert facts["chosen_"] in facts["reason_"].lower()
        run("inspect", "m")
        assert capsys.readouterr().out.startswith(f"{facts['reason_']}\n\nm: MetricCV, ")
        run("fit", *data, "-o", "m", "--json", "--quiet")
        row = json.loads(capsys.readouterr().out)
        assert list(row)[:2] == ["chosen", "reason"]
        assert (row["chosen"], row["reason"]) == (facts["chosen_"], facts["reason_"])


@pytest.mark.usefixtures("folder")
def test_standardising_becomes_a_part_of_the_metric() -> None:
    metric = quick_fit("--standardize")
    Z = X / X.std(axis=0)
    expected = TripletSGD(n_triplets=500, random_state=0).fit(Z, SPECIES).transform(Z)
    images = X @ metric.components_.T
    np.testing.assert_allclose(images, expected, rtol=1e-10)
    assert metric.facts_["standardized"] is True


def test_constant_features_are_divided_by_1() -> None:
    constant = np.column_stack([X, np.full(150, 0.1)])  # whose computed deviation is 1e-17
    units = feature_units(constant, standardize=True)
    np.testing.assert_allclose(units, [*X.std(axis=0), 1.0])


@pytest.mark.usefixtures("folder")
def test_what_fit_says(capsys: pytest.CaptureFixture[str]) -> None:
    run("fit", "iris.csv", "--label", "species", *FEW)
    output = capsys.readouterr()
    learned = "Learned from 150 samples of 4 features in 3 classes by TripletSGD (all-pairs-sgd): "
    assert output.out.startswith(learned)
    assert output.out.endswith("Metric: metric.safetensors\n")
    assert output.err.startswith("Left out: note (the same text in each row).\n")
    assert "Note: 1 of 150 samples repeat another sample" in output.err
    run("fit", "iris.csv", "--label", "species", "--json", "--quiet", *FEW)
    output = capsys.readouterr()
    assert output.err == ""
    row = json.loads(output.out)
    assert row["left_out"] == ["note (the same text in each row)"]
    run("fit", "iris.csv", "--label", "species", "--quiet", *FEW)
    assert capsys.readouterr().err == "Left out: note (the same text in each row).\n"
    assert row["file"] == "metric.safetensors"
    assert (row["samples"], row["features"], row["classes"]) == (150, 4, 3)
    assert row["updates"] == load("metric.safetensors").facts_["n_updates_"] > 0
    assert (row["chosen"], row["method"]) == (None, "all-pairs-sgd")


def test_other_encodings(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "iris.csv").write_text(
        (folder / "iris.csv").read_text().replace("setosa", "sétosa"), encoding="cp1252"
    )
    asked = ["fit", "iris.csv", "--label", "species", "-o", "m", "--quiet", *FEW]
    run(*[word for word in asked if word != "--quiet"])
    assert (
        "so it is read as cp1252; if letters are wrong, say --encoding." in capsys.readouterr().err
    )
    assert "sétosa" in load("m").classes_
    assert "stream does not start with BOM" in refused(capsys, *asked, "--encoding", "utf-16")
    run(*asked, "--encoding", "cp1252")
    assert "sétosa" in load("m").classes_
    np.save("X.npy", X)
    expected = "X.npy is read as npy, to which --encoding is of no use: leave it out."
    given = ["transform", "m", "X.npy", "-o", "new.npy", "--encoding", "cp1252"]
    assert refused(capsys, *given) == expected


@pytest.mark.usefixtures("folder")
def test_other_formats() -> None:
    np.savez("iris.npz", X=X, y=SPECIES)
    np.save("X.npy", np.column_stack([X, Y]))
    dump_svmlight_file(X, Y, "iris.svm", zero_based=False)
    expected = TripletSGD(n_triplets=500, random_state=0).fit(X, Y).components_
    for data in (["iris.npz"], ["X.npy", "--label", "-1"], ["iris.svm"]):
        run("fit", *data, "-o", "m", "--quiet", *FEW)
        np.testing.assert_array_equal(load("m").components_, expected)
        assert not hasattr(load("m"), "feature_names_in_")


def test_mistakes_end_in_one_sentence(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    quick_fit()
    label = ["--label", "species"]
    Path("lone.csv").write_text("a,b\n1,u\n2,u\n")
    Path("picture.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    for arguments, expected in (
        (["fit", "none.csv", *label], "'none.csv' does not exist"),
        (
            ["fit", "iris.csv"],
            "is read without labels: name what to predict with --label (one of note, sepal",
        ),
        (["fit", "iris.csv", "--label", "spezies"], "did you mean 'species'?"),
        (["fit", "iris.csv", *label, "-o", "no/m"], "does not exist: create it first."),
        (["fit", "iris.csv", *label, "--components", "9"], "has --components 9, but X has 4"),
        (
            ["fit", "iris.csv", *label, "--learner", "lmnn", "--triplets", "5"],
            "--triplets is of no use to --learner lmnn.",
        ),
        (
            ["fit", "iris.csv", *label, "--method", "as-sgd"],
            "--method is of no use to --learner cv: add --learner triplet-sgd.",
        ),
        (
            ["evaluate", "iris.csv", *label, "--learner", "spml", "--method", "sgd"],
            "--method is of no use to --learner spml: add --learner triplet-sgd.",
        ),
        (["fit", "lone.csv", "--label", "b", "--quiet"], "has one class only"),
        (["evaluate", "lone.csv", "--label", "b"], "has one class only"),
        (["evaluate", "iris.csv", *label, "--quiet", "--folds", "51"], "fewer than the 51 folds"),
        (["transform", "picture.png", "iris.csv", "-o", "o.csv"], "is a PNG picture, not a metric"),
        (["transform", "m", "lone.csv", "-o", "o.csv"], "no column 'sepal length' (a feature of"),
        (["transform", "m", "iris.csv", "-o", "o.doc"], "The output must end in .csv"),
        (["inspect", "iris.csv"], "is a table, where what was learned is needed"),
        (["inspect", "none"], "There is no file 'none'"),
    ):
        quiet = [] if arguments[0] == "inspect" else ["--quiet"]
        assert expected in refused(capsys, *arguments, *quiet), arguments
    assert sorted(path.name for path in folder.iterdir()) == [
        "iris.csv",
        "lone.csv",
        "m",
        "picture.png",
    ]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["fit", "iris.csv", "--learner", "magic"], "invalid choice: 'magic'"),
        (["fit", "iris.csv", "--method", "auto"], "invalid choice: 'auto'"),
        (["fit", "iris.csv", "--triplets", "0"], "must be a whole number of at least 1, got '0'"),
        (["evaluate", "iris.csv", "--folds", "1"], "must be a whole number of at least 2, got '1'"),
        (["evaluate", "iris.csv", "-o", "p.txt"], "must end in .png, .svg, .pdf"),
        (["fit", "iris.csv", "--encoding", "base64"], "an encoding that Python knows"),
        (["transform", "m"], "the following arguments are required: data"),
    ],
)
def test_bad_arguments(
    arguments: list[str], expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    output = capsys.readouterr()
    assert expected in output.err
    assert output.err.count("\n") == 1


def test_an_interrupt_leaves_the_old_metric(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    quick_fit()
    before = Path("m").read_bytes()

    def interrupt(*_: object) -> None:
        os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr("os.fsync", interrupt)
    capsys.readouterr()
    run("fit", "iris.csv", "--label", "species", "-o", "m", "--quiet", *FEW, code=130)
    stopped = "calipers: stopped before the end; no half-written file is left.\n"
    assert capsys.readouterr().err.endswith(stopped)
    assert Path("m").read_bytes() == before
    assert sorted(path.name for path in folder.iterdir()) == ["iris.csv", "m"]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGTERM to catch")
def test_from_end_to_end_in_processes_of_their_own(folder: Path) -> None:
    command = [sys.executable, "-m", "calipers"]
    asked = [*command, "fit", "iris.csv", "--label", "species", "-o", "m", "--json", "--quiet"]
    done = subprocess.run([*asked, *FEW], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    assert json.loads(done.stdout)["file"] == "m"
    before = Path("m").read_bytes()
    endless = subprocess.Popen(
        [*asked, *FEW[:-1], "500000000"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    time.sleep(4)  # it may still be importing, and must then end all the same
    endless.send_signal(signal.SIGTERM)
    out, _ = endless.communicate(timeout=60)
    assert endless.returncode in (143, -signal.SIGTERM)
    assert out == b""
    assert Path("m").read_bytes() == before
    assert sorted(path.name for path in folder.iterdir()) == ["iris.csv", "m"]
