"""``calipers transform``: map samples by a learned metric."""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from calipers.cli.options import STANDARD, TABLE, add_output, check_apart, mistakes_in
from calipers.cli.output import remark, write_json
from calipers.cli.reading import add_data, read_embeddings, read_new

if TYPE_CHECKING:
    from calipers.cli.options import Commands


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
    add_data(transform, label_needed=False)
    about = "file of the images: .csv, .tsv, .xlsx, .parquet, .npy, .npz, or - for CSV to stdout"
    transform.add_argument("-o", "--output", type=Path, required=True, metavar="FILE", help=about)
    add_output(transform)
    transform.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Read both, transform, write."""
    from calipers import load
    from calipers.data.files import FileError
    from calipers.data.tables import check_output, write_table
    from calipers.search.query_map import QueryMap

    to_stdout = str(options.output) == STANDARD
    if to_stdout and options.json:
        raise FileError("-o - and --json both write to standard output: give one of them.")
    if not to_stdout:
        check_output(options.output)
        check_apart(options.output, options.data, options.metric, options.label)
    loaded = load(options.metric)
    names, others, y = None, None, None
    if isinstance(loaded, QueryMap):
        X, _ = read_embeddings(Path(options.data))
    else:
        table = read_new(options, loaded)
        X, others, y = table.X, table.others, table.y if table.has_label.all() else None
        names = loaded.get_feature_names_out().tolist()
    with mistakes_in(options.data), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # an array has no names of features
        images = loaded.transform(X)
    names = names or [f"component{i}" for i in range(images.shape[1])]
    with mistakes_in(str(options.output)):
        write_table(options.output, images, names, others=others, y=y)
    if options.json:
        n_samples, n_components = images.shape
        file = str(options.output)
        write_json({"file": file, "samples": n_samples, "components": n_components})
    elif not options.quiet:
        remark(f"Mapped {len(images):,} samples to {images.shape[1]} dimensions: {options.output}")
    return 0
