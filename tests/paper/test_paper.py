"""The paper's experiments: what is run, what is not run again, and what a run leaves."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from calipers import LEGO, MMC, TripletSGD
from calipers.cli.main import main
from calipers.paper import datasets, forms, paper, published, systems
from calipers.paper.costs import expected_seconds
from calipers.paper.datasets import DatasetError
from calipers.paper.measure import measure
from calipers.paper.paper import Plan, Wish
from calipers.paper.progress import meter
from calipers.paper.protocol import split_error
from calipers.paper.report.markdown import markdown
from calipers.paper.runs import ROWS, RunFile
from calipers.paper.summary import Summary
from calipers.paper.systems import SYSTEMS
from calipers.paper.theory import Theory
from calipers.solvers.losses import SmoothHinge
from data_folder import FOLDER, needs_data

TINY = Wish(datasets=["iris"], methods=["euclidean", "as-sgd"], n_triplets=300)


def planned(wish: Wish, **places: Any) -> Plan:
    with meter(1, console=Console(file=io.StringIO())) as bar:
        return paper.plan(wish, meter=bar, **places)


def done(plan: Plan, file: RunFile) -> int:
    """Do what is to be done; returns how many runs that were."""
    jobs = paper.to_do(plan, file.read())
    with meter(1, console=Console(file=io.StringIO())) as bar:
        paper.run(plan, jobs, file, data_dir=None, meter=bar)
    return len(jobs)


def test_the_usual_runs_are_the_papers_as_far_as_they_can_be_had(tmp_path: Path) -> None:
    for name in ("semeion.npz", "dna.npz"):
        (tmp_path / name).write_bytes(b"12345")
    plan = planned(Wish(), data_dir=str(tmp_path))
    assert plan.runs == {"semeion": 10, "dna": 1}
    assert plan.files["dna"] == [["dna.npz", 5]]
    assert set(plan.missing) == set(published.SIZES) - {"semeion", "dna"}
    assert plan.missing["sensit"] == (
        "its files combined and combined.t are not here; --download fetches them."
    )
    quick = planned(Wish(quick=True), data_dir=str(tmp_path))
    assert (quick.runs, quick.missing) == ({"semeion": 1, "dna": 1}, {})
    assert planned(Wish(runs=3), data_dir=str(tmp_path)).runs == {"semeion": 3, "dna": 3}


def test_without_data_a_quick_look_takes_digits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CALIPERS_DATA", raising=False)
    assert planned(Wish(quick=True)).runs == {"digits": 1}
    with pytest.raises(DatasetError, match="None of the paper's data sets is here: name their"):
        planned(Wish())
    with pytest.raises(DatasetError, match="Data set 'dna' needs"):
        planned(Wish(datasets=["iris", "dna"]))
    with pytest.raises(DatasetError, match="Unknown method 'sdg': choose among euclidean, lmnn"):
        planned(replace(TINY, methods=["sdg"]))
    with pytest.raises(DatasetError, match="The data folder 'nowhere' does not exist"):
        planned(Wish(), data_dir="nowhere")


def test_all_ten_systems_are_known_and_only_those_here_are_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    more = {"mmc", "mcml", "hr-sgd-sum", "ha-sgd-batch"}
    assert tuple(name for name in SYSTEMS if name not in more) == published.TABULATED_METHODS
    assert {SYSTEMS[name].published for name in SYSTEMS} - {"mmc", "mcml"} == {
        *published.TABULATED_METHODS
    }
    monkeypatch.setitem(systems.SYSTEMS, "spml", replace(SYSTEMS["spml"], home="NotWritten"))
    assert "spml" not in [system.name for system in systems.choose()]
    with pytest.raises(DatasetError, match=r"This version of calipers has no SPML\."):
        systems.choose(["spml"])


def test_a_run_is_what_the_estimator_does_by_itself() -> None:
    data = datasets.load("iris", split=2)
    drawn = systems.draw_triplets(data, seed=5, n_triplets=2000)
    row = measure(SYSTEMS["hr-sgd"], data, drawn, seed=5)
    metric = TripletSGD.paper("hr-sgd", n_triplets=2000, random_state=5)
    metric.fit(data.X_train, data.y_train)
    assert row["updates"] == metric.n_updates_
    assert row["projections"] == metric.n_projections_
    assert row["mining_seconds"] == drawn[1]
    assert row["curve"]["updates"] == metric.update_curve_.tolist()
    np.testing.assert_allclose(row["curve"]["loss"], metric.loss_curve_, rtol=1e-4)
    assert "bound" not in row  # no theorem is about it
    chosen = drawn[0][np.random.default_rng(0).permutation(2000)[:1000]]
    near, far = (
        metric.transform(data.X_train)[chosen[:, 0]] - images
        for images in (metric.transform(data.X_train)[chosen[:, column]] for column in (1, 2))
    )
    losses = SmoothHinge(3.0).value(np.sum(far**2, axis=1) - np.sum(near**2, axis=1))
    assert row["training"]["triplets"][-1] == 2000
    assert row["training"]["loss"][-1] == pytest.approx(losses.mean(), rel=1e-4)
    adaptive = TripletSGD.paper("as-sgd", n_triplets=2000, random_state=5)
    bound = Theory.of(adaptive.fit(data.X_train, data.y_train)).update_bound
    assert measure(SYSTEMS["as-sgd"], data, drawn, seed=5)["bound"]["updates"] == pytest.approx(
        bound
    )
    eigenvalues = np.linalg.eigvalsh(metric.get_mahalanobis_matrix())[::-1]
    np.testing.assert_allclose(row["spectrum"], eigenvalues, rtol=1e-3, atol=1e-6)
    assert len(row["picture"]["after"]) == len(row["picture"]["classes"]) == 45
    assert "picture" not in measure(SYSTEMS["hr-sgd"], data, drawn, seed=5, pictures=False)


def test_every_system_leaves_a_row(tmp_path: Path) -> None:
    file = RunFile(tmp_path / ROWS)
    plan = planned(Wish(datasets=["iris"], n_triplets=300))
    assert done(plan, file) == len(systems.choose())
    rows = {row["method"]: row for row in file.read()}
    assert all("failed" not in row for row in rows.values())
    assert rows["euclidean"]["updates"] is None
    assert rows["lego"]["curve"]["triplets"][-1] == 300
    assert rows["sgd"]["updates"] == 300
    assert rows["lmnn"]["seconds"] > 0
    assert rows["lmnn"]["updates"] is None
    assert rows["lmnn"]["data"]["n_train"] == 105
    assert all(row["identity"] == plan.identity.digest for row in rows.values())


def test_what_is_done_is_not_done_again(tmp_path: Path) -> None:
    file = RunFile(tmp_path / ROWS)
    plan = planned(TINY)
    assert done(plan, file) == 2
    assert done(plan, file) == 0
    assert done(planned(replace(TINY, runs=2)), file) == 2
    assert done(planned(replace(TINY, n_triplets=301)), file) == 2  # other settings
    other_files = replace(plan, files={"iris": [["iris.data", 7]]})
    assert len(paper.to_do(other_files, file.read())) == 2
    rows = file.read()
    rows[0]["failed"] = "ValueError: no"
    assert [job.system.name for job in paper.to_do(plan, rows)] == ["euclidean"]


def test_a_data_set_that_is_missing_is_noted_once(tmp_path: Path) -> None:
    file = RunFile(tmp_path / ROWS)
    plan = replace(planned(TINY), missing={"sensit": "It is not here."})
    done(plan, file)
    done(plan, file)
    noted = [row for row in file.read() if row["method"] == forms.ANY_METHOD]
    assert [(row["dataset"], row["skipped"]) for row in noted] == [("sensit", "It is not here.")]


def test_methods_over_all_pairs_learn_from_some_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    data = datasets.load("iris")
    monkeypatch.setitem(systems.QUADRATIC, "mmc", 60)
    row = measure(SYSTEMS["mmc"], data, None, seed=3)
    kept = np.sort(np.random.default_rng(3).permutation(len(data.y_train))[:60])
    metric = MMC(**systems.CITED).fit(data.X_train[kept], data.y_train[kept])
    assert row["trained_on"] == 60
    assert row["error"] == 100 * split_error(data, metric)
    assert "trained_on" not in measure(SYSTEMS["lmnn"], data, None, seed=3)


def test_legos_limits_are_bins_of_a_hundred_pairs() -> None:
    """Squared distances of all pairs are 1 or 10,001: bins are 100 wide, the first ends at 101."""
    X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 10_001**0.5]])
    triplets = np.tile([0, 1, 2], (500, 1))
    limits = systems.lego_limits(X, triplets, seed=0)
    assert limits["near_distance"] ** 2 == pytest.approx(451)  # centre of 401 to 501
    assert limits["far_distance"] ** 2 == pytest.approx(9451)
    data = datasets.load("iris")
    drawn = systems.draw_triplets(data, seed=5, n_triplets=300)
    lego = LEGO(**systems.lego_limits(data.X_train, drawn[0], seed=5), random_state=5)
    lego.fit_triplets(data.X_train, drawn[0])
    row = measure(SYSTEMS["lego"], data, drawn, seed=5)
    assert row["updates"] == lego.n_updates_
    assert row["updates"] != LEGO(random_state=5).fit_triplets(data.X_train, drawn[0]).n_updates_


def test_the_parameter_study_is_asked_for_and_run_once(tmp_path: Path) -> None:
    file = RunFile(tmp_path / ROWS)
    plan = planned(Wish(datasets=["iris"], methods=["parameters"], runs=2, n_triplets=300))
    assert done(plan, file) == len(systems.STUDIED)
    study = Summary(file.read()).study
    assert all("failed" not in row for row in file.read())
    assert {row.parameter for row in study} >= {
        "radius",
        "learning_rate",
        "smoothness",
        "batch_size",
    }
    updates = {
        row.value: row.updates
        for row in study
        if row.parameter == "batch_size" and row.label == "Mini-SGD"
    }
    assert updates == {1: 300, 3: 100, 10: 30, 30: 10, 100: 3}
    assert planned(Wish(datasets=["iris"], n_triplets=300)).studied == {*paper.STUDY}
    text = markdown(Summary(file.read()))
    assert "| iris | Mini-SGD | batch\\_size = 30 | 10 |" in text


def test_a_learner_that_fails_is_a_row_with_the_reason() -> None:
    data = datasets.load("iris")
    broken = replace(data, X_train=np.full_like(data.X_train, 3.0))
    row = measure(SYSTEMS["lmnn"], broken, None, seed=0)
    assert "error" not in row
    assert row["failed"].startswith("ValueError: ")


def test_what_learners_warn_of_is_a_note() -> None:
    data = datasets.load("iris")
    labels = data.y_train.copy()
    labels[0] = 7  # alone in its class
    row = measure(SYSTEMS["lmnn"], replace(data, y_train=labels), None, seed=0)
    assert any("one sample only" in note for note in row["notes"]), row["notes"]


def test_weights_of_steps_grow_with_the_work() -> None:
    seconds = {
        (name, system.name): expected_seconds(name, system)
        for name in [*published.SIZES, "digits"]
        for system in SYSTEMS.values()
    }
    assert min(seconds.values()) > 0
    assert seconds["letter", "sgd"] < seconds["isolet", "sgd"]
    assert seconds["poker", "euclidean"] < seconds["poker", "sgd"]
    total = sum(seconds[name, m] * paper.RUNS.get(name, 1) for name, m in seconds)
    assert total < 60 * 60


def command(folder: Path, *more: str) -> list[str]:
    return [
        *(sys.executable, "-m", "calipers", "paper", "--datasets", "iris", "wine"),
        *("--methods", "euclidean", "as-sgd", "hr-sgd", "--seeds", "6", "--triplets", "2000"),
        *("--output", str(folder), *more),
    ]


@pytest.mark.skipif(sys.platform == "win32", reason="no kill -9 on Windows")
def test_killed_midway_it_goes_on_where_it_was(tmp_path: Path) -> None:
    rows = RunFile(tmp_path / ROWS)
    with subprocess.Popen(command(tmp_path, "--quiet"), stdout=subprocess.DEVNULL) as process:
        waited_until = time.monotonic() + 300
        while len(rows.read()) < 3:
            assert process.poll() is None
            assert time.monotonic() < waited_until
            time.sleep(0.005)
        os.kill(process.pid, signal.SIGKILL)
    before = rows.read()
    assert 3 <= len(before) < 36
    assert not (tmp_path / "report.html").exists()
    with rows.path.open("ab") as lines:
        lines.write(b'{"dataset": "wine", "meth')  # as if killed in the middle of a line
    again = subprocess.run(command(tmp_path, "--json"), capture_output=True, text=True, check=True)
    after = rows.read()
    assert rows.n_dropped == 0
    assert after[: len(before)] == before  # nothing was done twice
    keys = [(row["dataset"], row["method"], row["run"]) for row in after]
    assert len(keys) == len(set(keys)) == 36
    assert len(json.loads(again.stdout)) == 36
    assert (tmp_path / "report.html").exists()


def test_an_interrupt_says_what_is_kept(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[str] = []

    def interrupted(system: Any, *rest: Any, **more: Any) -> Any:
        calls.append(system.name)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return measure(system, *rest, **more)

    monkeypatch.setattr(paper, "measure", interrupted)
    arguments = ["paper", "--datasets", "iris", "--methods", "euclidean", "as-sgd", "--quiet"]
    arguments += ["--triplets", "300", "--output", str(tmp_path)]
    assert main(arguments) == 130
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.startswith("calipers: stopped with 1 of 2 runs left; what is done is in '")
    assert output.err.count("\n") == 1
    assert len(RunFile(tmp_path / ROWS).read()) == 1


def test_a_report_can_be_made_again_without_fitting(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = ["paper", "--datasets", "iris", "--methods", "euclidean", "hr-sgd"]
    arguments += ["--triplets", "300", "--output", str(tmp_path)]
    assert main(arguments) == 0
    assert "3-NN error % (Table 4)" in capsys.readouterr().out
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    (tmp_path / "report.html").unlink()
    monkeypatch.setattr(paper, "run", lambda *_, **__: pytest.fail("something was fitted"))
    assert main(["paper", "--report-only", "--quiet", "--json", "--output", str(tmp_path)]) == 0
    output = capsys.readouterr()
    assert len(json.loads(output.out)) == 2
    assert output.err == ""
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == page


def test_no_rows_no_report(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["paper", "--report-only", "--output", str(tmp_path)]) == 2
    assert "There are no rows in" in capsys.readouterr().err


def test_rows_of_other_settings_are_not_used_silently(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    arguments = ["paper", "--datasets", "iris", "--methods", "euclidean"]
    arguments += ["--output", str(tmp_path), "--triplets"]
    assert main([*arguments, "300"]) == 0
    capsys.readouterr()
    assert main([*arguments, "400"]) == 0
    said = " ".join(capsys.readouterr().err.split())
    assert "1 rows of other settings, versions or machines are in" in said


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--report-only"], "There is no folder"),
        (["--methods", "sdg"], "Unknown method 'sdg': choose among"),
        (["--datasets", "iriss"], "Unknown data set 'iriss': did you mean 'iris'?"),
        (["--datasets", "dna"], "Data set 'dna' needs dna.npz or"),
        (["--data-dir", "nowhere"], "The data folder 'nowhere' does not exist"),
    ],
)
def test_mistakes_get_one_sentence(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    expected: str,
) -> None:
    monkeypatch.delenv("CALIPERS_DATA", raising=False)
    assert main(["paper", "--output", str(tmp_path / "out"), *arguments]) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.count("\n") == 1
    assert expected in output.err


@needs_data
def test_dna_comes_out_near_the_paper(tmp_path: Path) -> None:
    wish = Wish(datasets=["dna"], methods=["as-sgd", "hr-sgd", "oasis", "lego"])
    plan = planned(wish, data_dir=str(FOLDER))
    file = RunFile(tmp_path / ROWS)
    with meter(1, console=Console(file=io.StringIO())) as bar:
        paper.run(plan, paper.to_do(plan, []), file, data_dir=str(FOLDER), meter=bar)
    for row in file.read():
        method = row["method"]
        assert row["updates"] == pytest.approx(published.UPDATES["dna"][method], rel=0.15)
        assert row["error"] == pytest.approx(published.ERRORS["dna"][method], abs=1.0)
