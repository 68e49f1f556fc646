"""Peak memory and seconds of fits on files that do not fit into it.

A file of samples is generated, then fitted in a fresh process: by the library on a memmap of
it, and by ``calipers fit`` on the NPY file. "peak MB" is the largest resident memory of
that process, all libraries and pages of the file included, but for the time in which code
are compiled or loaded, which a small fit does beforehand; "above MB" is what the fit added.
The fit is `TripletSGD`'s default but for the number of triplets, unless ``--init`` is given.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks import fresh
from benchmarks.rows import Column, Report
from calipers.init import NAMES

TABLES = {
    "outofcore": [
        Column("how", "how", width=12),
        Column("samples", "n", ",", 11),
        Column("d", "d", ",", 5),
        Column("file MB", "file_megabytes", ",.0f"),
        Column("triplets", "n_triplets", ",", 9),
        Column("mining s", "mining_seconds", ".1f"),
        Column("solve s", "solve_seconds", ".2f"),
        Column("peak MB", "peak_megabytes", ",.0f"),
        Column("above MB", "above_megabytes", ",.0f", 9),
    ]
}
_BLOCK = 100_000
_CLASSES = 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What may be asked."""
    parser.add_argument("--n", type=int, default=10_000_000, help="samples (default: 10 million)")
    parser.add_argument("--d", type=int, default=64, help="features (default: 64)")
    parser.add_argument("--triplets", type=int, default=2000, help="of a round")
    parser.add_argument(
        "--init",
        default="auto",
        choices=("auto", *NAMES),
        help="of the fit by the library (default: %(default)s)",
    )
    parser.add_argument("--folder", type=Path, help="where the file goes (default: $TMPDIR)")
    parser.add_argument("--seconds", type=float, default=3600.0, help="cap of one fit")


def run(asked: argparse.Namespace, report: Report) -> None:
    """Generate, fit by both ways."""
    with TemporaryDirectory(dir=asked.folder) as folder:
        write_samples(Path(folder), asked.n, asked.d)
        for how in ("fit", "calipers fit") if asked.init == "auto" else ("fit",):
            row = fresh.call(
                "out_of_core",
                seconds=asked.seconds,
                folder=folder,
                n_triplets=asked.triplets,
                init=None if how == "calipers fit" else asked.init,
            )
            report.add("outofcore", how=how, n=asked.n, d=asked.d, n_triplets=asked.triplets, **row)


def write_samples(folder: Path, n: int, d: int) -> None:
    """Overlapping classes as X.npy, in float32, and y.npy."""
    rng = np.random.default_rng(0)
    centres = rng.standard_normal((_CLASSES, d), dtype=np.float32)
    y = rng.integers(_CLASSES, size=n)
    X = np.lib.format.open_memmap(folder / "X.npy", "w+", dtype=np.float32, shape=(n, d))
    for first in range(0, n, _BLOCK):
        labels = y[first : first + _BLOCK]
        noise = rng.standard_normal((len(labels), d), dtype=np.float32)
        X[first : first + _BLOCK] = noise + centres[labels]
    X.flush()
    np.save(folder / "y.npy", y)
