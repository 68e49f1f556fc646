"""``calipers evaluate``: is a learned distance better? Cross-validated, the verdict first."""

from __future__ import annotations

import argparse
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from calipers.cli.options import (
    N_VOTERS,
    TABLE,
    add_learner,
    add_output,
    advanced,
    at_least_two,
    check_apart,
    learn,
    make_learner,
    mistakes_in,
    page,
    picture,
    whole_number,
)
from calipers.cli.output import (
    check_picture,
    console,
    meter,
    remark,
    say,
    score_table,
    write_json,
    write_picture,
)
from calipers.cli.reading import add_data, read_labelled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from calipers.arrays import FloatArray
    from calipers.cli.options import Commands
    from calipers.cli.reading import Labelled
    from calipers.evaluation.verdict import Verdict


def add(commands: Commands) -> None:
    """Register the command."""
    evaluate = commands.add_parser(
        "evaluate",
        help="is a learned distance better? a verdict, k-NN error and retrieval scores",
        description="Learn a metric with a fold of the samples held out, and compare on that fold "
        "the k-NN error and retrieval scores under the learned distance with those under the raw "
        "and the standardised features; each fold is held out once.",
    )
    evaluate.add_argument("data", help=TABLE)
    add_data(evaluate, label_needed=True)
    drawn = "draw the held-out samples of the first fold under each distance"
    evaluate.add_argument("-o", "--output", type=picture, metavar="PICTURE", help=drawn)
    written = "write a page: errors per class, confusions, samples that changed sides, weights"
    evaluate.add_argument("--html", type=page, metavar="PAGE", help=written)
    add_learner(evaluate)
    group = advanced(evaluate)
    parts = "parts held out in turn (default: 5)"
    group.add_argument("--folds", type=at_least_two, default=5, metavar="N", help=parts)
    voters = "neighbours that vote (default: 3)"
    group.add_argument("--neighbors", type=whole_number, default=N_VOTERS, metavar="N", help=voters)
    add_output(evaluate)
    evaluate.set_defaults(run=run)


def run(options: argparse.Namespace, data: Labelled | None = None) -> int:
    """Learn and score fold by fold, then show and write what came out."""
    console()  # a missing package is reported before the work
    for path in filter(None, (options.output, options.html)):
        check_apart(path, options.data, options.label)
        check_picture(path)
    data = data or read_labelled(options)
    found = _evaluate(data, options)
    facts = _facts(found, data)
    if options.output is not None:
        write_picture(_map(found), options.output)
    if options.html is not None:
        from calipers.data.files import atomic_write

        with atomic_write(options.html) as stream:
            stream.write(_page(facts, found, data, source=options.data).encode())
    if options.json:
        write_json(facts)
    else:
        _show(facts, options)
    return 0


@dataclass
class _Found:
    """What came out fold by fold: the verdict, and what was learned."""

    verdict: Verdict
    images: dict[str, FloatArray] = field(default_factory=dict)  # held out by the first fold
    chosen: list[str] = field(default_factory=list)
    reason: str = ""  # of the last selection
    shares: Counter[str] = field(default_factory=Counter)  # of features, summed over folds
    notes: list[str] = field(default_factory=list)


def _evaluate(data: Labelled, options: argparse.Namespace) -> _Found:
    """Learn and score with each fold held out."""
    import numpy as np
    from sklearn.preprocessing import StandardScaler

    from calipers.evaluation.folds import folds
    from calipers.evaluation.verdict import Verdict
    from calipers.metric.mahalanobis import feature_shares

    with mistakes_in(options.data), meter(options.folds, show=not options.quiet) as bar:
        fold_of = folds(data.y, None, options.folds, np.random.default_rng(options.seed))
        found = _Found(Verdict(data.y, fold_of, n_neighbors=options.neighbors))
        for fold in range(found.verdict.n_folds):
            known, new, names = data.split(fold_of == fold)
            metric = make_learner(options)
            with bar.step(f"fold {fold + 1} of {found.verdict.n_folds}") as callback:
                found.notes += learn(metric, known, data.y[fold_of != fold], callback)
            if getattr(metric, "interrupted_", False):
                raise KeyboardInterrupt
            scaler = StandardScaler().fit(known)
            images = {
                "learned": (metric.transform(known), metric.transform(new)),
                "raw": (known, new),
                "standardised": (scaler.transform(known), scaler.transform(new)),
            }
            found.verdict.add(fold, images)
            found.images = found.images or {
                name: held_out for name, (_, held_out) in images.items()
            }
            if hasattr(metric, "chosen_"):
                found.chosen.append(metric.chosen_)
                found.reason = metric.reason_
            shares = feature_shares(metric.components_, metric.feature_scale_).tolist()
            names = names or [f"feature {i + 1}" for i in range(len(shares))]
            found.shares.update(dict(zip(names, shares, strict=True)))
    return found


