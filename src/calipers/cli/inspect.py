"""``calipers inspect``: what the file of a metric, or of a map of queries, holds."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from calipers.cli.options import add_output
from calipers.cli.output import say, write_json

if TYPE_CHECKING:
    from calipers.cli.options import Commands
    from calipers.metric.saved import SavedMetric
    from calipers.search.query_map import QueryMap

_TOP = 10  # values of a list


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
    else:
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
    from calipers.data.files import escaped, shortened

    values, shares = facts["spectrum"], [*facts["importances"].items()]
    trace, classes = sum(values) or 1.0, [*map(str, facts["classes"])]
    settings = ", ".join(f"{name}={value!r}" for name, value in facts["parameters"].items())
    return [
        *([facts["reason"], ""] if facts["reason"] else []),
        f"{facts['learner']}: {facts['features']} features to {facts['components']} components, "
        f"rank {facts['rank']}",
        f"Spectrum of M, % of the trace: {_first([f'{100 * v / trace:.3g}' for v in values])}",
        "",
        "Features that matter most, % of squared distances",
        *(f"  {100 * share:5.1f}  {shortened(escaped(name))}" for name, share in shares[:_TOP]),
        *([f"  and {len(shares) - _TOP} more"] if shares[_TOP:] else []),
        "",
        "Training",
        *([f"  {len(classes)} classes: {_first(classes)}"] if classes else []),
        *(f"  {name}: {value}" for name, value in facts["training"].items()),
        f"  parameters: {settings}",
    ]


def _first(words: list[str]) -> str:
    return ", ".join(words[:_TOP] + ["..."] * (len(words) > _TOP))
