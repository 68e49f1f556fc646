"""What a map is worth: before and after, on new queries and on new documents, verdict first."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from calipers.arrays import FloatArray
from calipers.search.crossvalidation import Scored
from calipers.search.holdouts import HoldOut
from calipers.search.ranking import MEASURES, QueryScores, ranks
from calipers.search.relevance import read_relevance
from calipers.search.vectors import check_width, given_vectors

MEASURE_NAMES = {
    "ndcg@10": "nDCG@10",
    "recall@10": "recall@10",
    "recall@100": "recall@100",
    "mrr": "MRR",
}
TITLES = {
    "queries": "New queries about known documents",
    "documents": "Queries about documents without clicks",
    "given": "The queries given",
}

_N_DRAWS = 2000  # of the bootstrap
_N_LISTED = 10  # queries that gained and lost most
_STALE = "Out of date: the map has learned more since; fit again for new numbers."
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

        def listed(places: Any) -> list[tuple[Any, float, float]]:
            return [
                (ids[scored.queries[i]], float(scored.before[i, 0]), float(scored.after[i, 0]))
                for i in places
            ]

        def means(values: FloatArray) -> dict[str, float]:
            return dict(zip(MEASURES, values.mean(axis=0).tolist(), strict=True))

        return cls(
            name=scored.hold_out.name,
            n_queries=len(gains),
            before=means(scored.before),
            after=means(scored.after),
            interval={m: (lows[i], highs[i]) for i, m in enumerate(MEASURES)},
            lower_bound=scored.lower_bound(),
            won=int(np.sum(gains > 0)),
            lost=int(np.sum(gains < 0)),
            gained_most=listed([i for i in order[::-1][:_N_LISTED] if gains[i] > 0]),
            lost_most=listed([i for i in order[:_N_LISTED] if gains[i] < 0]),
            gains=gains[order].tolist(),
        )

    @property
    def gain(self) -> float:
        """The gain in nDCG@10."""
        return self.after["ndcg@10"] - self.before["ndcg@10"]

    @property
    def saturation(self) -> str | None:
        """A sentence if the base is near its ceiling, else None."""
        base = self.before["ndcg@10"]
        if base < _SATURATED:
            return None
        return (
            f"The base is near its ceiling: nDCG@10 is {100 * base:.1f} of 100, so that no map "
            f"can gain more than {100 * (1 - base):.1f} points here."
        )


def _bootstrap(scored: Scored, rng: np.random.Generator) -> tuple[list[float], list[float]]:
    """Return the 95 % intervals of mean gains, by drawing groups of queries with replacement."""
    group = np.unique(scored.hold_out.group[scored.queries], return_inverse=True)[1]
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
    stale : bool
        Whether the map has learned more since.
    """

    verdict: str
    helps: bool
    decides: str
    comparisons: dict[str, Comparison]
    remarks: tuple[str, ...] = ()
    stale: bool = False

    @classmethod
    def of(
        cls,
        comparisons: list[Comparison],
        decides: str,
        remarks: Iterable[str] = (),
        otherwise: str | None = None,
    ) -> RetrievalReport:
        """Take the decision and put it into words; `otherwise` is a remark on no gain."""
        by_name = {one.name: one for one in comparisons}
        deciding = by_name[decides]
        helps = deciding.lower_bound > 0
        where = TITLES[decides][0].lower() + TITLES[decides][1:]
        low, high = deciding.interval["ndcg@10"]
        measured = (
            f"nDCG@10 {100 * deciding.before['ndcg@10']:.1f} -> "
            f"{100 * deciding.after['ndcg@10']:.1f}, {100 * deciding.gain:+.1f} "
            f"({100 * low:+.1f} to {100 * high:+.1f}), {where}"
        )
        verdict = (
            f"The map helps: {measured}."
            if helps
            else f"No gain that can be told from nothing: {measured}."
        )
        first = [otherwise] if otherwise and not helps else []
        return cls(verdict, helps, decides, by_name, (*first, *remarks))

    def as_stale(self) -> RetrievalReport:
        """Return the report of a map that has learned more since."""
        remarks = [one for one in self.remarks if one != _STALE]
        return replace(self, stale=True, remarks=(_STALE, *remarks))

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, as JSON has them."""
        return {
            "verdict": self.verdict,
            "helps": self.helps,
            "decides": self.decides,
            "remarks": list(self.remarks),
            "stale": self.stale,
            "comparisons": {name: vars(one).copy() for name, one in self.comparisons.items()},
        }

    def to_html(self) -> str:
        """Return a page with pictures that needs no network."""
        from calipers.search.page import page

        return page(self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page of `to_html` into a file."""
        Path(path).write_text(self.to_html(), encoding="utf-8")

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        lines = [self.verdict, *self.remarks]
        for one in self.comparisons.values():
            lines += ["", *_lines(one)]
        return "\n".join(lines)


