"""Ten thousand damaged files: each is refused in one sentence, or is a metric that works."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from calipers import FileError, load
from calipers.metric.file import read
from damage import DAMAGES, metric_by_commands, read_metric
from metric_files import joined, parts, small_file, with_header

N_EACH = 500
N_COMMANDS = 12

each_damage = pytest.mark.parametrize("damage", DAMAGES)


@each_damage
def test_damage_is_told_or_harmless(
    damage: Callable[[bytes, np.random.Generator], bytes], tmp_path: Path
) -> None:
    data = small_file(tmp_path).read_bytes()
    path = tmp_path / "damaged"
    n_refused = 0
    for seed in range(N_EACH):
        path.write_bytes(damage(data, np.random.default_rng(seed)))
        n_refused += bool(read_metric(path))
    assert n_refused > N_EACH // 4


@each_damage
def test_commands_tell_damage_in_one_sentence(
    damage: Callable[[bytes, np.random.Generator], bytes], tmp_path: Path
) -> None:
    data = small_file(tmp_path).read_bytes()
    path = tmp_path / "damaged"
    for seed in range(N_COMMANDS):
        path.write_bytes(damage(data, np.random.default_rng(10_000 + seed)))
        metric_by_commands(path)


@pytest.mark.parametrize(
    "entry", ["learner", "label", "feature_names", "classes", "parameters", "resolved", "recipe"]
)
def test_halves_of_characters_are_told(entry: str, tmp_path: Path) -> None:
    """Read, they could neither be shown nor be written as the name of a column."""
    half = "\ud800"
    values = {
        "feature_names": [half] * 3,
        "classes": [half],
        "parameters": {half: 1},
        "resolved": {"init": half},
        "recipe": {"loss": {"type": half}},
    }
    data = small_file(tmp_path).read_bytes()
    path = tmp_path / "damaged"
    path.write_bytes(with_header(data, **{entry: values.get(entry, half)}))
    assert read_metric(path).endswith("save the metric again, or copy the file anew.")


def test_two_features_of_one_name_are_told(tmp_path: Path) -> None:
    path = tmp_path / "damaged"
    path.write_bytes(with_header(small_file(tmp_path).read_bytes(), feature_names=["a", "b", "a"]))
    assert "('feature_names' in its header is not a list of distinct names)" in read_metric(path)


def test_every_flipped_bit_of_a_file_is_told(tmp_path: Path) -> None:
    """Of the header, of names, dtypes and shapes, of the padding and of the numbers."""
    path = small_file(tmp_path)
    data = path.read_bytes()
    with path.open("r+b", buffering=0) as stream:
        for place, byte in enumerate(data):
            for changed in (*(byte ^ (1 << bit) for bit in range(8)), byte):
                stream.seek(place)
                stream.write(bytes([changed]))
                assert bool(read_metric(path)) == (changed != byte), (place, changed)


def test_a_change_that_means_nothing_is_told_too(tmp_path: Path) -> None:
    data = small_file(tmp_path).read_bytes()
    path = tmp_path / "damaged"
    outer, body = parts(data)
    for changed in (joined(dict(reversed(outer.items())), body), joined(outer, body) + b"\0"):
        path.write_bytes(changed)
        assert "(its bytes do not have the checksum in its header)" in read_metric(path)


@pytest.mark.parametrize(
    ("name", "entry", "value"),
    [
        ("components", "dtype", "I64"),
        ("components", "shape", [3, 2]),
        ("facts.loss_curve_", "dtype", "I64"),
        ("facts.loss_curve_", "shape", [1, 2]),
    ],
)
def test_another_dtype_or_shape_of_the_same_bytes_is_told(
    name: str, entry: str, value: Any, tmp_path: Path
) -> None:
    path = small_file(tmp_path)
    outer, body = parts(path.read_bytes())
    outer[name][entry] = value
    path.write_bytes(joined(outer, body))
    with pytest.raises(FileError, match=r"\(its bytes do not have the checksum in its header\)"):
        read(path)


def test_another_name_of_an_array_is_told(tmp_path: Path) -> None:
    path = small_file(tmp_path)
    outer, body = parts(path.read_bytes())
    outer["facts.lost_curve_"] = outer.pop("facts.loss_curve_")
    path.write_bytes(joined(outer, body))
    with pytest.raises(FileError, match=r"\(its bytes do not have the checksum in its header\)"):
        read(path)


def test_every_truncation_is_noticed(tmp_path: Path) -> None:
    data = small_file(tmp_path).read_bytes()
    path = tmp_path / "damaged"
    for length in range(len(data)):
        path.write_bytes(data[:length])
        with pytest.raises(FileError, match="is not a whole metric file"):
            load(path)
