"""``calipers evaluate``: is a learned distance better? Cross-validated, the verdict first."""

from __future__ import annotations

import argparse
from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from calipers.cli import learners
from calipers.cli.options import (
    N_VOTERS,
    TABLE,
    add_output,
    advanced,
    at_least_two,
    check_apart,
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
from calipers.cli.reading import add_data, mistakes_in, read_labelled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from calipers.arrays import FloatArray
    from calipers.cli.options import Commands
    from calipers.cli.reading import Labelled
    from calipers.evaluation.verdict import Verdict

_MOST_FEATURES = 30
"""Features on the page."""


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
    drawn = "draw the held-out samples of a fold under each distance"
    evaluate.add_argument("-o", "--output", type=picture, metavar="PICTURE", help=drawn)
    written = "write a page: errors per class, confusions, samples that changed sides, weights"
    evaluate.add_argument("--html", type=page, metavar="PAGE", help=written)
    learners.add_learner(evaluate)
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
    learners.make(options)  # an option of no use is reported before the data are read
    data = data or read_labelled(options)
    found = _evaluate(data, options)
    if options.output is not None:
        write_picture(_map(found), options.output)
    if options.html is not None:
        from calipers.data.files import atomic_write

        with atomic_write(options.html) as stream:
            stream.write(_page(found, data, source=options.data).encode())
    if options.json:
        write_json(_facts(found, data))
    else:
        _show(found, data, options)
    return 0


@dataclass
class _Found:
    """What came out fold by fold: the verdict, and what was learned."""

    verdict: Verdict
    images: list[dict[str, FloatArray]] = field(default_factory=list)  # of held-out samples
    chosen: list[str] = field(default_factory=list)
    reason: str = ""  # of the last selection
    shares: Counter[str] = field(default_factory=Counter)  # of features in squared distances
    notes: dict[str, None] = field(default_factory=dict)

    def importances(self) -> dict[str, float]:
        """Mean share of each feature, the largest first."""
        n_folds = self.verdict.n_folds
        return {name: float(total) / n_folds for name, total in self.shares.most_common()}

    def sentences(self) -> list[str]:
        """Say what came out, the verdict first, and what was chosen in the folds."""
        often = Counter(self.chosen).most_common()
        told = ", ".join(f"{name} in {n}" for name, n in often)
        selection = f"Chosen: {told} of {len(self.chosen)} folds." if often[1:] else self.reason
        return [*self.verdict.sentences(), *filter(None, [selection])]


def _evaluate(data: Labelled, options: argparse.Namespace) -> _Found:
    """Learn and score with each fold held out."""
    import numpy as np

    from calipers.evaluation.folds import folds
    from calipers.evaluation.verdict import Verdict

    fold_of = folds(data.y, None, options.folds, np.random.default_rng(options.seed))
    found = _Found(Verdict(data.y, fold_of, n_neighbors=options.neighbors))
    n_folds = found.verdict.n_folds
    with (
        mistakes_in(options.data),
        meter(n_folds, show=not options.quiet) as bar,
    ):
        for fold in range(n_folds):
            with bar.step(f"fold {fold + 1} of {n_folds}") as advance:
                _add_fold(found, fold, data, learners.make(options), advance)
    return found


def _add_fold(found: _Found, fold: int, data: Labelled, metric: Any, advance: Any) -> None:
    from sklearn.preprocessing import StandardScaler

    from calipers.metric.mahalanobis import feature_shares

    is_held_out = found.verdict.fold_of == fold
    known, new, names = data.split(is_held_out)
    warned = learners.learn(metric, known, data.y[~is_held_out], advance)
    if getattr(metric, "interrupted_", False):
        raise KeyboardInterrupt
    scaler = StandardScaler().fit(known)
    images = {
        "learned": (metric.transform(known), metric.transform(new)),
        "raw": (known, new),
        "standardised": (scaler.transform(known), scaler.transform(new)),
    }
    found.verdict.add(fold, images)
    found.images.append({name: of_new for name, (_, of_new) in images.items()})
    found.notes |= dict.fromkeys(warned)
    if hasattr(metric, "chosen_"):
        found.chosen.append(metric.chosen_)
        found.reason = metric.reason_
    shares = feature_shares(metric.components_, metric.feature_scale_)
    names = names or [f"feature {i + 1}" for i in range(len(shares))]
    found.shares.update(dict(zip(names, shares.tolist(), strict=True)))


def _facts(found: _Found, data: Labelled) -> dict[str, Any]:
    """All that is shown, as plain values."""
    from calipers.evaluation.verdict import SCORES

    rows = []
    for name, error in found.verdict.errors().items():
        row: dict[str, Any] = {"distance": name, "knn_error": error}
        for score in SCORES:
            row[score], row[f"{score}_standard_error"] = found.verdict.score(name, score)
        rows.append(row)
    return {
        "verdict": found.sentences()[0],
        "distances": rows,
        "compared": [asdict(found.verdict.compared(other)) for other in ("raw", "standardised")],
        "chosen": found.chosen,
        "importances": found.importances(),
        "n_samples": len(data.y),
        "n_queries": found.verdict.n_queries,
        "left_out": data.left_out,
        "notes": [*data.notes, *found.notes],
    }


def _show(found: _Found, data: Labelled, options: argparse.Namespace) -> None:
    """Print the verdict, what was selected and the table."""
    from calipers.evaluation.verdict import DISTANCES, SCORES

    verdict = found.verdict
    for sentence in found.sentences():
        say(sentence)
    errors = [f"{100 * error:.2f}" for error in verdict.errors().values()]
    rows = [[f"{options.neighbors}-NN error %", *errors]]
    for score, heading in SCORES.items():
        means = (verdict.score(name, score) for name in DISTANCES)
        rows.append([heading, *(f"{100 * mean:.2f} ± {100 * error:.2f}" for mean, error in means)])
    console().print(score_table(f"{verdict.n_folds} folds", [*DISTANCES], rows))
    if options.quiet:
        return
    if verdict.n_queries < len(data.y):
        remark(
            f"Retrieval scores are of {verdict.n_queries:,} of the {len(data.y):,} samples; the "
            "error is of all."
        )
    for note in (*data.notes, *found.notes):
        remark(f"Note: {note}")
    for what, path in (("Picture", options.output), ("Page", options.html)):
        if path is not None:
            remark(f"{what}: {path}")


# Pictures and the page


def _map(found: _Found) -> Figure:
    """Draw a typical fold: each panel has its distance, and its errors of that fold."""
    from calipers.plot import figure_class, legend_of_classes, principal_plane, ring, scatter

    fold = found.verdict.typical_fold()
    is_held_out = found.verdict.fold_of == fold
    figure = figure_class()(figsize=(13, 4.8), dpi=150, layout="constrained")
    names = ("raw", "standardised", "learned")
    for panel, name in zip(figure.subplots(1, 3), names, strict=True):
        plane = principal_plane(found.images[fold][name])
        wrong = found.verdict.wrong[name][is_held_out]
        scatter(panel, plane, found.verdict.y[is_held_out])
        ring(panel, plane[wrong])
        title = f"{name.capitalize()}: {100 * wrong.mean():.1f} % error"
        panel.set_title(title, loc="left", fontsize=12, fontweight="bold")
    legend_of_classes(panel)
    figure.suptitle(
        f"The {is_held_out.sum():,} samples of fold {fold + 1}, which the metric has not seen, by "
        f"two principal components; rings are errors of {found.verdict.n_neighbors}-NN in all "
        "dimensions",
        fontsize=10,
    )
    return figure


def _weights(found: _Found) -> Figure:
    """Draw the largest shares of features."""
    from calipers.plot import figure_class, share_bars

    shares = dict(list(found.importances().items())[:_MOST_FEATURES])
    figure = figure_class()(figsize=(9, 1 + 0.25 * len(shares)), layout="constrained")
    share_bars(figure.subplots(), [*shares], [*shares.values()])
    return figure


def _page(found: _Found, data: Labelled, *, source: str) -> str:
    """Return the whole page."""
    from calipers.evaluation import page as html

    verdict = found.verdict
    title, *lead = found.sentences()
    left_out = [f"Left out: {', '.join(data.left_out)}."] if data.left_out else []
    return html.page(
        title,
        over=source,
        lead=lead,
        sections={
            "Held-out samples": html.picture(
                _map(found), "Samples under each distance, errors ringed"
            ),
            **verdict.sections(data.row),
            "What the metric weighs": html.picture(_weights(found), "Shares of features"),
            "Notes": html.listed([*left_out, *data.notes, *found.notes]),
        },
        footer=f"{len(data.y):,} samples, each held out once in {verdict.n_folds} folds; errors "
        f"are of {verdict.n_neighbors}-NN. Made by calipers evaluate.",
    )
