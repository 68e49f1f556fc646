"""The commands for one's own data, as a user meets them."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file, load_iris

from calipers import TripletSGD, load
from calipers.cli import main
from calipers.evaluation import retrieval_scores

X, Y = load_iris(return_X_y=True)
SPECIES = np.array(["setosa", "versicolor", "virginica"])[Y]
FEATURES = ["sepal length", "sepal width", "petal length", "petal width"]
FEW = ["--triplets", "500"]


def write_csv(path: Path, rows: Any = X, names: Any = FEATURES, labels: Any = SPECIES) -> None:
    with path.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["note", *names, "species"])
        writer.writerows(
            ["text", *row, label] for row, label in zip(rows.tolist(), labels, strict=True)
        )


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the data, in which commands run."""
    monkeypatch.chdir(tmp_path)
    write_csv(Path("iris.csv"))
    return tmp_path


def run(*arguments: str, code: int = 0) -> None:
    assert main(arguments) == code


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """The one line with which a command refuses to work."""
    capsys.readouterr()
    run(*arguments, code=2)
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.count("\n") == 1
    assert output.err.startswith("calipers: ")
    return output.err.removeprefix("calipers: ").strip()


def fit(*more: str) -> Any:
    """The metric of a quick fit."""
    run("fit", "iris.csv", "--label", "species", "-o", "m", "--quiet", *FEW, *more)
    return load("m")


def test_fit_writes_the_metric_that_python_learns(folder: Path) -> None:
    metric = fit("--seed", "3", "--components", "2")
    expected = TripletSGD(n_triplets=500, n_components=2, random_state=3).fit(X, SPECIES)
    np.testing.assert_array_equal(metric.components_, expected.components_)
    assert metric.feature_names_in_.tolist() == FEATURES
    assert metric.classes_.tolist() == ["setosa", "versicolor", "virginica"]
    assert metric.label_ == "species"
    np.testing.assert_allclose(metric.feature_scale_, X.std(axis=0))
    assert sorted(path.name for path in folder.iterdir()) == ["iris.csv", "m"]


@pytest.mark.parametrize(
    "method",
    ["sgd", "mini-sgd", "as-sgd", "hr-sgd", "ha-sgd", "spml", "oasis", "lego", "itml", "lmnn"],
)
@pytest.mark.usefixtures("folder")
def test_every_method(method: str) -> None:
    few = {"itml": ["--triplets", "20"], "lmnn": []}.get(method, FEW)
    run("fit", "iris.csv", "--label", "species", "-o", "m", "--quiet", "--method", method, *few)
    metric = load("m")
    assert method in (metric.learner_.lower(), metric.facts_.get("method_"))


@pytest.mark.usefixtures("folder")
def test_standardising_becomes_a_part_of_the_metric() -> None:
    metric = fit("--standardize")
    Z = X / X.std(axis=0)
    expected = TripletSGD(n_triplets=500, random_state=0).fit(Z, SPECIES).transform(Z)
    images = X @ metric.components_.T
    np.testing.assert_allclose(images, expected, rtol=1e-10)
    assert metric.facts_["standardized"] is True


@pytest.mark.usefixtures("folder")
def test_what_fit_says(capsys: pytest.CaptureFixture[str]) -> None:
    run("fit", "iris.csv", "--label", "species", *FEW)
    output = capsys.readouterr()
    assert output.out.startswith("Learned from 150 rows of 4 features in 3 classes by mini-sgd: ")
    assert output.out.endswith("Metric: metric.safetensors\n")
    assert "Left out, not numbers: note ('text' in row 1).\n" in output.err
    assert "Note: 1 of 150 rows repeat another row" in output.err
    run("fit", "iris.csv", "--label", "species", "--json", "--quiet", *FEW)
    output = capsys.readouterr()
    assert output.err == ""
    row = json.loads(output.out)
    assert row["file"] == "metric.safetensors"
    assert (row["rows"], row["features"], row["classes"], row["updates"]) == (150, 4, 3, 55)


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".npy", ".npz", ".parquet"])
@pytest.mark.usefixtures("folder")
def test_transform(ending: str) -> None:
    if ending == ".parquet":
        pytest.importorskip("pyarrow", reason="needs calipers[tables]")
    metric = fit()
    shuffled = [2, 0, 3, 1]
    write_csv(Path("new.csv"), X[:, shuffled], [FEATURES[i] for i in shuffled])
    run("transform", "m", "new.csv", "-o", f"out{ending}", "--quiet")
    expected = X @ metric.components_.T
    if ending == ".npy":
        np.testing.assert_allclose(np.load("out.npy"), expected)
        return
    from calipers import tables

    label = None if ending == ".npz" else "species"
    data = tables.read(Path(f"out{ending}"), label=label).choose(label=label)
    np.testing.assert_allclose(data.X, expected)
    assert data.y is not None
    assert data.y.tolist() == SPECIES.tolist()
    if label:
        assert data.names == [f"tripletsgd{i}" for i in range(4)]


