"""``calipers transform``: map samples by a learned metric."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from calipers.cli.options import add_data, add_output, check_apart, read_table
from calipers.cli.output import remark, write_json

if TYPE_CHECKING:
    import numpy.typing as npt

    from calipers.arrays import FloatArray
    from calipers.cli.options import Commands
    from calipers.data.tables.table import Chosen, Table
    from calipers.saved import SavedMetric

_TRANSFORM_BLOCK = 1 << 16  # samples transformed at a time


def add(commands: Commands) -> None:
    """Register the command."""
    transform = commands.add_parser(
        "transform",
        help="map a table by a learned metric",
        description="Map samples so that the Euclidean distance between images is the learned "
        "distance. Features are found by the names in the metric's file.",
    )
    transform.add_argument("metric", help="file of the metric, from 'calipers fit'")
    transform.add_argument("data", help="table: CSV, TSV, Parquet, NPY, NPZ or LIBSVM")
    transform.add_argument(
        "-o",
        "--output",
        type=Path,
        required=True,
        metavar="FILE",
        help="file of the images: .csv, .tsv, .npy (without labels), .npz or .parquet",
    )
    add_data(transform, label_needed=False)
    add_output(transform)
    transform.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Read both, transform, write."""
    from calipers.data import tables
    from calipers.loading import load_metric

    tables.check_output(options.output)
    check_apart(options.output, data=options.data, metric=options.metric)
    metric = load_metric(options.metric)
    label = options.label if options.label is not None else metric.label_
    table = read_table(options, label, getattr(metric, "feature_names_in_", None))
    data = _chosen(options, metric, table)
    images = _transformed(data.X, metric.components_, source=options.data)
    names = metric.get_feature_names_out().tolist()
    tables.write(options.output, images, names, y=data.y, label=data.label or "label")
    if options.output.suffix.lower() == ".npy" and data.y is not None and not options.quiet:
        remark("An .npy file holds no labels: write .npz or .csv to keep them.")
    row = {"file": str(options.output), "samples": len(images), "components": images.shape[1]}
    if options.json:
        write_json(row)
    elif not options.quiet:
        remark(f"Mapped {len(images):,} samples to {images.shape[1]} dimensions: {options.output}")
    return 0


def _chosen(options: argparse.Namespace, metric: SavedMetric, table: Table) -> Chosen:
    """Choose the metric's features, and the label if there is one."""
    from calipers.io import FileError

    label = options.label
    if label is None and metric.label_ is not None and table.has(metric.label_):
        label = metric.label_
    names = getattr(metric, "feature_names_in_", None)
    features = None if names is None else names.tolist()
    data = table.choose(label=label, features=features, ignore=options.ignore)
    if data.X.shape[1] != metric.n_features_in_:
        raise FileError(
            f"{options.data} has {data.X.shape[1]} columns of numbers, but the metric "
            f"{options.metric} was learned from {metric.n_features_in_}: give the same columns, "
            "and name those that are none of them with --label or --ignore."
        )
    return data


def _transformed(X: npt.NDArray[Any], components: FloatArray, *, source: str) -> FloatArray:
    """``X @ components.T``, a block of samples at a time, for X may be on disk."""
    import numpy as np

    from calipers.io import FileError
    from calipers.metric import images_of

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
