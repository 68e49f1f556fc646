"""``calipers adapt``: learn a map for the query side of a search, and write it into a file."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from calipers.cli.options import add_output, check_apart, page
from calipers.cli.output import console, meter, say, write_json

if TYPE_CHECKING:
    from calipers.cli.options import Commands


def add(commands: Commands) -> None:
    """Register the command."""
    adapt = commands.add_parser(
        "adapt",
        help="learn a map of queries from clicks",
        description="Learn a map of query embeddings from the documents that answered them. The "
        "index stays as it is. Where held-out queries do not gain, the map is the identity.",
    )
    vectors = "embeddings: NPY, or a table with a column 'vector', and 'id' if pairs hold ids"
    adapt.add_argument("--queries", required=True, metavar="FILE", help=vectors)
    adapt.add_argument("--documents", required=True, metavar="FILE", help="the same for documents")
    adapt.add_argument(
        "--pairs",
        required=True,
        metavar="FILE",
        help="NPY, or a table with columns 'query', 'document', and 'weight' if there are clicks "
        "or grades",
    )
    adapt.add_argument(
        "-o",
        "--output",
        type=Path,
        default=Path("adapter.safetensors"),
        metavar="FILE",
        help="file of the map (default: %(default)s)",
    )
    adapt.add_argument("--report", type=page, metavar="FILE", help="write a page (HTML), too")
    adapt.add_argument(
        "--generalize-to",
        choices=("documents", "queries"),
        default="documents",
        help="what decides: queries about documents without clicks, or new queries about known "
        "documents (default: %(default)s)",
    )
    adapt.add_argument(
        "--side",
        choices=("query", "both"),
        default="query",
        help="what is mapped: queries alone, or documents too, which needs a new index (default: "
        "%(default)s)",
    )
    adapt.add_argument("--n-components", type=int, metavar="N", help="dimensions of both sides")
    adapt.add_argument("--seed", type=int, default=0, help="default: %(default)s")
    add_output(adapt)
    adapt.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Read, learn, write; the verdict comes first."""
    from calipers import QueryAdapter
    from calipers.cli.embeddings import read_embeddings, read_pairs
    from calipers.data.files import FileError
    from calipers.metric import file as io

    console()  # a missing package is reported before the work
    for file in filter(None, (options.output, options.report)):
        io.check_writable(file)
        check_apart(file, options.queries, options.documents, options.pairs)
    queries, query_ids = read_embeddings(Path(options.queries))
    documents, document_ids = read_embeddings(Path(options.documents))
    pairs, weights = read_pairs(Path(options.pairs))
    adapter = QueryAdapter(
        side=options.side,
        n_components=options.n_components,
        generalize_to=options.generalize_to,
        random_state=options.seed,
    )
    ids = {"query_ids": query_ids, "document_ids": document_ids}
    try:
        _learn(adapter, (queries, documents, pairs, weights), ids, quiet=options.quiet)
    except ValueError as mistake:
        raise FileError(str(mistake)) from None
    adapter.save(options.output)
    if options.report is not None:
        adapter.report_.save(options.report)
    if options.json:
        write_json({**adapter.report_.to_dict(), "file": str(options.output)})
    elif options.quiet:
        say(adapter.report_.verdict)
    else:
        for line in str(adapter.report_).splitlines():
            say(line)
        is_identity = not adapter.helps_ and options.n_components is None
        say(f"{'The identity was written to' if is_identity else 'Map:'} {options.output}")
        if options.report is not None:
            say(f"Page: {options.report}")
    return 0


def _learn(adapter: Any, given: tuple[Any, ...], ids: dict[str, Any], *, quiet: bool) -> None:
    """Fit under a progress bar."""
    with (
        meter(1, show=not quiet) as bar,
        bar.step("learning a map of queries") as advance,
    ):
        adapter.set_callbacks(advance).fit(*given, **ids)