def remarks_on_left_out(n_queries: int) -> list[str]:
    """Return what to say about queries without a pair."""
    left_out = (
        f"Queries without a pair were left out: {n_queries:,}; add pairs if these should count."
    )
    return [left_out] if n_queries else []


def _lines(one: Comparison) -> list[str]:
    """Return a comparison as text."""
    rows = [
        f"{MEASURE_NAMES[m]:<12}{100 * one.before[m]:>8.1f}{100 * one.after[m]:>8.1f}"
        f"{100 * (one.after[m] - one.before[m]):>+8.1f}"
        f"   {100 * one.interval[m][0]:+.1f} to {100 * one.interval[m][1]:+.1f}"
        for m in MEASURES
    ]
    tied = one.n_queries - one.won - one.lost
    lines = [
        f"{TITLES[one.name]} ({one.n_queries:,} queries)",
        f"{'':12}{'before':>8}{'after':>8}{'gain':>8}   95 % interval",
        *rows,
        f"{one.won:,} queries won, {one.lost:,} lost, {tied:,} the same",
    ]
    for title, listed in (("Gained most", one.gained_most), ("Lost most", one.lost_most)):
        if listed:
            shown = ", ".join(f"{q} ({100 * (after - b):+.0f})" for q, b, after in listed)
            lines.append(f"{title}: {shown}")
    return lines + ([one.saturation] if one.saturation else [])


def retrieval_report(
    query_map: Any,
    queries: Any,
    documents: Any,
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
    >>> from calipers.search.query_map import QueryMap
    >>> swap = QueryMap([[0.0, 1.0], [1.0, 0.0]])
    >>> report = retrieval_report(swap, np.eye(2), np.eye(2), [[0, 1], [1, 0]])
    >>> report.comparisons["given"].after["mrr"]
    1.0
    """
    query_map = getattr(query_map, "map_", query_map)
    with given_vectors(queries, "queries") as given, given_vectors(documents, "documents") as all_:
        check_width(given, "queries", query_map.n_query_features)
        check_width(all_, "documents", query_map.n_document_features)
        relevance = read_relevance(pairs, (len(given), len(all_)), (query_ids, document_ids))
        own = relevance.queries
        local = np.column_stack(
            [np.searchsorted(own, relevance.pairs[:, 0]), relevance.pairs[:, 1]]
        )
        vectors = given.take(own)
        after = ranks(query_map.transform(vectors), local, all_, query_map.document_components)
        before = ranks(vectors, local, all_)
    each = np.arange(len(own))
    without, mapped = (QueryScores.of(local, rank).values for rank in (before, after))
    scored = Scored(HoldOut("given", local, each, each), each, without, mapped)
    called = own.tolist() if query_ids is None else np.asarray(query_ids)[own].tolist()
    comparison = Comparison.of(scored, called, np.random.default_rng(0))
    return RetrievalReport.of([comparison], "given", remarks_on_left_out(len(given) - len(own)))