def _facts(found: _Found, data: Labelled) -> dict[str, Any]:
    """All that is shown, as plain values."""
    verdict = found.verdict
    first, *more = verdict.sentences()
    often = Counter(found.chosen).most_common()
    told = ", ".join(f"{name} in {n}" for name, n in often)
    selection = f"Chosen: {told} of {verdict.n_folds} folds." if often[1:] else found.reason
    return {
        "verdict": first,
        "told": [*more, *filter(None, [selection])],
        "distances": verdict.rows(),
        "compared": verdict.compared(),
        "chosen": found.chosen,
        "importances": {name: s / verdict.n_folds for name, s in found.shares.most_common()},
        "n_samples": len(data.y),
        "n_queries": verdict.n_queries,
        "left_out": data.left_out,
        "notes": [*data.notes, *dict.fromkeys(found.notes)],
    }


def _show(facts: dict[str, Any], options: argparse.Namespace) -> None:
    """Print the verdict, what was selected and the table."""
    from calipers.evaluation.verdict import SCORES

    for sentence in (facts["verdict"], *facts["told"]):
        say(sentence)
    columns = facts["distances"]
    lines = [[f"{options.neighbors}-NN error %", *(f"{100 * c['knn_error']:.2f}" for c in columns)]]
    for score, heading in SCORES.items():
        pairs = [(c[score], c[f"{score}_standard_error"]) for c in columns]
        lines.append([heading, *(f"{100 * mean:.2f} ± {100 * error:.2f}" for mean, error in pairs)])
    console().print(score_table("held out", [c["distance"] for c in columns], lines))
    if options.quiet:
        return
    for note in facts["notes"]:
        remark(f"Note: {note}")
    for path in filter(None, (options.output, options.html)):
        remark(f"Written: {path}")


# The picture and the page


def _map(found: _Found) -> Figure:
    """Draw the first fold: each panel has its distance, and its errors of that fold."""
    from calipers.plot import figure_class, legend_of_classes, principal_plane, ring, scatter

    is_held_out = found.verdict.fold_of == 0
    figure = figure_class()(figsize=(13, 4.8), dpi=150, layout="constrained")
    names = ("raw", "standardised", "learned")
    for panel, name in zip(figure.subplots(1, 3), names, strict=True):
        plane = principal_plane(found.images[name])
        wrong = found.verdict.wrong[name][is_held_out]
        scatter(panel, plane, found.verdict.y[is_held_out])
        ring(panel, plane[wrong])
        title = f"{name.capitalize()}: {100 * wrong.mean():.1f} % error"
        panel.set_title(title, loc="left", fontsize=12, fontweight="bold")
    legend_of_classes(panel)
    figure.suptitle(
        f"The {is_held_out.sum():,} samples of the first fold, which the metric has not seen, by "
        f"two principal components; rings are errors of {found.verdict.n_neighbors}-NN in all "
        "dimensions",
        fontsize=10,
    )
    return figure


def _page(facts: dict[str, Any], found: _Found, data: Labelled, *, source: str) -> str:
    """Return the whole page."""
    from calipers.evaluation import page as html

    shares = [[name, f"{100 * share:.1f} %"] for name, share in facts["importances"].items()]
    return html.page(
        facts["verdict"],
        over=source,
        lead=facts["told"],
        sections={
            "Held-out samples": html.picture(
                _map(found), "Samples under each distance, errors ringed"
            ),
            **found.verdict.sections(data.rows),
            "What the metric weighs": html.table(["feature", "share of squared distances"], shares),
            "Left out": html.listed(facts["left_out"]),
            "Notes": html.listed(facts["notes"]),
        },
        footer=f"{facts['n_samples']:,} samples, each held out once in {found.verdict.n_folds} "
        f"folds; errors are of {found.verdict.n_neighbors}-NN. Made by calipers evaluate.",
    )
