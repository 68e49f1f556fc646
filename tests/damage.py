"""Ways to damage a metric's file or a table's, and what must come of reading it.

Tests try some thousands; ``python -m checks files`` as many as one likes.
"""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import dump_svmlight_file

from calipers import FileError, load
from calipers.cli.main import main
from calipers.data.tables import write
from metric_files import joined, parts, sealed
from table_rows import samples_of

# Metrics


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
    """Change what the outer header says of an array, under the right checksum."""
    outer, body = parts(data)
    tensor = outer[["components", "feature_scale"][int(rng.integers(2))]]
    key = ["dtype", "shape", "data_offsets"][int(rng.integers(3))]
    tensor[key] = odd(rng)
    if rng.random() < 0.3:
        outer[str(odd(rng))] = outer.pop("components")
    return sealed(outer, body)


def enter(data: bytes, rng: np.random.Generator) -> bytes:
    """Put something odd into our own header, under the right checksum."""
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
    return sealed(outer, body)


def swap_header(data: bytes, rng: np.random.Generator) -> bytes:
    """Put something else in the place of our header, also deep nesting."""
    outer, body = parts(data)
    texts = ["[" * 100_000, "{", '{"format": 2}', "null", "1", '"x"', "9" * 5000, "", "NaN"]
    text = texts[int(rng.integers(len(texts)))]
    outer["__metadata__"] = [{"calipers": text}, {"calipers": odd(rng)}, odd(rng)][
        int(rng.integers(3))
    ]
    return sealed(outer, body)


def declare_plainly(data: bytes, rng: np.random.Generator) -> bytes:
    """Change the dtype or the shape of an array and nothing else, so that it still fits."""
    outer, body = parts(data)
    tensor = outer[["components", "feature_scale", "facts.loss_curve_"][int(rng.integers(3))]]
    if rng.random() < 0.5:
        tensor["dtype"] = ["I64", "U64"][int(rng.integers(2))]
    else:
        tensor["shape"] = [[1, *tensor["shape"]], [*tensor["shape"], 1]][int(rng.integers(2))]
    return joined(outer, body)


DAMAGES = [
    flip_bits,
    flip_in_header,
    truncate,
    lengthen,
    splice,
    declare,
    declare_plainly,
    enter,
    swap_header,
]


def _one_line(error: FileError) -> str:
    assert "\n" not in str(error), str(error)
    return str(error)


def by_command(output: Path, *words: str) -> str:
    """The sentence by which a command refuses, or "" once its output is there."""
    output.unlink(missing_ok=True)
    told = io.StringIO()
    with redirect_stderr(told), redirect_stdout(io.StringIO()):
        code = main([*words, "--quiet"])
    lines = told.getvalue().splitlines()
    if code == 0:
        assert lines == [], lines
        assert words[0] == "inspect" or output.exists()
        return ""
    assert code == 2, (code, lines)
    assert len(lines) == 1, lines
    assert lines[0].startswith("calipers: ")
    assert not output.exists()
    return lines[0]


def read_metric(path: Path) -> str:
    """The sentence by which a file is refused, or "" for a metric that works."""
    try:
        metric = load(path)
    except FileError as error:
        return _one_line(error)
    names = getattr(metric, "feature_names_in_", None)
    rows = np.ones((2, 3))
    images = metric.transform(rows if names is None else pd.DataFrame(rows, columns=names))
    assert images.shape == (2, len(metric.components_))
    assert np.isfinite(images).all()
    return ""


def metric_by_commands(path: Path) -> str:
    """The same by the command line: `inspect` and `transform` refuse at least what `load` does."""
    rows, mapped = path.with_name("rows.csv"), path.with_name("mapped.csv")
    rows.write_text("a,b,c\n1,2,3\n4,5,6\n")
    refused = read_metric(path)
    shown = by_command(mapped, "inspect", str(path))
    told = by_command(mapped, "transform", str(path), str(rows), "-o", str(mapped))
    assert (shown and told) or not refused, (shown, told)
    return refused


# Tables


X = np.random.default_rng(0).normal(size=(6, 3))
Y = np.array(list("ababab"))
SIGNS = [b",", b"\n", b'"', b"\0", b"nan", b"1e999", b":", b"-", b"\xff", b"{", b"("]


def text() -> bytes:
    rows = [",".join(map(repr, row)) + f",{y}" for row, y in zip(X.tolist(), Y, strict=True)]
    return "\n".join(["u,v,w,y", *rows]).encode()


def array() -> bytes:
    stream = io.BytesIO()
    np.save(stream, X)
    return stream.getvalue()


def archive() -> bytes:
    stream = io.BytesIO()
    np.savez_compressed(stream, X=X, y=Y)
    return stream.getvalue()


def sparse() -> bytes:
    stream = io.BytesIO()
    dump_svmlight_file(X, Y == "a", stream, zero_based=False)
    return stream.getvalue()


def columns(folder: Path) -> bytes:
    write(folder / "whole.parquet", X, ["u", "v", "w"], carried={"y": Y})
    return (folder / "whole.parquet").read_bytes()


def damaged(data: bytes, rng: np.random.Generator) -> bytes:
    """Flip bits, cut the end or the middle, or put in signs that mean something."""
    changed, way = bytearray(data), int(rng.integers(4))
    if way == 0:
        return data[: rng.integers(len(data))]
    if way == 1:
        a, b = np.sort(rng.integers(len(data), size=2))
        return data[:a] + data[b:]
    for place in rng.integers(len(data), size=rng.integers(1, 5)):
        if way == 2:
            changed[place] ^= 1 << int(rng.integers(8))
        else:
            changed[place : place + 1] = SIGNS[int(rng.integers(len(SIGNS)))]
    return bytes(changed)


FILES: dict[str, tuple[Callable[[Path], bytes], str | None]] = {
    "a.csv": (lambda _: text(), "y"),
    "a.csv.gz": (lambda _: gzip.compress(text(), mtime=0), "y"),
    "a.npy": (lambda _: array(), "-1"),
    "a.npz": (lambda _: archive(), None),
    "a.svm": (lambda _: sparse(), None),
    "a.parquet": (columns, "y"),
}


def read_table(path: Path, label: str | None) -> str:
    """The sentence by which a file is refused, or "" for rows that are finite."""
    try:
        data = samples_of(path, label=label)
    except FileError as error:
        return _one_line(error)
    assert np.isfinite(np.asarray(data.X, dtype=float)).all()
    assert data.y is None or len(data.y) == len(data.X)
    return ""


def table_by_command(path: Path, label: str | None) -> str:
    """The same by the command line: `fit` refuses what the reader does, and what has no classes."""
    metric = path.with_name("metric.safetensors")
    words = [
        "fit",
        str(path),
        "--learner",
        "triplet-sgd",
        "--method",
        "mini-sgd",
        "--n-triplets",
        "10",
        "-o",
        str(metric),
    ]
    told = by_command(metric, *words, *(["--label", label] if label else []))
    assert told or not read_table(path, label)
    return told
