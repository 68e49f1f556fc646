"""Seconds and memory of default fits by the number of samples and features.

Each fit is `TripletSGD`'s default in a process of its own, with all libraries loaded by a small fit
before. The samples are overlapping classes, or unit-norm embeddings of 50 classes, in an array or
in a memory-mapped file. "above MB" is what the fit adds to the resident memory of the process,
pages of the file included; the last column is what it may take. The last row reads a CSV.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from pandas import DataFrame

from benchmarks import fresh
from benchmarks.clock import timed
from benchmarks.rows import Column, Report, Row
from calipers.data.tables import read_table, write_table

TABLES = {
    "sizes": [
        Column("samples", "name", width=32),
        Column("X MB", "X_megabytes", ",.0f"),
        Column("classes", "n_classes", width=7),
        Column("mining s", "mining_seconds", ".1f"),
        Column("solve s", "solve_seconds", ".1f"),
        Column("seconds", "seconds", ".2f"),
        Column("CPU s", "cpu_seconds", ".2f"),
        Column("above MB", "above_megabytes", ",.0f", 9),
        Column("limit", "limit", width=16),
    ]
}
_BLOCK = 100_000
_SIGNAL, _NUISANCE = 32, 64  # dimensions of the embeddings' subspaces


class Size(NamedTuple):
    """Samples, and how long and how much memory a fit may take."""

    n: int
    d: int
    n_classes: int = 20
    kind: str = "array"  # or "file", "embeddings" or "CSV"
    limit: str = ""
    n_triplets: int | None = None

    @property
    def name(self) -> str:
        """As the table shows it."""
        return f"{self.n:,} x {self.d:,}, {self.kind}"


SIZES = (
    Size(10_000, 384, 50, "embeddings", "5 s"),
    Size(10_000, 1_536, 50, "embeddings", "60 s"),
    Size(5_000, 3_072, 50, "embeddings", "300 s, 1,000 MB"),
    Size(1_000_000, 20, 20, "array", "30 s, 300 MB"),
    Size(2_000_000, 64, 20, "file", "60 s, 300 MB"),
    Size(10_000_000, 64, 20, "file", "", 2_000),
    Size(100_000, 20, 20, "CSV"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    numbers = range(len(SIZES))
    listed = ", ".join(f"{i}: {size.name}" for i, size in enumerate(SIZES))
    parser.add_argument(
        "--only", nargs="+", type=int, choices=numbers, default=numbers, help=listed
    )
    parser.add_argument("--shrink", type=int, default=1, help="divide the samples")
    parser.add_argument("--folder", type=Path, help="where the data go (default: $TMPDIR)")
    parser.add_argument("--seconds", type=float, default=3600.0, help="cap of one fit")


def run(args: argparse.Namespace, report: Report) -> None:
    """Generate, fit, size by size; of the last file from few triplets only."""
    for number in args.only:
        size = SIZES[number]._replace(n=SIZES[number].n // args.shrink)
        with TemporaryDirectory(dir=args.folder) as folder:
            write_samples(Path(folder), size)
            if size.kind == "CSV":
                row = read_as_csv(Path(folder))
            else:
                row = fresh.call(
                    seconds=args.seconds,
                    folder=folder,
                    memmap=size.kind == "file",
                    n_triplets=size.n_triplets,
                )
        report.add("sizes", name=size.name, **size._asdict(), **row)


def read_as_csv(folder: Path) -> Row:
    """Seconds to read the samples from CSV, to the last bit; the least of five times."""
    X, y, path = np.load(folder / "X.npy"), np.load(folder / "y.npy"), folder / "X.csv"
    write_table(path, X, [f"f{i}" for i in range(X.shape[1])], others=DataFrame({"y": y}))
    seconds, cpu_seconds = [], []
    for _ in range(5):
        before = process_time()
        taken, table = timed(lambda: read_table(path, label="y"))
        seconds.append(taken)
        cpu_seconds.append(process_time() - before)
    if not np.array_equal(table.X, X):
        raise ValueError("what was read is not what was written")
    return {"X_megabytes": X.nbytes / 1e6, "seconds": min(seconds), "cpu_seconds": min(cpu_seconds)}


def write_samples(folder: Path, size: Size) -> None:
    """X.npy and y.npy: of an array in float64, else in float32."""
    if size.kind == "embeddings":
        X, y = embeddings(size.n, size.d, size.n_classes, seed=0)
        np.save(folder / "X.npy", X)
        np.save(folder / "y.npy", y)
        return
    rng = np.random.default_rng(0)
    centres = rng.standard_normal((size.n_classes, size.d))
    y = rng.integers(size.n_classes, size=size.n)
    dtype = np.float32 if size.kind == "file" else np.float64
    file = np.lib.format.open_memmap(folder / "X.npy", "w+", dtype=dtype, shape=(size.n, size.d))
    for first in range(0, size.n, _BLOCK):
        labels = y[first : first + _BLOCK]
        file[first : first + _BLOCK] = rng.standard_normal((len(labels), size.d)) + centres[labels]
    file.flush()
    np.save(folder / "y.npy", y)


def embeddings(
    n: int, d: int, n_classes: int, *, seed: int
) -> tuple[npt.NDArray[np.float32], npt.NDArray[Any]]:
    """Samples of length 1 in float32, as sentence models give them, and their classes.

    A class has its centre in one subspace; the samples scatter most in another.
    """
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % n_classes)
    signal = rng.normal(size=(n_classes, _SIGNAL)) @ _directions(rng, _SIGNAL, d)
    nuisance = 2.0 * rng.normal(size=(n, _NUISANCE)) @ _directions(rng, _NUISANCE, d)
    X = signal[y] + nuisance + rng.normal(scale=8 / np.sqrt(d), size=(n, d))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    return X.astype(np.float32), y


def _directions(rng: np.random.Generator, k: int, d: int) -> npt.NDArray[np.float64]:
    """Rows that are orthogonal and of length 1."""
    return np.linalg.qr(rng.normal(size=(d, k)))[0].T
