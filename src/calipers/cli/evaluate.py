"""``calipers evaluate``: is a learned distance better? Cross-validated, the verdict first."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from calipers.cli import learners
from calipers.cli.encoded import read_labelled
from calipers.cli.options import STANDARD, TABLE, add_data, add_output, check_apart, picture
from calipers.cli.output import (
    check_picture,
    console,
    remark,
    say,
    write_json,
    write_picture,
)
from calipers.cli.verdict import DISTANCES, MOST_QUERIES, SCORES, Fold, Verdict

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.table import Table

    from calipers.cli.encoded import Labelled
    from calipers.cli.options import Commands


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
    evaluate.add_argument(
        "-o",
        "--output",
        type=picture,
        metavar="PICTURE",
        help="draw the held-out samples of a fold under each distance",
    )
    evaluate.add_argument(
        "--html",
        type=Path,
        metavar="PAGE",
        help="write a page: errors per class, confusions, samples that changed sides, weights",
    )
    add_data(evaluate, label_needed=True)
    learners.add_learner(evaluate)
    learners.add_folds(evaluate)
    add_output(evaluate)
    evaluate.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Learn and score fold by fold, then show the verdict."""
    from calipers.data.files import FileError, atomic_write, check_writable

    console()  # a missing package is reported before the work
    for path in filter(None, (options.output, options.html)):
        check_apart(path, options)
    if options.output is not None:
        check_picture(options.output)
    if options.html is not None:
        if str(options.html) == STANDARD:
            raise FileError("--html needs the name of a file, such as page.html, got '-'.")
        check_writable(options.html)
    learners.make(options)  # an option of no use is reported before the data are read
    data = read_labelled(options)
    verdict = Verdict(_folds(data, options), options.neighbors)
    transforms = _evaluate(verdict, options)
    figure = None
    if options.output is not None or options.html is not None:
        figure = _figure(verdict, transforms)
    if options.output is not None and figure is not None:
        write_picture(figure, options.output)
    if options.html is not None:
        from calipers.cli.verdict_page import page

        with atomic_write(options.html) as stream:
            stream.write(page(verdict, data, source=options.data, figure=figure).encode())
    if options.json:
        write_json(_json(verdict, data))
    else:
        _show(verdict, data, options)
    return 0


def _evaluate(verdict: Verdict, options: argparse.Namespace) -> dict[str, Any]:
    """Score every fold; returns the distances of the one that the picture shows."""
    from calipers.metric.mahalanobis import feature_shares
    from calipers.paper.progress import meter

    n_folds, distances = len(verdict.folds), []
    with meter(n_folds, console=console(stderr=True), show=not options.quiet) as bar:
        for number, fold in enumerate(verdict.folds, 1):
            with bar.step(f"fold {number} of {n_folds}") as advance:
                metric = learners.make(options)
                if hasattr(metric, "set_callbacks"):
                    metric.set_callbacks(advance)
                warned = learners.learn(
                    metric,
                    fold.X_train,
                    fold.y_train,
                    source=options.data,
                    standardize=options.standardize,
                )
                distances.append(
                    {
                        "learned": metric.transform,
                        "raw": lambda X: X,
                        "standardised": _standardised(fold),
                    }
                )
                verdict.add(fold, distances[-1], options.at)
            verdict.notes |= dict.fromkeys(warned)
            if hasattr(metric, "chosen_"):
                verdict.chosen.append(metric.chosen_)
                verdict.reason = metric.reason_
            shares = feature_shares(metric.components_, fold.X_train.std(axis=0))
            names = fold.names or [f"feature {i + 1}" for i in range(len(shares))]
            verdict.shares.append(dict(zip(names, shares.tolist(), strict=True)))
    return distances[verdict.typical()]


def _standardised(fold: Fold) -> Any:
    units = learners.feature_units(fold.X_train, standardize=True)
    return lambda X: X / units


