"""One HTML page of rows: the tables, the figures, and how they came about."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from calipers.data.files import atomic_write
from calipers.evaluation.page import listed, page, picture, table
from calipers.paper import figures, published
from calipers.paper.runs import Row
from calipers.paper.systems import SYSTEMS
from calipers.paper.tables import ERROR_NEAR, HIGHER, LOWER, NEAR, UPDATES_NEAR, Results, tables

PAGE = "report.html"
"""Name of the page in the folder of a report."""


def write(rows: Sequence[Row], folder: Path) -> Path:
    """Write the page into the folder; return its path."""
    results = Results(rows)
    sections = {title: table(headings, cells) for title, headings, cells in tables(results)}
    for title, figure, alt in (
        ("Figure 1", figures.figure_1(results), "training error against triplets"),
        ("Parameter study", figures.study(results), "error against values of parameters"),
    ):
        if figure is not None:
            sections[title] = picture(figure, alt) + sections.get(title, "")
    sections["How it was run"] = listed(how(rows))
    sections["Not run"] = listed(not_run(results))
    text = page(
        "The paper's experiments, ours beside the paper's",
        over="Qian, Jin, Yi, Zhang and Zhu (2013)",
        lead=[
            f"Each cell: ours ± standard deviation (paper). {NEAR} at most {ERROR_NEAR:g} point "
            f"of error or {UPDATES_NEAR:.0%} of the updates apart, {LOWER} ours is lower, "
            f"{HIGHER} ours is higher, † learned from that many samples only, * a stand-in for "
            "the paper's data.",
        ],
        sections=sections,
    )
    with atomic_write(folder / PAGE) as stream:
        stream.write(text.encode())
    return folder / PAGE


def how(rows: Sequence[Row]) -> list[str]:
    """How it was run, in sentences."""
    when, origin = sorted(row["when"] for row in rows), rows[-1]["origin"]
    names = ("calipers", "python", "numpy", "scipy", "scikit-learn")
    versions = ", ".join(f"{name} {origin[name]}" for name in names)
    return [
        f"N = {origin['n_triplets']:,} triplets (the paper: 100,000) of single nearest neighbours, "
        "batches of b = 10, L = 3, eta = 1, R = 1,000; error of 3-NN, where the nearest of tied "
        "classes wins.",
        "Every run has its own seed, and 70/30 split where none is standard. The paper averages "
        "ten splits of semeion, connect4 and tdt30.",
        f"Rows were written from {when[0][:16]} to {when[-1][:16]} UTC by {versions}, commit "
        f"{rows[-1]['commit'] or 'unknown'}, on {origin['threads']} of {origin['cores']} cores of "
        f"{origin['cpu']}.",
    ]


def not_run(results: Results) -> list[str]:
    """What is missing, in sentences."""
    away = [name for name in published.SIZES if name not in results.names]
    failures = (
        f"{SYSTEMS[row['method']].label} on {row['dataset']}: {row['failed']}"
        for row in results.rows
        if "failed" in row and row["method"] in SYSTEMS
    )
    return [*([f"Data sets: {', '.join(away)}."] if away else []), *failures]
