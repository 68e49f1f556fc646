"""``calipers transform``: map samples by a learned metric."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from calipers.cli.options import STANDARD, TABLE, add_output, check_apart
from calipers.cli.output import remark, write_json
from calipers.cli.reading import add_data, read_embeddings, read_new

if TYPE_CHECKING:
    import numpy.typing as npt
    from pandas import DataFrame

    from calipers.arrays import FloatArray
    from calipers.cli.options import Commands
    from calipers.search.query_map import QueryMap

_TRANSFORM_BLOCK = 1 << 16  # samples transformed at a time


def add(commands: Commands) -> None:
    """Register the command."""
    transform = commands.add_parser(
        "transform",
        help="map a table by what was learned",
        description="Map samples so that the Euclidean distance between images is the learned "
        "distance. Features are found by the names in the metric's file. Of an adapter or bridge, "
        "map embeddings of queries (NPY, Parquet or JSONL with a column 'vector').",
    )
    transform.add_argument("metric", help="file from 'calipers fit' or 'calipers adapt'")
    transform.add_argument("data", help=TABLE)
    transform.add_argument(
        "-o",
        "--output",
        type=Path,
        required=True,
        metavar="FILE",
        help="file of the images: .csv, .tsv, .xlsx, .parquet, .npy (without labels), .npz, or - "
        "for CSV to standard output",
    )
    add_data(transform, label_needed=False)
    add_output(transform)
    transform.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Read both, transform, write."""
    from calipers import load
    from calipers.data.files import FileError
    from calipers.data.tables import check_output
    from calipers.search.query_map import QueryMap

    to_stdout = str(options.output) == STANDARD
    if to_stdout and options.json:
        raise FileError("-o - and --json both write to standard output: give one of them.")
    if not to_stdout:
        check_output(options.output)
        check_apart(options.output, options.data, options.metric, options.label)
    loaded = load(options.metric)
    if isinstance(loaded, QueryMap):
        return _map_queries(options, loaded)
    X, others, y = read_new(options, loaded)
    images = _transformed(X, loaded.components_, source=options.data)
    return _write(options, images, loaded.get_feature_names_out().tolist(), others, y)


def _write(
    options: argparse.Namespace,
    images: npt.NDArray[Any],
    names: list[str],
    others: DataFrame | None = None,
    y: npt.NDArray[Any] | None = None,
) -> int:
    """Write the images, and say so."""
    from calipers.data.tables import write_table

    write_table(options.output, images, names, others=others, y=y)
    ending = options.output.suffix.lower()
    n_kept = {".npy": 0, ".npz": 0 if y is None else 1}.get(ending)
    if others is not None and n_kept is not None and others.shape[1] > n_kept and not options.quiet:
        what = "no columns beside the labels" if n_kept else "no labels and IDs"
        remark(f"An {ending} file holds {what}: write .csv or .parquet to keep them.")
    row = {"file": str(options.output), "samples": len(images), "components": images.shape[1]}
    if options.json:
        write_json(row)
    elif not options.quiet:
        remark(f"Mapped {len(images):,} samples to {images.shape[1]} dimensions: {options.output}")
    return 0


def _map_queries(options: argparse.Namespace, query_map: QueryMap) -> int:
    """Map embeddings of queries by an adapter or a bridge."""
    from calipers.data.files import FileError

    queries, _ = read_embeddings(Path(options.data))
    try:
        images = query_map.transform(queries)
    except ValueError as mistake:
        raise FileError(f"{options.data}: {mistake}") from None
    return _write(options, images, [f"component{i}" for i in range(images.shape[1])])


def _transformed(X: npt.NDArray[Any], components: FloatArray, *, source: str) -> FloatArray:
    """``X @ components.T``, a block of samples at a time, for X may be on disk."""
    import numpy as np

    from calipers.data.files import FileError
    from calipers.metric.mahalanobis import images_of

    images = np.empty((len(X), len(components)))
    for start in range(0, len(X), _TRANSFORM_BLOCK):
        block = slice(start, start + _TRANSFORM_BLOCK)
        images[block], beyond = images_of(np.asarray(X[block], dtype=np.float64), components)
        if beyond is not None:
            raise FileError(
                f"{source} has values in row {start + beyond + 1} whose images are beyond "
                "float64: divide the features, or leave out such rows."
            )
    return images
