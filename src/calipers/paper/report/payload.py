"""What the page's pictures need, as JSON that is safe inside a script element."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from calipers.paper.summary import Summary
from calipers.paper.systems import SYSTEMS

_MOST_EIGENVALUES = 120


def payload(summary: Summary) -> dict[str, Any]:
    """The numbers behind every picture, by data set and method."""
    return {
        "methods": [
            {"name": method, "label": SYSTEMS[method].label, "kind": SYSTEMS[method].kind}
            for method in summary.methods
        ],
        "study": _sweeps(summary),
        "datasets": [_dataset(summary, data.name) for data in summary.datasets if data.ours],
    }


def as_json(value: Any) -> str:
    r"""JSON in which no text can end the script element or be taken for markup.

    Examples
    --------
    >>> as_json("</script>")
    '"\\u003c/script\\u003e"'
    """
    text = json.dumps(value, allow_nan=False, separators=(",", ":"))  # ASCII only
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def _dataset(summary: Summary, name: str) -> dict[str, Any]:
    ran = [method for method in summary.methods if summary.of(name, method)]
    pictures = {method: summary.first(name, method, "picture") for method in ran}
    picture = next((found for found in pictures.values() if found), None)
    return {
        "name": name,
        "results": {method: _result(summary, name, method) for method in ran},
        "curves": _parts(summary, name, ran, "curve"),
        "training": _parts(summary, name, ran, "training"),
        "spectra": {
            method: _thinned(values)
            for method, values in _parts(summary, name, ran, "spectrum").items()
        },
        "bound": summary.first(name, "as-sgd", "bound"),
        "picture": picture
        and {
            "classes": picture["classes"],
            "before": picture["before"],
            "after": {method: found["after"] for method, found in pictures.items() if found},
        },
    }


def _sweeps(summary: Summary) -> list[dict[str, Any]]:
    """The parameter study: a picture for each data set and parameter, a line for each method."""
    names = {system.label: name for name, system in SYSTEMS.items()}
    sweeps: dict[tuple[str, str], dict[str, list[dict[str, float | None]]]] = {}
    for row in summary.study:
        lines = sweeps.setdefault((row.dataset, row.parameter), {})
        point = {"value": row.value, "error": row.error, "updates": row.updates}
        lines.setdefault(names[row.label], []).append(point)
    return [
        {
            "dataset": dataset,
            "parameter": parameter,
            "methods": [{"name": name, "values": values} for name, values in lines.items()],
        }
        for (dataset, parameter), lines in sweeps.items()
    ]


def _parts(summary: Summary, name: str, methods: list[str], part: str) -> dict[str, Any]:
    found = {method: summary.first(name, method, part) for method in methods}
    return {method: value for method, value in found.items() if value}


def _result(summary: Summary, name: str, method: str) -> dict[str, Any]:
    at = (name, method)
    return {
        "error": summary.errors[at].ours,
        "std": summary.errors[at].std,
        "paperError": summary.errors[at].paper,
        "seconds": summary.seconds[at].ours,
        "paperSeconds": summary.seconds[at].paper,
        "updates": summary.updates[at].ours,
        "paperUpdates": summary.updates[at].paper,
    }


def _thinned(values: list[float | None]) -> list[list[float]]:
    """Rank and share of the largest, at no more ranks than a picture can show."""
    n = len(values)
    ranks = np.unique(np.linspace(0, n - 1, min(n, _MOST_EIGENVALUES)).astype(int)).tolist()
    largest = max((value for value in values if value), default=0.0)
    kept = [(rank, values[rank]) for rank in ranks]
    return [
        [rank + 1, float(f"{value / largest:.4g}")]
        for rank, value in kept
        if value and value > 1e-12 * largest
    ]
