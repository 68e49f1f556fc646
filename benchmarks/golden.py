"""Results of every learner beside those of a file, which ``--make`` writes with the code as it is.

A case is a data set, a learner, and the way in which it is fitted. Its results are the matrix M,
the counts (updates, projections, iterations), and the settings that were resolved. Where reversing
the order of the features changes neither the counts nor M by more than 1e-10 of its largest entry,
other code must give the same counts and M up to 1e-10. Elsewhere rounding decides: M may differ by
ten times what the reversal changes, counts by 15 per cent. Four learners must also give the same
bits from memory, a memory-mapped file and Dask arrays, and with one and two threads. Anything else
ends the command with exit code 1, except for cases that are to change on purpose.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from sklearn.datasets import load_digits, load_iris, load_wine, make_blobs
from sklearn.preprocessing import StandardScaler

import calipers
from benchmarks.rows import ROOT, Column, Report
from calipers.recipes import PAPER_METHODS

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]
Facts: TypeAlias = dict[str, Any]

FILE = Path(__file__).with_name("golden.npz")
TOLERANCE = 1e-10  # of a difference of M, as a share of its largest entry
COUNT_TOLERANCE = 0.15  # of counts that rounding changes, as a share: those of `paper --check`

MATRICES = ("components_", "similarity_", "query_components", "document_components")
COUNTS = ("n_updates_", "n_projections_", "n_iter_", "n_active_", "n_pairs_seen_")
VALUES = (
    *("init_", "n_neighbors_", "n_rounds_", "n_triplets_", "batch_size_", "learning_rate_"),
    *("recipe_", "max_iter_", "near_distance_", "far_distance_", "converged_", "objective_"),
    *("loss_curve_", "chosen_", "threshold_", "sigmoid_", "helps_", "pull_", "temperature_"),
    *("method_", "alpha_", "rank_"),
)

_SEED: Facts = {"random_state": 0}
_FEW: Facts = {"n_triplets": 5000, **_SEED}
LEARNERS: Mapping[str, Callable[..., Any]] = {
    "TripletSGD": partial(calipers.TripletSGD, **_SEED),
    **{name: partial(calipers.TripletSGD.paper, name, **_FEW) for name in PAPER_METHODS},
    **{name: partial(getattr(calipers, name), **_FEW) for name in ("SPML", "OASIS", "LEGO")},
    "SCML": partial(calipers.SCML, **_FEW),
    "ITML": partial(calipers.ITML, **_SEED, n_triplets=200),
    "NCA": partial(calipers.NCA, **_SEED),
    "NCA-all": partial(calipers.NCA, **_SEED, batch_size=None),
    "MLKR": partial(calipers.MLKR, **_SEED),
    "MLKR-all": partial(calipers.MLKR, **_SEED, batch_size=None),
    **{name: getattr(calipers, name) for name in ("LMNN", "MCML", "MMC", "GMML", "KISSME", "RCA")},
    **{name: getattr(calipers, name) for name in ("LFDA", "Discriminant", "WithinClass")},
    **{name: getattr(calipers, name) for name in ("Scaled", "Euclidean")},
    "MetricCV": partial(calipers.MetricCV, **_SEED),
}
CLOSED_FORMS = ("GMML", "KISSME", "RCA", "Discriminant", "WithinClass", "Scaled")
WAYS: Mapping[str, tuple[str, ...]] = {
    "fit": tuple(LEARNERS),
    "weighted": tuple(LEARNERS),
    "pairs": ("GMML", "ITML", "KISSME", "LEGO", "MMC", "RCA", "MetricCV"),
    "triplets": ("TripletSGD", "ITML", "LEGO", "OASIS", "SCML", "SPML", "MetricCV"),
    "stream": ("TripletSGD", *PAPER_METHODS, *CLOSED_FORMS),
    "streamed-triplets": ("TripletSGD",),
    "two-components": tuple(LEARNERS),
    "wide": tuple(LEARNERS),
    "PairClassifier": ("GMML", "ITML"),
    "QueryAdapter": ("QueryAdapter",),
    "Bridge": ("Bridge",),
}
"""Ways of fitting, and the learners that go each; "fit" on all data sets, the others on wine."""

MAY_CHANGE = {"LMNN", "NCA-all", "MLKR-all", "MCML", "MMC", "MetricCV"}
MAY_CHANGE |= {"two-components", "wide", "PairClassifier"}
"""Learners and ways whose results are to change on purpose: L-BFGS, folds, d > n, n_components."""

BITS: Mapping[str, Callable[..., Any]] = {
    **{name: LEARNERS[name] for name in ("TripletSGD", "LEGO", "Discriminant")},
    "NCA": partial(calipers.NCA, **_SEED, max_iter=40),
}
PARTITIONS = (30_000, 7000, 4096)  # samples of a partition

TABLES = {
    "golden": [
        Column("case", "case", width=36),
        Column("difference", "difference", ".1e", 10),
        Column("allowed", "allowed", ".1e", 8),
        Column("counts", "counts", width=6),
        Column("values", "values", width=6),
        Column("verdict", "verdict", width=18),
    ],
    "bits": [
        Column("learner", "learner", width=12),
        Column("from", "source", width=20),
        Column("same bits", "holds", width=9),
    ],
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("file", type=Path, nargs="?", default=FILE, help="default: %(default)s")
    parser.add_argument("--make", action="store_true", help="write the file")
    parser.add_argument("--only", default="", metavar="TEXT", help="cases whose name contains it")


def run(args: argparse.Namespace, report: Report) -> None:
    """Make the file, or compare with it."""
    names = [name for name in cases() if args.only in name]
    if args.make:
        make(args.file, names, report)
        return
    golden = read(args.file)
    kept = [check(name, golden[name], report) for name in names]
    if not args.only:
        kept += list(same_bits(report))
    if not all(kept):
        raise SystemExit(f"{kept.count(False)} of {len(kept)} differ")


def cases() -> Iterator[str]:
    """Names of all cases: data set, learner, way."""
    yield from (f"{data} {name} fit" for data in ("iris", "wine", "digits") for name in LEARNERS)
    for way, learners in WAYS.items():
        yield from (f"wine {name} {way}" for name in learners if way != "fit")


# Fits


class Result(NamedTuple):
    """What a fit gave."""

    matrices: dict[str, Array]
    counts: Facts
    values: Facts


def fitted(case: str, *, is_reversed: bool = False) -> Result:
    """Fit the learner of a case, to features in their order or in the reverse one."""
    data, learner, way = case.split()
    X, y = data_set(data)
    X = np.ascontiguousarray(X[:, ::-1]) if is_reversed else X
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return result(fit(learner, way, X, y))


@cache
def data_set(name: str) -> tuple[Array, Array]:
    """Samples and labels: iris and wine standardised, a third of the pixels of 500 digits."""
    if name == "digits":
        X, y = load_digits(return_X_y=True)
        X, y = X[:500, 2::3] / 16, y[:500]
        return X[:, np.ptp(X, axis=0) > 0], y
    X, y = (load_iris if name == "iris" else load_wine)(return_X_y=True)
    return StandardScaler().fit_transform(X), y


def fit(learner: str, way: str, X: Array, y: Array) -> Any:
    """Fit one learner in one way."""
    rng = np.random.default_rng(0)
    if way == "QueryAdapter":
        queries = X + 0.3 * rng.normal(size=len(X))[:, None]
        return calipers.QueryAdapter(**_SEED).fit(
            queries, X, np.arange(len(X)).repeat(2).reshape(-1, 2)
        )
    if way == "Bridge":
        return calipers.Bridge(**_SEED).fit(X, np.tanh(X))
    model = LEARNERS[learner]()
    if way == "weighted":
        return model.fit(X, y, sample_weight=rng.uniform(0.5, 2.0, len(X)))
    if way == "two-components":
        return model.set_params(n_components=2).fit(X, y)
    if way == "wide":
        return model.fit(X[::18], y[::18])
    if way == "stream":
        return _stream(model, X, y, rng)
    return model.fit(X, y) if way == "fit" else _fit_tuples(model, way, X, y, rng)


def _stream(model: Any, X: Array, y: Array, rng: np.random.Generator) -> Any:
    if "n_triplets" in model.get_params():
        model.set_params(n_triplets=None)  # it has no meaning for a stream
    for part in np.array_split(rng.permutation(len(X)), 3):
        model.partial_fit(X[part], y[part])
    return model


def _fit_tuples(model: Any, way: str, X: Array, y: Array, rng: np.random.Generator) -> Any:
    """Fit to pairs or triplets drawn at random."""
    drawn = rng.integers(len(X), size=(600, 3))
    i, j, k = drawn[drawn[:, 0] != drawn[:, 1]].T
    pairs, is_match = np.column_stack([i, j]), np.where(y[i] == y[j], 1, -1)
    triplets = np.column_stack([i, j, k])[(y[i] == y[j]) & (y[i] != y[k])]
    if way == "pairs":
        return model.fit_pairs(X, pairs, is_match)
    if way == "triplets":
        return model.fit_triplets(X, triplets)
    if way == "PairClassifier":
        return calipers.PairClassifier(model).fit(X[pairs], is_match)
    for part in np.array_split(triplets, 3):
        model.partial_fit_triplets(X, part)
    return model


def result(model: Any) -> Result:
    """Matrices, counts and resolved settings, as far as a model has them."""
    home = getattr(model, "map_", getattr(model, "metric_", model))
    matrices = {name: np.asarray(array) for name, array in _attributes(home, MATRICES).items()}
    counts = {name: int(count) for name, count in _attributes(model, COUNTS).items()}
    if "components_" in matrices:
        L = matrices.pop("components_")
        matrices["M"], counts["n_dimensions"] = L.T @ L, len(L)
    values = {name: _plain(value) for name, value in _attributes(model, VALUES).items()}
    return Result(matrices, counts, values)


def _attributes(model: Any, names: tuple[str, ...]) -> Facts:
    found = {name: getattr(model, name, None) for name in names}
    return {name: value for name, value in found.items() if value is not None}


def _plain(value: Any) -> Any:
    """The last value of a curve; numbers and texts as JSON has them."""
    last = np.asarray(value).ravel()[-1].item() if np.ndim(value) else value
    if isinstance(last, np.generic):
        last = last.item()
    return last if isinstance(last, bool | int | float) else str(last)


# The file


def make(file: Path, names: list[str], report: Report) -> None:
    """Write the results of all cases, each with what reversing the features changes."""
    arrays: dict[str, Array] = {}
    facts: dict[str, Facts] = {}
    for name in names:
        one, other = fitted(name), fitted(name, is_reversed=True)
        back = {key: matrix[::-1, ::-1] for key, matrix in other.matrices.items()}
        moved, is_same = difference(one.matrices, back), one.counts == other.counts
        arrays |= {f"{name} {key}": matrix for key, matrix in one.matrices.items()}
        facts[name] = {"counts": one.counts, "values": one.values}
        facts[name] |= {"moved": moved, "counts_hold": is_same}
        report.add("golden", case=name, difference=moved, counts=is_same)
    with file.open("wb") as stream:
        np.savez_compressed(stream, facts=np.array(json.dumps(facts)), **arrays)  # type: ignore[arg-type]


class Golden(NamedTuple):
    """What a case gave when the file was made, and what reversing the features changed."""

    result: Result
    moved: float
    counts_hold: bool


def read(file: Path) -> dict[str, Golden]:
    """Read a file that `make` wrote."""
    golden: dict[str, Golden] = {}
    with np.load(file) as arrays:
        for name, facts in json.loads(str(arrays["facts"])).items():
            keys = [key for key in arrays.files if key.rpartition(" ")[0] == name]
            matrices = {key.rpartition(" ")[2]: arrays[key] for key in keys}
            one = Result(matrices, facts["counts"], facts["values"])
            golden[name] = Golden(one, facts["moved"], facts["counts_hold"])
    return golden


# Comparison


def check(name: str, golden: Golden, report: Report) -> bool:
    """Print a line; false if the case differs and may not."""
    is_free = not MAY_CHANGE.isdisjoint(name.split())
    try:
        found = fitted(name)
    except Exception as error:  # a case that fails must not hide those after it
        report.skip("golden", f"{type(error).__name__}: {error}", case=name, verdict="differs")
        return is_free
    is_exact = golden.moved <= TOLERANCE and golden.counts_hold
    allowed = TOLERANCE if is_exact else 10 * golden.moved
    moved = difference(golden.result.matrices, found.matrices)
    counts = _all_close(golden.result.counts, found.counts, 0.0 if is_exact else COUNT_TOLERANCE)
    values = _all_close(golden.result.values, found.values, 100 * allowed)
    holds = moved <= allowed and counts and values
    verdict = "holds" if holds else "changed on purpose" if is_free else "differs"
    row = {"case": name, "difference": moved, "allowed": allowed, "counts": counts}
    report.add("golden", **row, values=values, verdict=verdict)
    return verdict != "differs"


def difference(golden: dict[str, Array], found: dict[str, Array]) -> float:
    """Largest difference of an entry, as a share of the largest entry."""
    if any(key not in found or found[key].shape != A.shape for key, A in golden.items()):
        return float("inf")
    return max(
        float(np.abs(found[key] - A).max() / (np.abs(A).max() or 1.0)) for key, A in golden.items()
    )


def _all_close(golden: Facts, found: Facts, share: float) -> bool:
    """Whether all that there was is there, within a share of it; there may be more."""
    return all(_is_close(value, found.get(name), share) for name, value in golden.items())


def _is_close(golden: Any, found: Any, share: float) -> bool:
    if isinstance(golden, str) or isinstance(found, str | None):
        return bool(golden == found)
    return bool(np.isclose(found, golden, rtol=share, atol=0.0, equal_nan=True))


# Bits


def same_bits(report: Report) -> Iterator[bool]:
    """Compare components bit by bit: memory, memory map, Dask arrays, one and two threads."""
    expected = digests()
    for source, found in chain(_from_files(), _from_dask(), _by_threads()):
        for name in BITS:
            holds = found[name] == expected[name]
            report.add("bits", learner=name, source=source, holds=holds)
            yield holds


def digests(X: Any = None, y: Any = None, **client: Any) -> dict[str, str]:
    """A hash of each learner's components; of samples in memory unless others are given."""
    X, y = large_set() if X is None else (X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Dask's, of arrays that it gets from memory
        fits = {name: learner().fit(X, y, **client) for name, learner in BITS.items()}
    return {
        name: hashlib.sha256(one.components_.tobytes()).hexdigest() for name, one in fits.items()
    }


@cache
def large_set() -> tuple[Array, Array]:
    """Samples of more than one block and more than one tile of neighbours."""
    X, y, *_ = make_blobs(30_000, 80, centers=6, cluster_std=8, random_state=0)
    return X, y


def _from_files() -> Iterator[tuple[str, dict[str, str]]]:
    X, y = large_set()
    with TemporaryDirectory() as folder:
        np.save(Path(folder) / "samples.npy", X)
        yield "memory map", digests(np.load(Path(folder) / "samples.npy", mmap_mode="r"), y)


def _from_dask() -> Iterator[tuple[str, dict[str, str]]]:
    import dask.array as da
    from distributed import Client

    X, y = large_set()
    options: Facts = {"dashboard_address": None, "set_as_default": False}
    with Client(processes=False, n_workers=2, threads_per_worker=1, **options) as client:
        for n in PARTITIONS:
            cut = da.from_array(X, chunks=(n, X.shape[1])), da.from_array(y, chunks=n)
            yield f"Dask, {n:,} each", digests(*cut, client=client)


def _by_threads() -> Iterator[tuple[str, dict[str, str]]]:
    program = "import json; from benchmarks.golden import digests; print(json.dumps(digests()))"
    for n in ("1", "2"):
        environment = {**os.environ, "CALIPERS_NUM_THREADS": n, "OMP_NUM_THREADS": n}
        done = subprocess.run(
            [sys.executable, "-c", program],
            cwd=ROOT,
            env=environment,
            stdout=subprocess.PIPE,
            check=True,
        )
        yield f"{n} threads", json.loads(done.stdout)
