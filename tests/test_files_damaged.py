"""Ten thousand damaged files: each is refused in one sentence, or is a metric that works."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from calipers import FileError, load
from calipers.cli import main
from damage import DAMAGES, read_metric
from metric_files import parts, small_file

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
    damage: Callable[[bytes, np.random.Generator], bytes],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    data = small_file(tmp_path).read_bytes()
    path, rows, mapped = tmp_path / "damaged", tmp_path / "rows.csv", tmp_path / "mapped.csv"
    rows.write_text("a,b,c\n1,2,3\n4,5,6\n")
    for seed in range(N_COMMANDS):
        path.write_bytes(damage(data, np.random.default_rng(10_000 + seed)))
        refused = bool(read_metric(path))
        for words in (
            ["inspect", str(path)],
            ["transform", str(path), str(rows), "-o", str(mapped)],
        ):
            code = main(words)
            told = capsys.readouterr().err.splitlines()
            assert code == 2 if refused else code in (0, 2), (seed, words)
            if code:
                assert len(told) == 1, (seed, words, told)
                assert told[0].startswith("calipers: ")
                assert not mapped.exists()
            mapped.unlink(missing_ok=True)


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
