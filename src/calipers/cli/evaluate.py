"""``calipers evaluate``: cross-validated scores of a learner."""

from __future__ import annotations

import argparse
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from calipers.cli import learners
from calipers.cli.encoded import read_labelled
from calipers.cli.options import add_data, add_output, picture
from calipers.cli.output import (
    check_picture,
    console,
    remark,
    say,
    write_json,
    write_picture,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt
    from rich.table import Table

    from calipers.cli.encoded import Labelled
    from calipers.cli.options import Commands

    Transform = Callable[[Any], Any]

MOST_QUERIES = 2000
"""Held-out samples of a fold that are retrieval queries at most; more change the means little."""

_HEADINGS = {
    "knn_error": "k-NN error %",
    "precision_at_k": "precision@k %",
    "recall_at_k": "recall@k %",
    "mean_average_precision": "MAP %",
    "ndcg": "nDCG %",
}


def add(commands: Commands) -> None:
    """Register the command."""
    evaluate = commands.add_parser(
        "evaluate",
        help="k-NN error and retrieval scores before and after, cross-validated",
        description="Learn a metric with a fold of the samples held out, and compare on that fold "
        "the k-NN error and retrieval scores under the Euclidean distance and under the learned "
        "one; each fold is held out once.",
    )
    evaluate.add_argument("data", help="table: CSV, TSV, Parquet, NPY, NPZ or LIBSVM")
    evaluate.add_argument(
        "-o",
        "--output",
        type=picture,
        metavar="PICTURE",
        help="draw held-out samples before and after",
    )
    add_data(evaluate, label_needed=True)
    learners.add_learner(evaluate)
    learners.add_folds(evaluate)
    add_output(evaluate)
    evaluate.set_defaults(run=run)


@dataclass(frozen=True)
class _Fold:
    """Samples to learn from, and samples held out."""

    X_train: npt.NDArray[Any]
    y_train: npt.NDArray[Any]
    X_test: npt.NDArray[Any]
    y_test: npt.NDArray[Any]


@dataclass
class _Result:
    """Scores of every fold before and after learning, and what was learned last."""

    before: list[dict[str, float]] = field(default_factory=list)
    after: list[dict[str, float]] = field(default_factory=list)
    chosen: list[str] = field(default_factory=list)  # by a selection, fold by fold
    reason: str = ""  # of the last selection
    notes: dict[str, None] = field(default_factory=dict)
    transforms: tuple[Transform, Transform] | None = None  # of the last fold


def run(options: argparse.Namespace) -> int:
    """Learn and score fold by fold, then show the means."""
    console()  # a missing package is reported before the work
    if options.output is not None:
        check_picture(options.output)
    learners.make(options)  # an option of no use is reported before the data are read
    data = read_labelled(options)
    folds = _folds(data, options)
    result = _evaluate(folds, options)
    n_queries = sum(min(len(fold.y_test), MOST_QUERIES) for fold in folds)
    rows = [
        {"distance": name, **_summary(scores), "n_queries": n_queries}
        for name, scores in (("before", result.before), ("after", result.after))
    ]
    if result.chosen:
        rows[1]["chosen"] = result.chosen
    if options.output is not None:
        assert result.transforms is not None
        _draw(options, folds[-1], result.transforms, rows)
    if options.json:
        write_json(rows)
    else:
        _show(options, result, rows, n_samples=len(data.X))
    if not options.quiet:
        for note in result.notes:
            remark(f"Note: {note}")
        if options.output is not None:
            remark(f"Picture: {options.output}")
    return 0


def _evaluate(folds: list[_Fold], options: argparse.Namespace) -> _Result:
    from calipers.paper.progress import meter

    result = _Result()
    with meter(len(folds), console=console(stderr=True), show=not options.quiet) as bar:
        for number, fold in enumerate(folds, 1):
            name = f"fold {number} of {len(folds)}"
            with bar.step(name) as advance:
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
                before = _as_given(fold, standardize=options.standardize)
                result.before.append(_scores(fold, before, options))
                result.after.append(_scores(fold, metric.transform, options))
            result.transforms = before, metric.transform
            result.notes |= dict.fromkeys(warned)
            if hasattr(metric, "chosen_"):
                result.chosen.append(metric.chosen_)
                result.reason = metric.reason_
    return result


def _show(
    options: argparse.Namespace, result: _Result, rows: list[dict[str, Any]], *, n_samples: int
) -> None:
    """Print what was selected, the table, and how sure the difference is."""
    from calipers.evaluation.paired import mean_and_error

    if result.chosen:
        say(_selection(result))
    console().print(_table(rows, options))
    pairs = zip(result.before, result.after, strict=True)
    mean, error = mean_and_error(
        [after["knn_error"] - before["knn_error"] for before, after in pairs]
    )
    say(
        f"{options.neighbors}-NN error after minus before: {100 * mean:+.2f} ± {100 * error:.2f} "
        f"points (mean and standard error over {len(result.after)} folds)."
    )
    n_queries = rows[0]["n_queries"]
    if n_queries < n_samples:
        say(
            f"Retrieval scores are of {n_queries:,} of the {n_samples:,} samples, at most "
            f"{MOST_QUERIES:,} of each fold; the k-NN error is of all."
        )


def _selection(result: _Result) -> str:
    """Say what was chosen in the folds."""
    often = Counter(result.chosen).most_common()
    if len(often) == 1:
        return result.reason
    n_folds = len(result.chosen)
    return f"Chosen: {', '.join(f'{name} in {n}' for name, n in often)} of {n_folds} folds."


def _folds(data: Labelled, options: argparse.Namespace) -> list[_Fold]:
    import numpy as np

    from calipers.evaluation.folds import stratified
    from calipers.io import FileError

    y = data.y
    classes, sizes = np.unique(y, return_counts=True)
    if len(classes) < 2:
        raise FileError(f"{options.data} has one class only: give labels of at least 2 classes.")
    if sizes.min() < options.folds:
        rare = classes.tolist()[int(sizes.argmin())]
        raise FileError(
            f"{options.data} has {sizes.min()} samples of the class {rare!r}, fewer than the "
            f"{options.folds} folds: lower --folds, or leave such classes out."
        )
    fold_of = stratified(y, options.folds, np.random.default_rng(options.seed))
    held_out = [fold_of == fold for fold in range(options.folds)]
    parts = ((test, *data.split(test)) for test in held_out)
    return [_Fold(known, y[~test], new, y[test]) for test, known, new in parts]


def _as_given(fold: _Fold, *, standardize: bool) -> Transform:
    """Samples as the learner is given them."""
    units = learners.feature_units(fold.X_train, standardize=standardize)
    return lambda X: X / units


def _scores(fold: _Fold, transform: Transform, options: argparse.Namespace) -> dict[str, float]:
    """Score held-out samples, whose neighbours are among the training samples."""
    from dataclasses import asdict

    from calipers.evaluation import knn_error, retrieval_scores
    from calipers.init import evenly_spaced

    known, new = transform(fold.X_train), transform(fold.X_test)
    n_neighbors, k = min(options.neighbors, len(known)), min(options.at, len(known))
    error = knn_error(known, fold.y_train, new, fold.y_test, n_neighbors=n_neighbors)
    queries = evenly_spaced(len(new), MOST_QUERIES)
    found = asdict(
        retrieval_scores(
            known, new[queries], labels=fold.y_train, query_labels=fold.y_test[queries], k=k
        )
    )
    return {"knn_error": error} | {name: found[name] for name in _HEADINGS if name in found}


def _summary(folds: list[dict[str, float]]) -> dict[str, float]:
    """Means over folds, and their standard deviations."""
    import numpy as np

    means = {name: float(np.mean([fold[name] for fold in folds])) for name in _HEADINGS}
    deviations = {
        f"{name}_std": float(np.std([fold[name] for fold in folds], ddof=1)) for name in _HEADINGS
    }
    return means | deviations


def _table(rows: list[dict[str, Any]], options: argparse.Namespace) -> Table:
    from rich import box
    from rich.table import Table

    title = f"{options.data}: means of {options.folds} folds, --learner {options.learner}"
    table = Table(title=title, box=box.SIMPLE_HEAD, title_justify="left", padding=(0, 1))
    table.add_column("distance")
    for heading in _HEADINGS.values():
        shown = heading.replace("k-NN", f"{options.neighbors}-NN").replace("@k", f"@{options.at}")
        table.add_column(shown, justify="right")
    for row in rows:
        cells = [f"{100 * row[name]:.2f} ± {100 * row[f'{name}_std']:.2f}" for name in _HEADINGS]
        table.add_row(row["distance"], *cells)
    return table


def _draw(
    options: argparse.Namespace,
    fold: _Fold,
    transforms: tuple[Transform, Transform],
    rows: list[dict[str, Any]],
) -> None:
    """Draw the samples that were held out last."""
    from calipers.plot import before_after, figure_of

    before, after = (transform(fold.X_test) for transform in transforms)
    panels = before_after(before, fold.y_test, after)
    for panel, row in zip(panels, rows, strict=True):
        title = f"{row['distance'].capitalize()}: {options.neighbors}-NN error "
        title += f"{100 * row['knn_error']:.1f} %"
        panel.set_title(title, loc="left", fontsize=12, fontweight="bold")
    figure = figure_of(panels[0])
    figure.suptitle("Samples the metric has not seen, two principal components")
    write_picture(figure, options.output)
