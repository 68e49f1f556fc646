"""Ten thousand damaged files: each is refused in one sentence, or is a metric that works."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from calipers import FileError, load
from damage import DAMAGES, metric_by_commands, read_metric
from metric_files import parts, small_file, with_header

N_EACH = 1250
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


@pytest.mark.parametrize("entry", ["learner", "label", "feature_names", "classes", "parameters"])
def test_halves_of_characters_are_told(entry: str, tmp_path: Path) -> None:
    """Read, they could neither be shown nor be written as the name of a column."""
    half = "\ud800"
    values = {"feature_names": [half] * 3, "classes": [half], "parameters": {half: 1}}
    data = small_file(tmp_path).read_bytes()
    path = tmp_path / "damaged"
    path.write_bytes(with_header(data, **{entry: values.get(entry, half)}))
    assert metric_by_commands(path).endswith("save the metric again, or copy the file anew.")


def test_two_features_of_one_name_are_told(tmp_path: Path) -> None:
    path = tmp_path / "damaged"
    path.write_bytes(with_header(small_file(tmp_path).read_bytes(), feature_names=["a", "b", "a"]))
    assert "('feature_names' in its header is not a list of names)" in metric_by_commands(path)


def test_every_flipped_bit_of_the_matrices_is_noticed(tmp_path: Path) -> None:
    data = small_file(tmp_path).read_bytes()
    path, start = tmp_path / "damaged", len(data) - len(parts(data)[1])
    for place in range(start, len(data)):
        changed = bytearray(data)
        changed[place] ^= 1 << (place % 8)
        path.write_bytes(changed)
        with pytest.raises(FileError, match="checksum"):
            load(path)


def test_every_truncation_is_noticed(tmp_path: Path) -> None:
    data = small_file(tmp_path).read_bytes()
    path = tmp_path / "damaged"
    for length in range(len(data)):
        path.write_bytes(data[:length])
        with pytest.raises(FileError, match="is not a whole metric file"):
            load(path)