def test_transform_without_labels_or_names(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    metric = fit()
    np.save("X.npy", X)
    run("transform", "m", "X.npy", "-o", "out.csv", "--json")
    assert json.loads(capsys.readouterr().out) == {"file": "out.csv", "rows": 150, "components": 4}
    written = np.loadtxt("out.csv", delimiter=",", skiprows=1)
    np.testing.assert_allclose(written, X @ metric.components_.T)
    np.save("X.npy", X[:, :3])
    assert "has 3 columns of numbers, but the metric m was learned from 4" in refused(
        capsys, "transform", "m", "X.npy", "-o", "new.csv"
    )
    assert not Path("new.csv").exists()


@pytest.mark.usefixtures("folder")
def test_evaluate(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["evaluate", "iris.csv", "--label", "species", "--folds", "3", *FEW]
    run(*asked, "--json", "--quiet", "-o", "p.png")
    output = capsys.readouterr()
    assert output.err == ""
    before, after = json.loads(output.out)
    assert (before["distance"], after["distance"]) == ("before", "after")
    for row in (before, after):
        assert 0 < row["knn_error"] < 0.1
        for score in ("precision_at_k", "recall_at_k", "mean_average_precision", "ndcg"):
            assert 0 < row[score] <= 1
    assert Path("p.png").read_bytes().startswith(b"\x89PNG")
    run(*asked, "--neighbors", "1", "--at", "5")
    output = capsys.readouterr()
    assert "1-NN error %" in output.out
    assert "precision@5 %" in output.out
    assert f"{100 * before['ndcg']:.2f} ±" in output.out


@pytest.mark.usefixtures("folder")
def test_evaluate_says_when_retrieval_is_of_some_rows_and_takes_them_of_all_classes(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[set[str]] = []

    def spy(*rows: Any, query_labels: Any, **how: Any) -> Any:
        seen.append(set(query_labels.tolist()))
        return retrieval_scores(*rows, query_labels=query_labels, **how)

    monkeypatch.setattr("calipers.commands.evaluate.MOST_QUERIES", 6)
    monkeypatch.setattr("calipers.evaluation.retrieval_scores", spy)
    asked = ["evaluate", "iris.csv", "--label", "species", "--folds", "3", *FEW]
    run(*asked, "--quiet")
    expected = "Retrieval scores are of 18 of the 150 rows, at most 6 of each fold"
    assert expected in capsys.readouterr().out
    assert seen == 6 * [set(SPECIES)]  # the file is sorted by species
    run(*asked, "--quiet", "--json")
    assert [row["n_queries"] for row in json.loads(capsys.readouterr().out)] == [18, 18]


def test_other_encodings(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "iris.csv").write_text(
        (folder / "iris.csv").read_text().replace("setosa", "sétosa"), encoding="cp1252"
    )
    asked = ["fit", "iris.csv", "--label", "species", "-o", "m", "--quiet", *FEW]
    assert "name its encoding, for example --encoding cp1252" in refused(capsys, *asked)
    assert "stream does not start with BOM" in refused(capsys, *asked, "--encoding", "utf-16")
    run(*asked, "--encoding", "cp1252")
    assert "sétosa" in load("m").classes_
    np.save("X.npy", X)
    expected = "X.npy is read as npy, to which --encoding is of no use: leave it out."
    given = ["transform", "m", "X.npy", "-o", "new.npy", "--encoding", "cp1252"]
    assert refused(capsys, *given) == expected


@pytest.mark.usefixtures("folder")
def test_evaluate_standardised_compares_like_with_like(
    capsys: pytest.CaptureFixture[str],
) -> None:
    write_csv(Path("units.csv"), X * [1000.0, 1.0, 1.0, 1.0])
    asked = ["--label", "species", "--standardize", "--json", "--quiet", *FEW]
    rows = []
    for name in ("iris.csv", "units.csv"):
        run("evaluate", name, *asked)
        rows.append(json.loads(capsys.readouterr().out))
    np.testing.assert_allclose(rows[0][0]["ndcg"], rows[1][0]["ndcg"], rtol=1e-6)


@pytest.mark.usefixtures("folder")
def test_inspect(capsys: pytest.CaptureFixture[str]) -> None:
    metric = fit("--components", "3")
    run("inspect", "m", "--json")
    facts = json.loads(capsys.readouterr().out)
    M = metric.get_mahalanobis_matrix()
    np.testing.assert_allclose(facts["spectrum"], np.linalg.eigvalsh(M)[:0:-1])
    assert (facts["features"], facts["components"], facts["rank"]) == (4, 3, 3)
    shares = np.diag(M) * X.var(axis=0)
    assert list(facts["importances"]) == [FEATURES[i] for i in np.argsort(-shares)]
    told = list(facts["importances"].values())
    np.testing.assert_allclose(told, np.sort(shares / shares.sum())[::-1])
    run("inspect", "m", "--top", "2")
    shown = capsys.readouterr().out
    assert "4 features to 3 components, rank 3" in shown
    assert "and 2 more with" in shown
    assert "3 classes: setosa, versicolor, virginica" in shown
    assert "n_updates_: 55" in shown


@pytest.mark.usefixtures("folder")
def test_inspect_sends_no_control_characters(capsys: pytest.CaptureFixture[str]) -> None:
    from calipers.files import write
    from metric_files import small_contents

    names = ["a\x1b[31m", "b\u202e", "c\n"]
    write(small_contents(feature_names=names, notes=["\x07"]), "m")
    run("inspect", "m")
    told = capsys.readouterr().out
    assert all(sign.isprintable() or sign == "\n" for sign in told)


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
    fit()
    label = ["--label", "species"]
    Path("lone.csv").write_text("a,b\n1,u\n2,u\n")
    Path("picture.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    for arguments, expected in (
        (["fit", "none.csv", *label], "'none.csv' does not exist"),
        (["fit", "iris.csv"], "is read without labels: name their column with --label."),
        (["fit", "iris.csv", "--label", "spezies"], "did you mean 'species'?"),
        (["fit", "iris.csv", *label, "-o", "no/m"], "does not exist: create it first."),
        (["fit", "iris.csv", *label, "--components", "9"], "asked for n_components=9"),
        (
            ["fit", "iris.csv", *label, "--method", "lmnn", *FEW],
            "--triplets is of no use to --method lmnn.",
        ),
        (["fit", "lone.csv", "--label", "b", "--quiet"], "needs rows of at least 2 classes"),
        (["evaluate", "lone.csv", "--label", "b"], "has one class only"),
        (["evaluate", "iris.csv", *label, "--quiet", "--folds", "51"], "fewer than the 51 folds"),
        (["transform", "picture.png", "iris.csv", "-o", "o.csv"], "is a PNG picture, not a metric"),
        (["transform", "m", "lone.csv", "-o", "o.csv"], "no column 'sepal length' (a feature of"),
        (["transform", "m", "iris.csv", "-o", "o.doc"], "The output must end in .csv"),
        (["inspect", "iris.csv"], "is not a whole metric file"),
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
        (["fit", "iris.csv", "--method", "magic"], "invalid choice: 'magic'"),
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
    fit()
    before = Path("m").read_bytes()

    def interrupt(*_: object) -> None:
        os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr("os.fsync", interrupt)
    capsys.readouterr()
    run("fit", "iris.csv", "--label", "species", "-o", "m", "--quiet", *FEW, code=130)
    assert (
        capsys.readouterr().err
        == "calipers: stopped before the end; no half-written file is left.\n"
    )
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
        [*asked, "--triplets", "500000000"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    time.sleep(4)  # it may still be importing, and must then end all the same
    endless.send_signal(signal.SIGTERM)
    out, _ = endless.communicate(timeout=60)
    assert endless.returncode in (143, -signal.SIGTERM)
    assert out == b""
    assert Path("m").read_bytes() == before
    assert sorted(path.name for path in folder.iterdir()) == ["iris.csv", "m"]
