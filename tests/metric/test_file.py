"""Metrics as files: what is written is read, and what is damaged or foreign is told."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from safetensors.numpy import save

from calipers import FileError, SavedMetric, load
from calipers.metric.file import FORMAT, contents_of, plain, read, write
from learners import iris, little
from metric_files import ARRAYS, FakeLearner, message, small_contents, small_file, with_header

X = np.random.default_rng(0).standard_normal((20, 3))


class Hinge(NamedTuple):
    margin: float = 1.0


@dataclass(frozen=True)
class Recipe:
    batch_size: int = 10
    loss: Hinge = field(default_factory=Hinge)


RECIPE = {"type": "Recipe", "batch_size": 10, "loss": {"type": "Hinge", "margin": 1.0}}


def again(estimator: Any, folder: Path, **more: Any) -> SavedMetric:
    """The metric of the estimator after it was written and read."""
    write(contents_of(estimator, **more), folder / "m")
    metric: SavedMetric = load(folder / "m")
    return metric


# What is written


@pytest.mark.parametrize("name", ["TripletSGD", "OASIS", "LEGO", "GMML", "Euclidean", "MetricCV"])
def test_learners_come_back_bit_for_bit(name: str, tmp_path: Path) -> None:
    samples, y = iris()
    metric, pairs = little(name).fit(samples, y), np.stack([samples[:75], samples[75:]], axis=1)
    metric.save(tmp_path / "m")
    saved = load(tmp_path / "m")
    np.testing.assert_array_equal(saved.components_, metric.components_, strict=True)
    np.testing.assert_array_equal(saved.transform(samples), metric.transform(samples))
    np.testing.assert_array_equal(saved.pair_score(pairs), metric.pair_score(pairs))
    assert saved.get_feature_names_out().tolist() == metric.get_feature_names_out().tolist()
    np.testing.assert_array_equal(saved.feature_scale_, getattr(metric, "feature_scale_", None))
    assert saved.learner_ == type(metric).__name__
    assert saved.notes_ == getattr(metric, "notes_", [])
    if hasattr(metric, "n_updates_"):
        assert saved.facts_["n_updates_"] == metric.n_updates_
    saved.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "m").read_bytes()


def test_given_and_resolved_parameters_are_kept_apart(tmp_path: Path) -> None:
    init = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    learner = FakeLearner(Recipe(), init, None).fit(
        X, recipe_=Recipe(), init_=init + 1, n_neighbors_=np.int64(3), n_updates_=7
    )
    metric = again(learner, tmp_path)
    assert metric.recipe_ == metric.parameters_["method"] == RECIPE
    assert metric.parameters_["n_neighbors"] is None
    assert metric.resolved_["n_neighbors"] == 3
    np.testing.assert_array_equal(metric.parameters_["init"], init, strict=True)
    np.testing.assert_array_equal(metric.resolved_["init"], init + 1, strict=True)
    assert metric.facts_ == {"n_updates_": 7}
    assert again(FakeLearner("sgd").fit(X), tmp_path).recipe_ is None


def test_facts_are_what_is_small_and_plain(tmp_path: Path) -> None:
    learner = FakeLearner().fit(
        X,
        loss_=np.float64(0.25),
        limit_=float("inf"),
        converged_=True,
        parts_=(Hinge(2.0),),
        loss_curve_=np.array([1.0, np.nan]),
        chosen_=FakeLearner(),
        nothing_=None,
        table_={"a": 1},
        embedding_=np.zeros(10_001),
        labels_=np.array(["a"]),
        _private_=3,
        unfitted=3,
    )
    facts = again(learner, tmp_path).facts_
    np.testing.assert_array_equal(facts.pop("loss_curve_"), learner.loss_curve_, strict=True)
    assert facts == {
        "loss_": 0.25,
        "limit_": "inf",
        "converged_": True,
        "parts_": [{"type": "Hinge", "margin": 2.0}],
        "chosen_": "FakeLearner()",
    }


@pytest.mark.parametrize("labels", [[3, 5], [0.5, 1.5], ["a", "ä\ud800"], [True, False]], ids=str)
def test_names_and_labels_of_every_kind(labels: list[Any], tmp_path: Path) -> None:
    names = np.array(["a", "b\ud800", "ü"], dtype=object)
    fitted = {"classes_": np.array(labels), "feature_names_in_": names}
    learner = FakeLearner().fit(X, feature_scale_=np.array([1, 2, 3]), **fitted)
    metric = again(learner, tmp_path, label="kind")
    assert metric.classes_.dtype.kind == learner.classes_.dtype.kind
    assert metric.classes_.tolist() == labels
    assert metric.feature_names_in_.tolist() == names.tolist()
    assert metric.label_ == "kind"
    assert metric.feature_scale_ is not None
    assert metric.feature_scale_.tolist() == [1.0, 2.0, 3.0]


def test_values_that_json_does_not_have() -> None:
    assert plain(Recipe()) == RECIPE
    assert plain([np.bool_(True), np.float64(0.5), float("nan"), {1: (2,)}, object]) == [
        True,
        0.5,
        "nan",
        {"1": [2]},
        "<class 'object'>",
    ]


def test_metrics_that_cannot_be_used_are_not_written(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="not fitted yet"):
        FakeLearner().save(tmp_path / "m")
    for changes, told in (
        ({"components": np.array([[np.inf, 1.0, 1.0]])}, "'components' has values that are not f"),
        ({"components": np.ones(3)}, "it has no matrix of components"),
        ({"components": np.ones((2, 3), dtype=int)}, "'components' has shape .2, 3. and type int"),
        ({"feature_scale": np.ones(2)}, "'feature_scale' has shape .2,. and type float64"),
        ({"feature_names": ["a", "b", "a"]}, "it does not have 3 names of features that are told"),
        ({"facts": {"loss_": float("nan")}}, "not JSON compliant"),
    ):
        with pytest.raises(FileError, match=told):
            write(small_contents(**changes), tmp_path / "m")
    assert list(tmp_path.iterdir()) == []


def test_the_same_contents_give_the_same_bytes(tmp_path: Path) -> None:
    path = small_file(tmp_path)
    write(read(path), tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == path.read_bytes()


# What is read


def flip_bits(data: bytes, rng: np.random.Generator) -> bytes:
    changed = bytearray(data)
    for place in rng.integers(len(data), size=rng.integers(1, 4)):
        changed[place] ^= 1 << int(rng.integers(8))
    return bytes(changed)


def truncate(data: bytes, rng: np.random.Generator) -> bytes:
    return data[: rng.integers(len(data))]


def lengthen(data: bytes, rng: np.random.Generator) -> bytes:
    return data + rng.bytes(int(rng.integers(1, 100)))


def splice(data: bytes, rng: np.random.Generator) -> bytes:
    """Move a stretch."""
    a, b, c = np.sort(rng.integers(len(data), size=3))
    return data[:a] + data[b:c] + data[a:b] + data[c:]


@pytest.mark.parametrize("damage", [flip_bits, truncate, lengthen, splice])
def test_damage_is_told_or_harmless(
    damage: Callable[[bytes, np.random.Generator], bytes], tmp_path: Path
) -> None:
    path = small_file(tmp_path)
    data, whole = path.read_bytes(), read(path)
    for seed in range(200):
        path.write_bytes(damage(data, np.random.default_rng(seed)))
        try:
            found = read(path)
        except FileError:
            assert message(path)
            continue
        assert replace(found, arrays={}) == replace(whole, arrays={})
        assert found.arrays.keys() == ARRAYS.keys()
        for name, array in found.arrays.items():
            np.testing.assert_array_equal(array, ARRAYS[name], strict=True)


def test_every_number_name_and_type_is_under_the_checksum(tmp_path: Path) -> None:
    path = small_file(tmp_path)
    data = path.read_bytes()
    for old, new in (
        (b"loss_curve_", b"lost_curve_"),
        (b'"shape":[2,3]', b'"shape":[3,2]'),
        (b'"dtype":"F64"', b'"dtype":"I64"'),
        (b"a note", b"a vote"),
        (np.array([0.5]).tobytes(), np.array([0.25]).tobytes()),
    ):
        assert old in data
        path.write_bytes(data.replace(old, new, 1))
        assert "is damaged (its contents do not have its checksum)" in message(path)


@pytest.mark.parametrize(
    ("entry", "value"),
    [
        ("kind", "pickle"),
        ("facts", None),
        ("facts", ["x"]),
        ("notes", "x"),
        ("feature_names", ["a", "b"]),
        ("feature_names", [1, 2, 3]),
        ("classes", 3),
        ("learner", ...),
        ("__class__", "os.system"),
    ],
)
def test_headers_that_someone_else_has_made(entry: str, value: Any, tmp_path: Path) -> None:
    path = small_file(tmp_path)
    with_header(path, **{entry: value})
    assert f"{str(path)!r} is damaged (" in message(path)


def test_other_formats_and_other_files(tmp_path: Path) -> None:
    path = small_file(tmp_path)
    with_header(path, format=2)
    assert message(path).startswith(f"{str(path)!r} is of format 2, and calipers ")
    assert f"reads format {FORMAT}: fit and save the metric again" in message(path)
    foreign = {"nested": b'{"a":' * 10_000, "empty": b"", "text": b"a,b\n1,2\n"}
    foreign["theirs"] = save({"components": np.eye(3)}, {"calipers": "[]"})
    foreign["nobodys"] = save({"components": np.eye(3)})
    for name, data in foreign.items():
        (tmp_path / name).write_bytes(data)
        assert str(tmp_path / name) in message(tmp_path / name)
    assert message(tmp_path / "none").startswith("There is no file ")
    assert str(tmp_path) in message(tmp_path)


def test_reading_needs_neither_scikit_learn_nor_scipy(tmp_path: Path) -> None:
    code = (
        "import sys; sys.modules.update(dict.fromkeys(['sklearn', 'scipy', 'pandas']))\n"
        "from calipers.metric.file import read, write\n"
        "write(read(sys.argv[1]), sys.argv[2])"
    )
    path, copy = small_file(tmp_path, encoder=None), tmp_path / "copy"
    command = [sys.executable, "-c", code, str(path), str(copy)]
    subprocess.run(command, check=True, timeout=120)
    assert copy.read_bytes() == path.read_bytes()
