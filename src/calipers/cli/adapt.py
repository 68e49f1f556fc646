"""``calipers adapt``: learn a map for the query side of a search, and write it into a file."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from calipers.cli.options import add_output, advanced, check_apart, mistakes_in, page, seed
from calipers.cli.output import check_picture, console, meter, say, write_json

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
    clicks = "NPY, or a table with columns 'query', 'document', and maybe 'weight' (clicks, grades)"
    adapt.add_argument("--pairs", required=True, metavar="FILE", help=clicks)
    name, about = Path("adapter.safetensors"), "file of the map (default: %(default)s)"
    adapt.add_argument("-o", "--output", type=Path, default=name, metavar="FILE", help=about)
    adapt.add_argument("--report", type=page, metavar="FILE", help="write a page (HTML), too")
    rare = advanced(adapt)
    about = "what decides: queries about documents without clicks (default), or new queries"
    rare.add_argument(
        "--generalize-to", choices=("documents", "queries"), default="documents", help=about
    )
    rare.add_argument("--seed", type=seed, default=0, help="random seed (default: %(default)s)")
    add_output(adapt)
    adapt.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Read, learn, write; the verdict comes first."""
    from calipers import QueryAdapter
    from calipers.cli.reading import read_embeddings, read_pairs
    from calipers.data.files import check_writable

    console()  # a missing package is reported before the work
    check_writable(options.output)
    check_apart(options.output, options.queries, options.documents, options.pairs)
    if options.report is not None:
        check_picture(options.report)
    queries, query_ids = read_embeddings(Path(options.queries))
    documents, document_ids = read_embeddings(Path(options.documents))
    pairs, weights = read_pairs(Path(options.pairs))
    adapter = QueryAdapter(generalize_to=options.generalize_to, random_state=options.seed)
    ids = {"query_ids": query_ids, "document_ids": document_ids}
    with (
        mistakes_in(options.pairs),
        meter(1, show=not options.quiet) as bar,
        bar.step("learning a map") as callback,
    ):
        adapter.set_callbacks(callback).fit(queries, documents, pairs, weights, **ids)
    report = adapter.report_
    adapter.save(options.output)
    if options.report is not None:
        report.save(options.report)
    if options.json:
        write_json({**report.to_dict(), "file": str(options.output)})
    elif options.quiet:
        say(report.verdict)
    else:
        for line in [*str(report).splitlines(), f"Map: {options.output}"]:
            say(line)
    return 0
