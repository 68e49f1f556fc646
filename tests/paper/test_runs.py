"""What is run, what is not run again, and what a run leaves."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from calipers import MMC, TripletSGD
from calipers.paper import datasets, published, runs, systems
from calipers.paper.datasets import DatasetError
from calipers.paper.protocol import split_error
from calipers.paper.runs import ROWS, Plan, Wish, measure, plan, read_rows
from calipers.paper.systems import STUDIED, SYSTEMS
from calipers.paper.theory import Theory

IRIS = datasets.load("iris", split=2)
DRAWN = systems.draw_triplets(IRIS, seed=5, n_triplets=2000)
TINY = Wish(datasets=["iris"], methods=["euclidean", "as-sgd"], n_triplets=300)


@pytest.fixture(autouse=True)
def _no_other_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CALIPERS_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("CALIPERS_DATA", raising=False)


def counts(made: Plan) -> dict[str, int]:
    return {job.dataset: job.number + 1 for job in made.jobs}


def done(made: Plan, file: Path) -> int:
    """Do what is to be done; returns how many runs that were."""
    return len(list(runs.run(made, file)))


# What is run


def test_the_usual_runs_are_the_papers_as_far_as_they_can_be_had(tmp_path: Path) -> None:
    for name in ("semeion.npz", "dna.npz"):
        (tmp_path / name).touch()
    made = plan(Wish(data_dir=str(tmp_path)))
    assert counts(made) == {"semeion": 10, "dna": 1}
    assert made.files == {"semeion": ["semeion.npz"], "dna": ["dna.npz"]}
    assert set(made.missing) == set(published.SIZES) - {"semeion", "dna"}
    assert len(made.jobs) == 11 * len(SYSTEMS) + len(STUDIED)  # the study: dna
    quick = plan(Wish(runs=runs.QUICK_RUNS, data_dir=str(tmp_path)))
    assert len(quick.jobs) == 2 * len(SYSTEMS)
    assert quick.missing == {}
    assert counts(plan(Wish(seeds=3, data_dir=str(tmp_path)))) == {"semeion": 3, "dna": 3}


def test_without_data_a_quick_look_takes_digits() -> None:
    assert counts(plan(Wish(runs=runs.QUICK_RUNS))) == {"digits": 1}
    for wish, said in (
        (Wish(), "None of the paper's data sets is here: name their"),
        (Wish(datasets=["iris", "dna"]), "Data set 'dna' needs"),
        (Wish(data_dir="nowhere"), "The data folder 'nowhere' does not exist"),
    ):
        with pytest.raises(DatasetError, match=said):
            plan(wish)


def test_what_is_done_is_not_done_again(tmp_path: Path) -> None:
    file, made = tmp_path / ROWS, plan(TINY)
    assert [done(made, file), done(made, file)] == [2, 0]
    assert done(plan(replace(TINY, seeds=2)), file) == 2
    assert done(plan(replace(TINY, n_triplets=301)), file) == 2
    assert len(replace(made, files={"iris": ["iris.data"]}).to_do(file)) == 2
    (first, *_) = made.rows(file)
    runs.append_row(file, {**first, "failed": "ValueError: no"})
    assert [job.system.name for job in made.to_do(file)] == ["euclidean"]
    assert len(made.rows(file)) == 4


def test_the_parameter_study_is_run_once(tmp_path: Path) -> None:
    file = tmp_path / ROWS
    made = plan(Wish(datasets=["iris"], methods=["parameters"], seeds=2, n_triplets=300))
    assert done(made, file) == len(STUDIED)
    rows = {row["method"]: row for row in made.rows(file)}
    assert not any("failed" in row for row in rows.values())
    updates = {b: rows[f"mini-sgd:batch_size={b}"]["updates"] for b in (1, 3, 10, 30, 100)}
    assert updates == {1: 300, 3: 100, 10: 30, 30: 10, 100: 3}
    assert not {job.system.parameter for job in plan(Wish(datasets=["iris"])).jobs} - {""}


# What a run leaves


def test_a_run_is_what_the_estimator_does_by_itself() -> None:
    row = measure(SYSTEMS["as-sgd"], IRIS, DRAWN, seed=5)
    metric = TripletSGD.paper("as-sgd", n_triplets=2000, random_state=5)
    metric.fit(IRIS.X_train, IRIS.y_train)
    assert row["updates"] == metric.n_updates_
    assert row["error"] == 100 * split_error(IRIS, metric)
    assert row["mining_seconds"] == DRAWN[1]
    assert row["update_bound"] == pytest.approx(Theory.of(metric).update_bound)
    assert (row["n_train"], row["n_features"], row["n_classes"]) == (105, 4, 3)
    row = measure(SYSTEMS["euclidean"], IRIS, DRAWN, seed=5)
    assert row["error"] == 100 * split_error(IRIS)
    assert "updates" not in row


def test_figure_1_is_the_loss_at_the_average_so_far() -> None:
    curve = runs.training_curve(SYSTEMS["mini-sgd"], IRIS.X_train, DRAWN[0], seed=5)
    assert curve["triplets"][0] == 0
    assert curve["triplets"][-1] == 2000
    assert (np.diff(curve["triplets"]) > 0).all()
    chosen = DRAWN[0][np.random.default_rng(0).permutation(2000)[:1000]]
    metric = TripletSGD.paper("mini-sgd", n_triplets=2000, random_state=5)
    metric.fit(IRIS.X_train, IRIS.y_train)
    for images, loss in (
        (IRIS.X_train, curve["loss"][0]),
        (metric.transform(IRIS.X_train), curve["loss"][-1]),
    ):
        anchor, near, far = (images[column] for column in chosen.T)
        margins = np.sum((anchor - far) ** 2, axis=1) - np.sum((anchor - near) ** 2, axis=1)
        assert loss == pytest.approx(np.log1p(np.exp(3 - 3 * margins)).mean() / 3, rel=1e-6)


def test_methods_over_all_pairs_learn_from_some_samples() -> None:
    row = measure(replace(SYSTEMS["mmc"], most=60), IRIS, DRAWN, seed=3)
    kept = np.sort(np.random.default_rng(3).permutation(len(IRIS.y_train))[:60])
    metric = MMC(**SYSTEMS["mmc"].settings).fit(IRIS.X_train[kept], IRIS.y_train[kept])
    assert row["trained_on"] == 60
    assert row["error"] == 100 * split_error(IRIS, metric)
    assert "trained_on" not in measure(SYSTEMS["lmnn"], IRIS, DRAWN, seed=3)


def test_a_learner_that_fails_is_a_row_with_the_reason() -> None:
    broken = replace(IRIS, X_train=np.full_like(IRIS.X_train, 3.0))
    row = measure(SYSTEMS["lmnn"], broken, DRAWN, seed=0)
    assert "error" not in row
    assert row["failed"].startswith("ValueError: ")


def test_an_interrupted_fit_leaves_no_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(system: object, *_: object, **__: object) -> TripletSGD:
        metric = TripletSGD.paper("sgd", n_triplets=10).fit(IRIS.X_train, IRIS.y_train)
        metric.interrupted_ = True
        return metric

    monkeypatch.setattr(runs, "_fitted", interrupted)
    with pytest.raises(KeyboardInterrupt):
        done(plan(TINY), tmp_path / ROWS)
    assert read_rows(tmp_path / ROWS) == []


# Rows


def test_rows_come_back_also_after_a_line_that_was_cut_off(tmp_path: Path) -> None:
    file = tmp_path / ROWS
    row = {"dataset": "naïve \u2028", "method": "sgd", "run": 0, "origin": {}, "error": None}
    assert read_rows(file) == []
    runs.append_row(file, row)
    with file.open("a") as lines:
        lines.write('\n{"dataset": "dna", "meth')
    assert read_rows(file) == [row]
    later = {**row, "error": 2.0}
    runs.append_row(file, {**row, "run": 1})
    runs.append_row(file, later)
    assert read_rows(file) == [later, {**row, "run": 1}]


@pytest.mark.skipif(sys.platform == "win32", reason="no kill -9 on Windows")
def test_killed_midway_the_command_goes_on_where_it_was(tmp_path: Path) -> None:
    command = [
        *(sys.executable, "-m", "calipers", "paper", "--datasets", "iris", "wine", "--methods"),
        *("euclidean", "as-sgd", "hr-sgd", "--seeds", "6", "--n-triplets", "2000", "--json"),
        *("--output", str(tmp_path)),
    ]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        waited_until = time.monotonic() + 300
        while len(read_rows(tmp_path / ROWS)) < 3:
            assert process.poll() is None
            assert time.monotonic() < waited_until
            time.sleep(0.005)
        os.kill(process.pid, signal.SIGKILL)
    before = read_rows(tmp_path / ROWS)
    assert 3 <= len(before) < 36
    assert not (tmp_path / "report.html").exists()
    again = subprocess.run(command, capture_output=True, text=True, check=True)
    after = read_rows(tmp_path / ROWS)
    assert after[: len(before)] == before  # nothing was done twice
    assert len(after) == len(json.loads(again.stdout)) == 36
    assert (tmp_path / "report.html").exists()
