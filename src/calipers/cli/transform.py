"""``calipers transform``: map samples by a learned metric."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from calipers.cli.options import (
    STANDARD,
    TABLE,
    add_data,
    add_output,
    check_apart,
    read_table,
)
from calipers.cli.output import remark, write_json

if TYPE_CHECKING:
    import numpy.typing as npt

    from calipers.arrays import FloatArray
    from calipers.cli.options import Commands
    from calipers.data.tables.table import Chosen, Table
    from calipers.metric.saved import SavedMetric
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
    metric = loaded
    label = options.label if options.label is not None else metric.label_
    carried = tuple(options.ignore)
    missing = {text for entry in metric.encoder_ or () for text in entry.get("missing", ())}
    table = read_table(
        options,
        label=label,
        carried=carried,
        names=_column_names(metric),
        missing=frozenset(missing),
    )
    X, data = _samples(options, metric, table)
    images = _transformed(X, metric.components_, source=options.data)
    names = metric.get_feature_names_out().tolist()
    y = data.y if data.has_label is None else None  # labels of some samples only fit no array
    return _write(options, images, names, _carried(options, table, data), y)


def _carried(
    options: argparse.Namespace, table: Table, data: Chosen
) -> dict[str, npt.NDArray[Any]]:
    """Return the columns that are no features, such as IDs and labels, for the output."""
    import numpy as np

    from calipers.data.tables.names import listed

    if not data.others and data.y is not None:
        has_label = np.ones(len(data.y), bool) if data.has_label is None else data.has_label
        labels = np.full(len(has_label), None, dtype=object)
        labels[has_label] = data.y
        return {"label": labels}
    if options.output.suffix.lower() in (".npy", ".npz"):  # which hold none of them
        return {column.name: column.values for column in data.others}
    columns = table.carried(data, options.ignore)
    lost = {column.name: column.text for column in columns if not len(column.values)}
    lost |= {column.name: "vectors" for column in columns if column.values.ndim == 2}
    if lost and not options.quiet:
        told = listed([f"{name} ({why})" for name, why in lost.items()])
        remark(f"Not carried to the output: {told}.")
    return {column.name: column.values for column in columns if column.name not in lost}


def _write(
    options: argparse.Namespace,
    images: npt.NDArray[Any],
    names: list[str],
    carried: dict[str, npt.NDArray[Any]],
    y: npt.NDArray[Any] | None = None,
) -> int:
    """Write the images, and say so."""
    from calipers.data.tables import write
    from calipers.data.tables.written import write_text

    if str(options.output) == STANDARD:
        write_text(sys.stdout.buffer, images, names, carried=carried)
    else:
        write(options.output, images, names, carried=carried, y=y)
    ending = options.output.suffix.lower()
    n_kept = {".npy": 0, ".npz": 0 if y is None else 1}.get(ending, len(carried))
    if len(carried) > n_kept and not options.quiet:
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
    from calipers.cli.embeddings import read_embeddings
    from calipers.data.files import FileError

    queries, _ = read_embeddings(Path(options.data))
    try:
        images = query_map.transform(queries)
    except ValueError as mistake:
        raise FileError(f"{options.data}: {mistake}") from None
    return _write(options, images, [f"component{i}" for i in range(images.shape[1])], {})


def _column_names(metric: SavedMetric) -> list[str] | None:
    """Return the names of the columns that the metric was learned from."""
    if metric.encoder_ is not None:
        return [entry["name"] for entry in metric.encoder_]
    names = getattr(metric, "feature_names_in_", None)
    return None if names is None else names.tolist()


def _samples(
    options: argparse.Namespace, metric: SavedMetric, table: Table
) -> tuple[npt.NDArray[Any], Chosen]:
    """Choose the metric's columns, and the label if there is one; encode the columns."""
    from calipers.data.encoder import TableEncoder
    from calipers.data.files import FileError
    from calipers.data.tables.columns import Columns

    label = options.label
    if label is None and metric.label_ is not None and table.has(metric.label_):
        label = metric.label_
    names = _column_names(metric) or []
    chosen = table.choose(label=label, features=names or None, ignore=options.ignore)
    if metric.encoder_ is not None and not isinstance(chosen.X, Columns):
        given = {f"column {i + 1}": chosen.X[:, i] for i in range(chosen.X.shape[1])}
        chosen = replace(chosen, X=Columns(given))
    n_found, n_needed = chosen.X.shape[1], metric.n_features_in_
    if isinstance(chosen.X, Columns) and metric.encoder_ is not None:
        n_needed = len(metric.encoder_)
        if not table.named and {*names} <= {*chosen.X.columns}:
            n_found = n_needed  # by the numbers of the columns; the others are left out
    if n_found != n_needed:
        raise FileError(
            f"{options.data} has {n_found} columns beside the label, but the metric "
            f"{options.metric} was learned from {n_needed}: give the same columns, and name those "
            "that are none of them with --label or --ignore."
        )
    if not isinstance(chosen.X, Columns):
        return chosen.X, chosen
    try:
        if metric.encoder_ is None:
            return chosen.X.numbers(), chosen
        columns = chosen.X if {*names} <= {*chosen.X.columns} else chosen.X.renamed(names)
        encoder = TableEncoder.from_columns(metric.encoder_)
        return encoder.transform(columns.select(names)), chosen
    except ValueError as wrong:
        raise FileError(f"{options.data}: {wrong}") from wrong


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
