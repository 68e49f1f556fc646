"""``calipers evaluate``: scores on rows that the metric has not seen."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from calipers.commands import learners
from calipers.commands.style import add_data, add_style, console, picture, remark, write_json

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt
    from rich.table import Table

    from calipers.commands.style import Commands
    from calipers.tables.table import Chosen

MOST_QUERIES = 2000
"""Rows of a part left out that are searched for at most; more change the means little."""

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
        description="Learn a metric with a part of the rows left out, and compare on that part "
        "the error of k nearest neighbours and scores of retrieval under the Euclidean distance "
        "and under the learned one; each part is left out once.",
    )
    evaluate.add_argument("data", help="table: CSV, TSV, Parquet, NPY, NPZ or LIBSVM")
    evaluate.add_argument(
        "-o", "--output", type=picture, metavar="PICTURE", help="draw rows before and after"
    )
    add_data(evaluate, label_needed=True)
    learners.add_learner(evaluate)
    learners.add_folds(evaluate)
    add_style(evaluate)
    evaluate.set_defaults(run=run)


@dataclass(frozen=True)
class _Fold:
    """Rows to learn from, and rows left out."""

    X_train: npt.NDArray[Any]
    y_train: npt.NDArray[Any]
    X_test: npt.NDArray[Any]
    y_test: npt.NDArray[Any]


def run(options: argparse.Namespace) -> int:
    """Learn and score fold by fold, then tell the means."""
    from calipers import files
    from calipers.experiments.progress import meter

    if options.output is not None:
        files.check_writable(options.output)
    learners.make(options)  # an option of no use is told before the data are read
    data = learners.read_labelled(options)
    folds = _folds(data, options)
    told: dict[str, None] = {}
    scores: dict[str, list[dict[str, float]]] = {"before": [], "after": []}
    with meter(len(folds), console=console(stderr=True), show=not options.quiet) as bar:
        for number, fold in enumerate(folds, 1):
            name = f"fold {number} of {len(folds)}"
            with bar.step(name, if_slow=learners.SLOW if number == 1 else "") as advance:
                metric = learners.make(options).set_callbacks(advance)
                _, warned = learners.learn(
                    metric,
                    fold.X_train,
                    fold.y_train,
                    source=options.data,
                    standardize=options.standardize,
                )
                told |= dict.fromkeys(warned)
                before = _plain_map(fold, standardize=options.standardize)
                scores["before"].append(_scores(fold, before, options))
                scores["after"].append(_scores(fold, metric.transform, options))
    n_queries = sum(min(len(fold.y_test), MOST_QUERIES) for fold in folds)
    rows = [
        {"distance": name, **_summary(each), "n_queries": n_queries}
        for name, each in scores.items()
    ]
    if options.output is not None:
        _draw(options, folds[-1], before, metric.transform, rows)
    if options.json:
        write_json(rows)
    else:
        console().print(_table(rows, options))
        if n_queries < len(data.X):
            console().print(
                f"Retrieval scores are of {n_queries:,} of the {len(data.X):,} rows, at most "
                f"{MOST_QUERIES:,} of each fold; the k-NN error is of all.",
                highlight=False,
                soft_wrap=True,
            )
    if not options.quiet:
        for note in told:
            remark(f"Note: {note}")
        if options.output is not None:
            remark(f"Picture: {options.output}")
    return 0


def _folds(data: Chosen, options: argparse.Namespace) -> list[_Fold]:
    import numpy as np
    from sklearn.model_selection import StratifiedKFold

    from calipers.files import FileError

    X, y = np.asarray(data.X), data.y
    assert y is not None
    classes, sizes = np.unique(y, return_counts=True)
    if len(classes) < 2:
        raise FileError(f"{options.data} has one class only: give labels of at least 2 classes.")
    if sizes.min() < options.folds:
        rare = classes.tolist()[int(sizes.argmin())]
        raise FileError(
            f"{options.data} has {sizes.min()} rows of the class {rare!r}, fewer than the "
            f"{options.folds} folds: lower --folds, or leave such classes out."
        )
    parts = StratifiedKFold(options.folds, shuffle=True, random_state=options.seed).split(X, y)
    return [_Fold(X[train], y[train], X[test], y[test]) for train, test in parts]


def _plain_map(fold: _Fold, *, standardize: bool) -> Callable[[Any], Any]:
    """Rows as the learner is given them."""
    import numpy as np

    from calipers.mapped import spread_of

    spread = spread_of(fold.X_train)
    unit = np.where(spread > 0, spread, 1.0) if standardize else np.ones(len(spread))
    return lambda X: X / unit


def _scores(
    fold: _Fold, mapped: Callable[[Any], Any], options: argparse.Namespace
) -> dict[str, float]:
    """Score a map on the rows left out, searched for among those learned from."""
    from dataclasses import asdict

    import numpy as np

    from calipers.evaluation import knn_error, retrieval_scores

    known, new = mapped(fold.X_train), mapped(fold.X_test)
    n_neighbors, k = min(options.neighbors, len(known)), min(options.at, len(known))
    error = knn_error(known, fold.y_train, new, fold.y_test, n_neighbors=n_neighbors)
    # spread evenly, for the file may be sorted by class
    asked = np.linspace(0, len(new) - 1, min(len(new), MOST_QUERIES)).astype(np.intp)
    found = asdict(
        retrieval_scores(
            known, new[asked], labels=fold.y_train, query_labels=fold.y_test[asked], k=k
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

    title = f"{options.data}: means of {options.folds} folds, --method {options.method}"
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
    before: Callable[[Any], Any],
    after: Callable[[Any], Any],
    rows: list[dict[str, Any]],
) -> None:
    """Draw the rows that the last metric has not seen."""
    from matplotlib.figure import Figure

    from calipers.files import written_whole
    from calipers.plot import before_after

    panels = before_after(before(fold.X_test), fold.y_test, after(fold.X_test))
    for panel, row in zip(panels, rows, strict=True):
        title = f"{row['distance'].capitalize()}: {options.neighbors}-NN error "
        title += f"{100 * row['knn_error']:.1f} %"
        panel.set_title(title, loc="left", fontsize=12, fontweight="bold")
    figure = panels[0].figure
    assert isinstance(figure, Figure)
    figure.suptitle("Rows the metric has not seen, two principal components")
    with written_whole(options.output) as stream:
        figure.savefig(stream, format=options.output.suffix[1:].lower())
