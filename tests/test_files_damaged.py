"""A thousand damaged files: each is refused in one sentence, or is a metric that works."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from calipers import FileError, load
from metric_files import joined, parts, small_file

N_EACH = 125
X = np.ones((2, 3))


def flip_bits(data: bytes, rng: np.random.Generator) -> bytes:
    changed = bytearray(data)
    for place in rng.integers(len(data), size=rng.integers(1, 4)):
        changed[place] ^= 1 << int(rng.integers(8))
    return bytes(changed)


def flip_in_header(data: bytes, rng: np.random.Generator) -> bytes:
    end = len(data) - len(parts(data)[1])
    return flip_bits(data[:end], rng) + data[end:]


def truncate(data: bytes, rng: np.random.Generator) -> bytes:
    return data[: rng.integers(len(data))]


def lengthen(data: bytes, rng: np.random.Generator) -> bytes:
    return data + rng.bytes(int(rng.integers(1, 100)))


def splice(data: bytes, rng: np.random.Generator) -> bytes:
    """Move, double or drop a stretch."""
    a, b, c = np.sort(rng.integers(len(data), size=3))
    return [data[:a] + data[b:c] + data[a:b] + data[c:], data[:b] + data[a:], data[:a] + data[b:]][
        int(rng.integers(3))
    ]


ODD: list[Any] = [
    0,
    -1,
    1 << 40,
    1 << 63,
    1 << 64,
    10**400,
    1e308,
    True,
    None,
    "",
    "../../etc/passwd",
    "/dev/zero",
    "__class__",
    "os.system",
    "\ud800",
    "a\0b",
    [],
    [[]],
    {},
    {"__reduce__": ["os.system", "true"]},
    [1 << 40, 1 << 40],
    [0, 1 << 62],
    "F16",
    "BF16",
    "x" * 10_000,
]


def odd(rng: np.random.Generator) -> Any:
    return ODD[int(rng.integers(len(ODD)))]


def declare(data: bytes, rng: np.random.Generator) -> bytes:
    """Change what the outer header says of a matrix: kind, shape or place."""
    outer, body = parts(data)
    tensor = outer[["components", "feature_scale"][int(rng.integers(2))]]
    key = ["dtype", "shape", "data_offsets"][int(rng.integers(3))]
    tensor[key] = odd(rng)
    if rng.random() < 0.3:
        outer[str(odd(rng))] = outer.pop("components")
    return joined(outer, body)


def enter(data: bytes, rng: np.random.Generator) -> bytes:
    """Put something odd into our own header."""
    outer, body = parts(data)
    header = json.loads(outer["__metadata__"]["calipers"])
    key = list(header)[int(rng.integers(len(header)))]
    value = odd(rng)
    if isinstance(header[key], dict) and rng.random() < 0.5:
        header[key][str(odd(rng))] = value
    elif isinstance(header[key], list) and rng.random() < 0.5:
        header[key].append(value)
    else:
        header[key] = value
    outer["__metadata__"]["calipers"] = json.dumps(header)
    return joined(outer, body)


def swap_header(data: bytes, rng: np.random.Generator) -> bytes:
    """Put something else in the place of our header, also deep nesting."""
    outer, body = parts(data)
    texts = ["[" * 100_000, "{", '{"format": 1}', "null", "1", '"x"', "9" * 5000, "", "NaN"]
    text = texts[int(rng.integers(len(texts)))]
    outer["__metadata__"] = [{"calipers": text}, {"calipers": odd(rng)}, odd(rng)][
        int(rng.integers(3))
    ]
    return joined(outer, body)


DAMAGES = [flip_bits, flip_in_header, truncate, lengthen, splice, declare, enter, swap_header]


@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_is_told_or_harmless(
    damage: Callable[[bytes, np.random.Generator], bytes], tmp_path: Path
) -> None:
    data = small_file(tmp_path).read_bytes()
    path = tmp_path / "damaged"
    n_refused = 0
    for seed in range(N_EACH):
        path.write_bytes(damage(data, np.random.default_rng(seed)))
        try:
            metric = load(path)
        except FileError as error:
            sentence = str(error)
        else:
            sentence = ""
        n_refused += bool(sentence)
        assert "\n" not in sentence, seed
        if not sentence:
            names = getattr(metric, "feature_names_in_", None)
            images = metric.transform(X if names is None else pd.DataFrame(X, columns=names))
            assert images.shape == (2, len(metric.components_)), seed
            assert np.isfinite(images).all(), seed
    assert n_refused > N_EACH // 4


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
