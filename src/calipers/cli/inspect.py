"""``calipers inspect``: what the file of a metric, or of a map of queries, holds."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from calipers.cli.options import add_output, load_learned, whole_number
from calipers.cli.output import say, write_json

if TYPE_CHECKING:
    from calipers.cli.options import Commands
    from calipers.metric.saved import SavedMetric
    from calipers.search.query_map import QueryMap

_BAR = 30


def add(commands: Commands) -> None:
    """Register the command."""
    inspect = commands.add_parser(
        "inspect",
        help="size, spectrum and features of a metric",
        description="Show what a metric's file holds: what was chosen, size, rank, spectrum, the "
        "features that matter most, and how it was learned. Of a map of queries: the verdict and "
        "the sizes.",
    )
    inspect.add_argument("metric", help="file from 'calipers fit' or 'calipers adapt'")
    inspect.add_argument(
        "--top", type=whole_number, default=10, metavar="N", help="lines of each list (default: 10)"
    )
    add_output(inspect)
    inspect.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Read and show."""
    from calipers.search.query_map import QueryMap, load

    learned = load_learned(options, load)
    n_bytes = Path(options.metric).stat().st_size
    if isinstance(learned, QueryMap):
        facts = _facts_of_map(learned, n_bytes)
        lines = _lines_of_map(options, facts)
    else:
        facts = _facts(learned, n_bytes)
        encoding = (sys.stdout.encoding or "ascii").lower()
        lines = _lines(options, facts, "█" if encoding.startswith("utf") else "#")
    if options.json:
        write_json(facts)
        return 0
    for line in lines:
        say(line)
    return 0


def _facts_of_map(learned: QueryMap, n_bytes: int) -> dict[str, Any]:
    return {
        "kind": learned.kind,
        "bytes": n_bytes,
        "query_features": learned.n_query_features,
        "document_features": learned.n_document_features,
        "components": learned.n_components,
        "training": learned.facts,
    }


def _lines_of_map(options: argparse.Namespace, facts: dict[str, Any]) -> list[str]:
    training = facts["training"]
    verdict = training.get("verdict")
    sizes = f"{facts['query_features']} features of queries to {facts['components']} components"
    plain = {n: v for n, v in training.items() if n != "verdict" and not isinstance(v, dict)}
    return [
        *([] if verdict is None else [str(verdict), ""]),
        f"{options.metric}: {facts['kind']}, {facts['bytes']:,} bytes, {sizes}",
        *(f"  {name}: {value}" for name, value in plain.items()),
    ]


def _facts(metric: SavedMetric, n_bytes: int) -> dict[str, Any]:
    """All that is shown, as plain values; what was selected comes first."""
    from calipers.metric.mahalanobis import feature_shares, spectrum

    unit = float(abs(metric.components_).max()) or 1.0  # squares in it do not overflow
    values = spectrum(metric.components_ / unit)
    limit = values[0] * max(metric.components_.shape) * 2.2e-16
    names = getattr(metric, "feature_names_in_", None)
    shares = feature_shares(metric.components_, metric.feature_scale_)
    order = (-shares).argsort(kind="stable").tolist()
    return {
        "chosen": metric.facts_.get("chosen_"),
        "reason": metric.facts_.get("reason_"),
        "learner": metric.learner_,
        "written_by": metric.contents.written_by,
        "bytes": n_bytes,
        "features": metric.n_features_in_,
        "components": metric.components_.shape[0],
        "rank": int((values > limit).sum()),
        "spectrum": [value * unit * unit for value in values.tolist()],
        "spectrum_shares": (values / (values.sum() or 1.0)).tolist(),
        "importances": {
            f"feature {i + 1}" if names is None else str(names[i]): float(shares[i]) for i in order
        },
        "scaled": metric.feature_scale_ is not None,
        "classes": metric.contents.classes,
        "label": metric.label_,
        "parameters": metric.contents.parameters,
        "resolved": metric.contents.resolved,
        "training": {
            name: fact
            for name, fact in metric.contents.facts.items()
            if not isinstance(fact, list) and name not in ("chosen_", "reason_")
        },
        "notes": metric.notes_,
    }


def _lines(options: argparse.Namespace, facts: dict[str, Any], block: str) -> list[str]:
    from calipers.data.files.errors import escaped

    shares, top = facts["importances"], options.top
    spectrum = zip(facts["spectrum"], facts["spectrum_shares"], strict=True)
    chosen, reason = facts["chosen"], facts["reason"]
    lines = [] if chosen is None else [str(reason or f"Chosen: {chosen}."), ""]
    lines += [
        f"{options.metric}: {facts['learner']}, written by calipers {facts['written_by']}, "
        f"{facts['bytes']:,} bytes",
        f"{facts['features']} features to {facts['components']} components, rank {facts['rank']}",
        "",
        "Spectrum of M (share of the trace)",
        *_bars([(f"{value:.3g}", share) for value, share in spectrum], top, block),
        "",
        "Features that matter most (diagonal of M"
        + (
            " times variance)"
            if facts["scaled"]
            else "; their standard deviations are not in the file)"
        ),
        *_bars([(escaped(name), share) for name, share in shares.items()], top, block),
        "",
        "Training",
    ]
    classes = facts["classes"]
    if classes is not None:
        some = ", ".join(str(label) for label in classes[:8])
        lines.append(f"  {len(classes)} classes: {some}{', ...' if len(classes) > 8 else ''}")
    lines += [f"  {name}: {value}" for name, value in facts["training"].items()]
    for group in ("parameters", "resolved"):
        settings = ", ".join(f"{name}={value!r}" for name, value in facts[group].items())
        lines += [f"  {group}: {settings}"] if settings else []
    lines += [f"  note: {note}" for note in facts["notes"]]
    return lines


def _bars(shares: list[tuple[str, float]], top: int, block: str) -> list[str]:
    from calipers.data.files.errors import shortened

    names = [shortened(name) for name, _ in shares[:top]]
    width = max(map(len, names))
    longest = max(share for _, share in shares) or 1.0
    lines = [
        f"  {name:>{width}}  {block * round(_BAR * share / longest):<{_BAR}} {100 * share:5.1f} %"
        for name, (_, share) in zip(names, shares[:top], strict=True)
    ]
    if len(shares) > top:
        rest = 100 * sum(share for _, share in shares[top:])
        lines.append(f"  and {len(shares) - top} more with {rest:.1f} % together")
    return lines