def _folds(data: Labelled, options: argparse.Namespace) -> list[Fold]:
    import numpy as np

    from calipers.data.files import FileError
    from calipers.evaluation.folds import folds as dealt

    y = data.y
    classes, sizes = np.unique(y, return_counts=True)
    if sizes.max() < options.folds:
        raise FileError(
            f"{options.data} has at most {sizes.max()} samples of a class, fewer than the "
            f"{options.folds} folds: lower --folds, or give more samples."
        )
    n_left = sizes.max() - -(-sizes.max() // options.folds)
    if n_left < 2:
        raise FileError(
            f"{options.data} has at most {sizes.max()} samples of a class, of which "
            f"{options.folds} folds leave {n_left} to learn from: give more samples."
        )
    small = classes[sizes < options.folds].tolist()
    if small:
        shown = ", ".join(map(str, small[:5])) + ", ..." * (len(small) > 5)
        data.notes.append(
            f"Classes with fewer samples than the {options.folds} folds are not in every fold: "
            f"{shown}."
        )
    fold_of = dealt(y, None, options.folds, np.random.default_rng(options.seed))
    fewest = len(y) - int(np.bincount(fold_of).max())
    if options.neighbors > fewest:
        raise FileError(
            f"--neighbors {options.neighbors} is more than the {fewest} samples that a fold learns "
            "from: lower it."
        )
    folds = []
    for number in range(options.folds):
        is_test = fold_of == number
        known, new, names = data.split(is_test)
        train, test = np.flatnonzero(~is_test), np.flatnonzero(is_test)
        folds.append(Fold(known, y[train], new, y[test], train, test, names))
    return folds


def _json(verdict: Verdict, data: Labelled) -> dict[str, Any]:
    """All that is shown, as plain values."""
    rows = []
    for name in DISTANCES:
        scores = {score: verdict.score(name, score) for score in SCORES}
        rows.append(
            {"distance": name, "knn_error": verdict.error(name) / 100}
            | {score: mean / 100 for score, (mean, _) in scores.items()}
            | {f"{score}_standard_error": error / 100 for score, (_, error) in scores.items()}
        )
    return {
        "verdict": verdict.sentences()[0],
        "distances": rows,
        "compared": [asdict(verdict.compared(other)) for other in DISTANCES[1:]],
        "chosen": verdict.chosen,
        "importances": verdict.importances(),
        "n_samples": len(data.y),
        "n_queries": _n_queries(verdict),
        "left_out": data.left_out,
        "notes": [*data.notes, *verdict.notes],
    }


def _n_queries(verdict: Verdict) -> int:
    return sum(min(len(fold.y_test), MOST_QUERIES) for fold in verdict.folds)


def _show(verdict: Verdict, data: Labelled, options: argparse.Namespace) -> None:
    """Print the verdict, what was selected and the table, within 80 columns."""
    from textwrap import wrap

    for sentence in (*verdict.sentences(), verdict.selection()):
        if sentence:
            for line in wrap(sentence, 79, break_long_words=False, break_on_hyphens=False):
                say(line)
    console().print(_table(verdict, options))
    n_queries = _n_queries(verdict)
    if n_queries < len(data.y):
        samples = f"{n_queries:,} of the {len(data.y):,} samples"
        say(f"Retrieval scores are of {samples}, at most {MOST_QUERIES:,}")
        say("of each fold; the error is of all.")
    if options.quiet:
        return
    for note in (*data.notes, *verdict.notes):
        remark(f"Note: {note}")
    if options.output is not None:
        remark(f"Picture: {options.output}")
    if options.html is not None:
        remark(f"Page: {options.html}")


def _table(verdict: Verdict, options: argparse.Namespace) -> Table:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1))
    table.add_column(f"{len(verdict.folds)} folds")
    for name in DISTANCES:
        table.add_column(name, justify="right")
    error = f"{options.neighbors}-NN error %"
    table.add_row(error, *(f"{verdict.error(name):.2f}" for name in DISTANCES))
    for score, heading in SCORES.items():
        means = (verdict.score(name, score) for name in DISTANCES)
        cells = (f"{mean:.2f} ± {deviation:.2f}" for mean, deviation in means)
        table.add_row(heading.replace("@k", f"@{options.at}"), *cells)
    return table


def _figure(verdict: Verdict, transforms: dict[str, Any]) -> Figure | None:
    """Draw a typical fold: each panel has its distance, and its errors of that fold."""
    try:
        from calipers.plot import figure_class, legend_of_classes, ring, scatter

        figure = figure_class()(figsize=(13, 4.8), dpi=150, layout="constrained")
    except ImportError:  # the page does without
        return None
    from calipers.plot import principal_plane

    number = verdict.typical()
    fold, held = verdict.folds[number], verdict.held[number]
    order = ("raw", "standardised", "learned")
    for panel, name in zip(figure.subplots(1, 3), order, strict=True):
        plane = principal_plane(transforms[name](fold.X_test))
        wrong = held[name].predicted != fold.y_test
        scatter(panel, plane, fold.y_test)
        ring(panel, plane[wrong])
        title = f"{name.capitalize()}: {100 * wrong.mean():.1f} % error"
        panel.set_title(title, loc="left", fontsize=12, fontweight="bold")
    legend_of_classes(panel)
    figure.suptitle(
        f"The {len(fold.y_test):,} samples of fold {number + 1}, which the metric has not seen, by "
        f"two principal components; rings are errors of {verdict.n_neighbors}-NN in all dimensions",
        fontsize=10,
    )
    return figure
