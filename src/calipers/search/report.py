"""What a map is worth: before and after, on new queries and on new documents, verdict first."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from calipers.arrays import FloatArray
from calipers.data.files import atomic_write
from calipers.evaluation.page import listed, page, picture, table
from calipers.search.holdouts import DECIDES, Scored
from calipers.search.ranking import MEASURES, Vectors, measures, ranks
from calipers.search.relevance import read_relevance

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TITLES = {
    "queries": "New queries about known documents",
    "documents": "Queries about documents without clicks",
    "given": "The queries given",
}

_N_DRAWS = 2000  # of the bootstrap
_N_LISTED = 10  # queries that gained and lost most
_SATURATED = 0.95  # a score above which little is left to gain


@dataclass(frozen=True)
class Comparison:
    """One hold-out before and after; scores are between 0 and 1.

    Attributes
    ----------
    name : {"queries", "documents", "given"}
        What was held out.
    n_queries : int
        Queries scored.
    before, after : dict of str to float
        Means of the measures.
    interval : dict of str to (float, float)
        95 % bootstrap interval of the gain, over queries; those that share documents together,
        widened for maps that differ from fold to fold.
    lower_bound : float
        One-sided 95 % lower bound of the gain in nDCG@10.
    won, lost : int
        Queries whose nDCG@10 rose and fell.
    gained_most, lost_most : list of (query, before, after)
        Up to ten queries each, by nDCG@10.
    gains : list of float
        The gain of every query in nDCG@10, ascending.
    """

    name: str
    n_queries: int
    before: dict[str, float]
    after: dict[str, float]
    interval: dict[str, tuple[float, float]]
    lower_bound: float
    won: int
    lost: int
    gained_most: list[tuple[Any, float, float]]
    lost_most: list[tuple[Any, float, float]]
    gains: list[float]

    @classmethod
    def of(cls, scored: Scored, ids: list[Any], rng: np.random.Generator) -> Comparison:
        """Summarise scores; `ids` are what the queries are called."""
        gains = scored.gains
        order = np.argsort(gains, kind="stable")
        lows, highs = _bootstrap(scored, rng)

        def told(places: Iterable[int]) -> list[tuple[Any, float, float]]:
            return [
                (ids[scored.queries[i]], float(scored.before[i, 0]), float(scored.after[i, 0]))
                for i in places
            ]

        def means(values: FloatArray) -> dict[str, float]:
            return dict(zip(MEASURES, values.mean(axis=0).tolist(), strict=True))

        won, lost = int(np.sum(gains > 0)), int(np.sum(gains < 0))
        return cls(
            name=scored.name,
            n_queries=len(gains),
            before=means(scored.before),
            after=means(scored.after),
            interval={m: (lows[i], highs[i]) for i, m in enumerate(MEASURES)},
            lower_bound=scored.lower_bound(),
            won=won,
            lost=lost,
            gained_most=told(order[::-1][: min(_N_LISTED, won)]),
            lost_most=told(order[: min(_N_LISTED, lost)]),
            gains=gains[order].tolist(),
        )

    @property
    def gain(self) -> float:
        """The gain in nDCG@10."""
        return self.after[DECIDES] - self.before[DECIDES]

    def rows(self) -> list[tuple[str, str, str, str, str]]:
        """Return measure, before, after, gain and its interval, of 100."""
        rows = []
        for measure, name in MEASURES.items():
            before, after = 100 * self.before[measure], 100 * self.after[measure]
            low, high = (100 * end for end in self.interval[measure])
            interval = f"{low:+.1f} to {high:+.1f}"
            rows.append((name, f"{before:.1f}", f"{after:.1f}", f"{after - before:+.1f}", interval))
        return rows

    def queries(self) -> list[str]:
        """Return sentences on how many queries gained and lost, and which did most."""
        same = self.n_queries - self.won - self.lost
        told = [f"{self.won:,} queries won, {self.lost:,} lost, {same:,} the same"]
        for title, most in (("Gained most", self.gained_most), ("Lost most", self.lost_most)):
            if most:
                shown = ", ".join(f"{q} ({100 * (after - b):+.0f})" for q, b, after in most)
                told.append(f"{title}: {shown}")
        return told

    def __str__(self) -> str:
        lines = [f"{m:<12}{b:>8}{a:>8}{gain:>8}   {ends}" for m, b, a, gain, ends in self.rows()]
        return "\n".join(
            [
                f"{TITLES[self.name]} ({self.n_queries:,} queries)",
                f"{'':12}{'before':>8}{'after':>8}{'gain':>8}   95 % interval",
                *lines,
                *self.queries(),
            ]
        )


def _bootstrap(scored: Scored, rng: np.random.Generator) -> tuple[list[float], list[float]]:
    """Return the 95 % intervals of mean gains, by drawing groups of queries with replacement."""
    group = np.unique(scored.group, return_inverse=True)[1]
    n = int(group.max()) + 1
    gains = scored.after - scored.before
    sums = np.column_stack([np.bincount(group, column, minlength=n) for column in gains.T])
    sizes = np.bincount(group, minlength=n)
    draws = rng.multinomial(n, np.full(n, 1 / n), size=_N_DRAWS).astype(np.float64)
    means = (draws @ sums) / np.maximum(draws @ sizes, 1)[:, None]
    center = gains.mean(axis=0)
    lows, highs = center + scored.widening * (np.quantile(means, [0.025, 0.975], axis=0) - center)
    return lows.tolist(), highs.tolist()


@dataclass(frozen=True)
class RetrievalReport:
    """What a map is worth; ``print(report)`` shows it.

    Attributes
    ----------
    verdict : str
        One sentence: whether the map is taken, and why.
    helps : bool
        Whether the lower bound of the gain is above 0 where it decides.
    decides : {"queries", "documents", "given"}
        The comparison that decides.
    comparisons : dict of str to Comparison
        By name.
    remarks : tuple of str
        Sentences that a reader needs beside the verdict.
    """

    verdict: str
    helps: bool
    decides: str
    comparisons: dict[str, Comparison]
    remarks: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        scored: Iterable[Scored],
        ids: list[Any],
        rng: np.random.Generator,
        *,
        n_left_out: int,
    ) -> RetrievalReport:
        """Summarise scores, of which the first decide."""
        comparisons = {one.name: Comparison.of(one, ids, rng) for one in scored}
        deciding = next(iter(comparisons.values()))
        helps = deciding.lower_bound > 0
        name, before, after, gain, ends = deciding.rows()[[*MEASURES].index(DECIDES)]
        where = TITLES[deciding.name]
        verdict = (
            f"{'The map helps' if helps else 'No gain that can be told from nothing'}: "
            f"{name} {before} -> {after}, {gain} ({ends}), {where[0].lower()}{where[1:]}."
        )
        remarks = []
        if not helps and deciding.name != "given":
            remarks.append(
                "So nothing learned is kept: without n_components, queries stay as they are."
            )
        if deciding.before[DECIDES] >= _SATURATED:
            remarks.append(f"The base is near its ceiling: {name} is {before} of 100 already.")
        if n_left_out:
            remarks.append(f"Queries without a pair were left out: {n_left_out:,}.")
        return cls(verdict, helps, deciding.name, comparisons, tuple(remarks))

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, as JSON has them."""
        return asdict(self)

    def to_html(self) -> str:
        """Return a page with pictures, by matplotlib, that needs no network."""
        headings = ("measure", "before", "after", "gain", "95 % interval")
        sections = {
            TITLES[name]: picture(_drawn(one), f"Before and after, {name}")
            + table(headings, one.rows())
            + listed(one.queries())
            for name, one in self.comparisons.items()
        }
        return page(self.verdict, lead=self.remarks, sections=sections)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page of `to_html` into a file."""
        text = self.to_html()
        with atomic_write(path) as stream:
            stream.write(text.encode())

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        parts = ["\n".join([self.verdict, *self.remarks]), *map(str, self.comparisons.values())]
        return "\n\n".join(parts)


def _drawn(one: Comparison) -> Figure:
    """Draw each measure before and after, and the gain of every query."""
    from calipers.plot import CLASS_COLORS, figure_class

    figure = figure_class()(figsize=(9, 3), layout="constrained")
    left, right = figure.subplots(1, 2)
    places = range(len(MEASURES))
    before, after = (
        [100 * scores[measure] for measure in MEASURES] for scores in (one.before, one.after)
    )
    left.hlines(places, before, after, color=CLASS_COLORS[6], linewidth=3)
    left.plot(before, places, "o", color="grey", label="before")
    left.plot(after, places, "o", color=CLASS_COLORS[6], label="after")
    left.set(xlim=(-2, 102), yticks=places, yticklabels=[*MEASURES.values()])
    left.invert_yaxis()
    left.legend()
    gains = 100 * np.array(one.gains[::-1])
    right.fill_between(np.arange(len(gains)), gains, step="mid", color=CLASS_COLORS[6])
    right.set(ylim=(-100, 100), xlabel="queries", ylabel="gain in nDCG@10")
    return figure


def retrieval_report(
    query_map: Any,
    queries: npt.ArrayLike,
    documents: npt.ArrayLike,
    pairs: Any,
    *,
    query_ids: Any = None,
    document_ids: Any = None,
) -> RetrievalReport:
    """Compare a map with none on queries that it has not learned from.

    Parameters
    ----------
    query_map : QueryMap or QueryAdapter
        The map; :func:`calipers.load` reads one.
    queries, documents : array-like of shape (n, d)
        Embeddings, before the map.
    pairs : array-like or table of shape (n_pairs, 2)
        (query, relevant document).
    query_ids, document_ids : array-like, optional
        Ids, if pairs hold ids.

    Returns
    -------
    RetrievalReport
        With the one comparison "given".

    Examples
    --------
    >>> from calipers import QueryMap
    >>> swap = QueryMap([[0.0, 1.0], [1.0, 0.0]])
    >>> report = retrieval_report(swap, np.eye(2), np.eye(2), [[0, 1], [1, 0]])
    >>> report.comparisons["given"].after["mrr"]
    1.0
    """
    query_map = getattr(query_map, "map_", query_map)
    given, searched = Vectors(queries, "queries"), Vectors(documents, "documents")
    given.check_width(query_map.n_query_features)
    searched.check_width(query_map.n_document_features)
    relevance = read_relevance(pairs, (len(given), len(searched)), (query_ids, document_ids))
    vectors, each = given.take(relevance.queries), np.arange(len(relevance.queries))
    images = query_map.transform(vectors)
    after = ranks(images, relevance.pairs, searched, query_map.document_components)
    before = ranks(vectors, relevance.pairs, searched)
    without, mapped = (measures(relevance.pairs, rank) for rank in (before, after))
    scored = Scored("given", each, each, without, mapped)
    n_left_out, rng = len(given) - len(each), np.random.default_rng(0)
    return RetrievalReport.of([scored], relevance.names, rng, n_left_out=n_left_out)
