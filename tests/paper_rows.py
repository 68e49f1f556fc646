"""Rows of the paper's experiments made by hand, for tests of what is made from rows."""

from __future__ import annotations

from typing import Any

HOSTILE = "</script><script>alert('x')</script>\"&' \u2028 $é日本|*"
"""A name that tries to get out of wherever it is put."""

EXECUTING = (
    "<img src=x onerror=window.executed=1>",
    '"><svg onload=window.executed=1>',
    "'-(window.executed=1)-'",
    "</style><script>window.executed=1</script>",
    "</title><script>window.executed=1</script>",
    "--><script>window.executed=1</script>",
    "<!--<script>",
    "javascript:window.executed=1",
    "${window.executed=1}`+(window.executed=1)+`",
    '\\";window.executed=1;//',
    "\u2028window.executed=1\u2029",
    "<math><mtext></form><form><mglyph><style></math><img src onerror=window.executed=1>",
)
"""Names that would run something, were they taken for a part of the page."""

COMMON: dict[str, Any] = {
    "identity": "abc",
    "settings": {"n_triplets": 100_000},
    "versions": {"calipers": "0.1.0", "python": "3.13.0"},
    "machine": {"cpu": "Abacus 3", "cores": 2, "threads": 2, "system": "Linux"},
    "when": "2026-01-02T03:04:05+00:00",
    "files": [],
}

DATA = {"n_classes": 10, "n_features": 256, "n_train": 1115, "n_test": 478, "note": ""}


def row(dataset: str, method: str, run: int = 0, **parts: Any) -> dict[str, Any]:
    """A row of a run that went well; ``parts`` replace what it holds."""
    learned = method != "euclidean"
    curve = {"triplets": [50, 100, 150], "loss": [1.0, 0.5, 0.25], "updates": [5, 8, 9]}
    picture = {
        "classes": [0, 0, 1, 1],
        "before": [[0, 0], [10, 20], [500, 400], [1000, -1000]],
        "after": [[0, 0], [1, 2], [900, 900], [1000, -1000]],
    }
    result: dict[str, Any] = {
        **COMMON,
        "dataset": dataset,
        "method": method,
        "run": run,
        "split": run,
        "data": DATA,
        "error": 6.0,
        "seconds": 2.0 if learned else None,
        "mining_seconds": 0.5 if learned else None,
        "updates": 150 if learned else None,
        "projections": 20 if learned else None,
        "notes": [],
        "curve": curve if learned and method != "lmnn" else None,
        "training": {key: curve[key] for key in ("triplets", "loss")} if learned else None,
        "spectrum": [4.0, 2.0, 1.0, 0.0],
        "picture": picture,
    }
    if method.endswith("sgd"):
        result["bound"] = {"updates": 5000.0, "sharp": 400.0, "contraction": 12.5}
    return {**result, **parts}


def some() -> list[dict[str, Any]]:
    """Two runs of semeion, one of letter, one skipped, one failed, one data set missing."""
    rows = [row("semeion", method, run) for run in (0, 1) for method in ("euclidean", "lego")]
    rows += [row("semeion", "sgd", run, seconds=20.0, error=6.5) for run in (0, 1)]
    rows += [row("semeion", "as-sgd", run, updates=140 + 10 * run) for run in (0, 1)]
    rows += [row("semeion", "ha-sgd", error=9.0, notes=["One note."])]
    letter = {**DATA, "n_train": 15_000, "n_features": 16}
    rows += [row("letter", method, data=letter) for method in ("euclidean", "as-sgd", "oasis")]
    about = {key: COMMON[key] for key in ("identity", "settings", "versions", "machine")}
    rows += [
        {**about, "dataset": "letter", "method": "lmnn", "run": 0, "skipped": "too many rows"},
        {**about, "dataset": "letter", "method": "sgd", "run": 0, "failed": "ValueError: no"},
        {**about, "dataset": "sensit", "method": "*", "run": 0, "skipped": "sensit is not here."},
    ]
    return rows
