"""``calipers inspect``: what the file of a metric, or of a map of queries, holds."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from calipers.cli.options import add_output
from calipers.cli.output import say, write_json

if TYPE_CHECKING:
    from calipers.cli.options import Commands
    from calipers.metric.saved import SavedMetric
    from calipers.search.query_map import QueryMap

_BAR = 30  # characters of the longest one
_TOP = 10  # bars of a list


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
    add_output(inspect)
    inspect.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Read and show."""
    from calipers import load
    from calipers.search.query_map import QueryMap

    learned = load(options.metric)
    if isinstance(learned, QueryMap):
        facts = _facts_of_map(learned)
        lines = [f"{name.replace('_', ' ')}: {value}" for name, value in facts.items()]
    else:
        facts = _facts(learned)
        lines = _lines(facts)
    if options.json:
        write_json(facts)
        return 0
    for line in lines:
        say(line)
    return 0


def _facts_of_map(learned: QueryMap) -> dict[str, Any]:
    """What a map of queries holds, the verdict first."""
    plain = {name: fact for name, fact in learned.facts.items() if not isinstance(fact, dict)}
    return {
        "verdict": plain.pop("verdict", None),
        "kind": learned.kind,
        "query_features": learned.n_query_features,
        "document_features": learned.n_document_features,
        "components": learned.n_components,
    } | plain


def _facts(metric: SavedMetric) -> dict[str, Any]:
    """All that is shown, as plain values; what was selected comes first."""
    from calipers.metric.mahalanobis import feature_shares, spectrum

    values = spectrum(metric.components_)
    limit = values[0] * max(metric.components_.shape) * 2.2e-16
    shares = feature_shares(metric.components_, metric.feature_scale_)
    names = getattr(metric, "feature_names_in_", [f"feature {i + 1}" for i in range(len(shares))])
    order = (-shares).argsort(kind="stable").tolist()
    facts = {n: fact for n, fact in metric.facts_.items() if isinstance(fact, str | int | float)}
    return {
        "chosen": facts.pop("chosen_", None),
        "reason": facts.pop("reason_", None),
        "learner": metric.learner_,
        "features": metric.n_features_in_,
        "components": metric.components_.shape[0],
        "rank": int((values > limit).sum()),
        "spectrum": values.tolist(),
        "importances": {str(names[i]): float(shares[i]) for i in order},
        "classes": metric.classes_.tolist() if hasattr(metric, "classes_") else [],
        "label": metric.label_,
        "parameters": metric.parameters_ | metric.resolved_,
        "training": facts,
    }


def _lines(facts: dict[str, Any]) -> list[str]:
    values, trace = facts["spectrum"], sum(facts["spectrum"]) or 1.0
    spectrum = ", ".join(f"{100 * value / trace:.3g}" for value in values[:_TOP])
    lines = [facts["reason"], ""] if facts["reason"] else []
    lines += [
        f"{facts['learner']}: {facts['features']} features to {facts['components']} components, "
        f"rank {facts['rank']}",
        f"Spectrum of M (shares of the trace, %): {spectrum}{', ...' * (len(values) > _TOP)}",
        "",
        "Features that matter most (share of squared distances)",
        *_bars(list(facts["importances"].items())),
        "",
        "Training",
    ]
    classes = [str(label) for label in facts["classes"]]
    if classes:
        some = ", ".join(classes[:8] + ["..."] * (len(classes) > 8))
        lines.append(f"  {len(classes)} classes: {some}")
    settings = ", ".join(f"{name}={value!r}" for name, value in facts["parameters"].items())
    return [
        *lines,
        *(f"  {name}: {value}" for name, value in facts["training"].items()),
        f"  parameters: {settings}",
    ]


def _bars(shares: list[tuple[str, float]]) -> list[str]:
    from calipers.data.files import escaped, shortened

    sign = "█" if (sys.stdout.encoding or "").lower().startswith("utf") else "#"
    names = [shortened(escaped(name)) for name, _ in shares[:_TOP]]
    width = max(map(len, names))
    longest = max(share for _, share in shares) or 1.0
    lines = [
        f"  {name:>{width}}  {sign * round(_BAR * share / longest):<{_BAR}} {100 * share:5.1f} %"
        for name, (_, share) in zip(names, shares[:_TOP], strict=True)
    ]
    if len(shares) > _TOP:
        rest = 100 * sum(share for _, share in shares[_TOP:])
        lines.append(f"  and {len(shares) - _TOP} more with {rest:.1f} % together")
    return lines
