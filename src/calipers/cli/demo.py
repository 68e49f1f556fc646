"""``calipers demo``: what a learned distance is worth on a table with unlike units."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from calipers.cli.options import add_output, picture, seed
from calipers.cli.output import (
    check_picture,
    console,
    remark,
    say,
    write_json,
    write_picture,
)

if TYPE_CHECKING:
    import numpy.typing as npt
    from matplotlib.figure import Figure
    from rich.table import Table

    from calipers.cli.options import Commands

    Split = tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any]]

DISTANCES = ("learned", "raw", "standardised")
N_SPLITS = 5
"""Random halves to learn from, the other half unseen; the picture shows the first."""


def add(commands: Commands) -> None:
    """Register the command."""
    demo = commands.add_parser(
        "demo",
        help="a learned distance on a table with unlike units: a verdict and a picture",
        description="Learn a distance for scikit-learn's embedded wine table, whose 13 features "
        "have unlike units, with the default learner; compare its 3-NN error on wines it has not "
        "seen with that of the features as they are and standardised, and draw all three.",
    )
    demo.add_argument(
        "--output",
        "-o",
        type=picture,
        default=Path("calipers-demo.png"),
        metavar="PICTURE",
        help="file of the picture (default: %(default)s; also .svg and .pdf)",
    )
    demo.add_argument("--seed", type=seed, default=0, help="random seed (default: %(default)s)")
    add_output(demo)
    demo.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Learn, draw, show."""
    stderr = console(stderr=True)
    check_picture(options.output)
    from calipers.paper.progress import meter

    with meter(N_SPLITS, console=stderr, show=not options.quiet) as bar:
        splits = _splits(options.seed)
        errors: list[dict[str, tuple[float, float]]] = []
        for number, split in enumerate(splits, 1):
            with bar.step(f"half {number} of {N_SPLITS}"):
                distances = learned_and_given(split, seed=options.seed)
                maps = learned_and_given(split, seed=options.seed, n_components=2)
                errors.append(
                    {
                        name: (_error(distances[name], split), _error(maps[name], split))
                        for name in DISTANCES
                    }
                )
                if number == 1:
                    write_picture(draw(split, maps, errors[0]), options.output)
    rows = _rows(errors)
    if options.json:
        write_json(rows)
    else:
        learned, raw, standardised = (f"{row['error']:.1f} %" for row in rows)
        say(
            f"Learned distance: {learned} error on unseen wines, raw {raw}, "
            f"standardised {standardised}."
        )
        console().print(_table(rows))
    if not options.quiet:
        remark(f"Picture: {options.output}")
    return 0


def _splits(seed: int) -> list[Split]:
    from sklearn.datasets import load_wine
    from sklearn.model_selection import StratifiedShuffleSplit

    X, y = load_wine(return_X_y=True)
    halves = StratifiedShuffleSplit(N_SPLITS, test_size=0.5, random_state=seed).split(X, y)
    return [(X[known], y[known], X[new], y[new]) for known, new in halves]


def learned_and_given(
    split: Split, *, seed: int = 0, n_components: int | None = None
) -> dict[str, tuple[Any, Any]]:
    """Return training and test samples under each of `DISTANCES`.

    With ``n_components=2`` the learned distance has two dimensions, and the others are shown
    by their first two principal components.
    """
    from sklearn.decomposition import PCA
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer, StandardScaler

    from calipers import MetricCV

    X_train, y_train, X_test, _ = split
    view = PCA(n_components) if n_components else FunctionTransformer()
    transformers = {
        "learned": MetricCV(n_components=n_components, random_state=seed),
        "raw": make_pipeline(view),
        "standardised": make_pipeline(StandardScaler(), view),
    }
    return {
        name: (transformer.fit_transform(X_train, y_train), transformer.transform(X_test))
        for name, transformer in transformers.items()
    }


def _error(samples: tuple[Any, Any], split: Split) -> float:
    from calipers.evaluation import knn_error

    known, new = samples
    return 100 * knn_error(known, split[1], new, split[3])


def draw(
    split: Split, maps: dict[str, tuple[Any, Any]], errors: dict[str, tuple[float, float]]
) -> Figure:
    """Draw the unseen wines in two dimensions, on the regions of 3-NN; errors are ringed."""
    from calipers.plot import figure_class, knn_map

    figure = figure_class()(figsize=(12, 4.7), dpi=150, layout="constrained")
    titles = {
        "raw": "Raw features",
        "standardised": "Standardised features",
        "learned": "Learned distance",
    }
    for panel, (name, title) in zip(figure.subplots(1, 3), titles.items(), strict=True):
        known, new = maps[name]
        knn_map(known, split[1], new, split[3], axes=panel)
        panel.set_title(
            f"{title}: {errors[name][1]:.1f} % error", loc="left", fontsize=13, fontweight="bold"
        )
        what = "learned dimension" if name == "learned" else "principal component"
        panel.set_xlabel(f"first {what}")
    figure.suptitle(
        f"{len(split[3])} wines of three growers that were not learned from, on the regions of "
        "3-NN; a ring is an error",
        fontsize=12,
    )
    return figure


def _rows(errors: list[dict[str, tuple[float, float]]]) -> list[dict[str, Any]]:
    """Means over the splits, and their standard errors."""
    from calipers.evaluation.scores import mean_error

    rows = []
    for name in DISTANCES:
        both = [mean_error([split[name][i] for split in errors]) for i in (0, 1)]
        (error, of_error), (flat, of_flat) = both
        rows.append(
            {
                "distance": name,
                "error": error,
                "standard_error": of_error,
                "error_in_two_dimensions": flat,
                "standard_error_in_two_dimensions": of_flat,
            }
        )
    return rows


def _table(rows: list[dict[str, Any]]) -> Table:
    from rich import box
    from rich.table import Table

    title = f"3-NN error %, mean ± standard error of {N_SPLITS} halves"
    table = Table(title=title, box=box.SIMPLE_HEAD, title_justify="left", padding=(0, 1))
    table.add_column("distance")
    table.add_column("all 13 features", justify="right")
    table.add_column("two dimensions", justify="right")
    for row in rows:
        table.add_row(
            row["distance"],
            f"{row['error']:.1f} ± {row['standard_error']:.1f}",
            f"{row['error_in_two_dimensions']:.1f} ± {row['standard_error_in_two_dimensions']:.1f}",
        )
    return table
