"""What a map is worth on queries that it has not learned from: folds, scores, cross-validation.

There are two hold-outs of a search log: new queries, and queries about documents without clicks.
Both hold out whole queries. By document, a fold trains without any pair of a document that
answers one of its held-out queries.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.stats import t as student

from calipers.arrays import FloatArray, IndexArray
from calipers.evaluation.folds import grouped
from calipers.search.learning import Maps, Problem
from calipers.search.ranking import MEASURES, measures, ranks, unit_images

HOLD_OUTS = ("queries", "documents")

DECIDES = "ndcg@10"
"""The measure that chooses and decides."""

MOST_LEARNED = 20_000
"""Pairs that a fold learns from; more are drawn from at random."""

_DECIDING = [*MEASURES].index(DECIDES)


@dataclass(frozen=True)
class HoldOut:
    """Folds of one hold-out.

    Attributes
    ----------
    name : {"queries", "documents"}
        What is new in a held-out part.
    pairs : array of shape (n_pairs, 2)
        All pairs (query, document).
    fold : array of shape (n_queries,)
        Fold in which each query is held out.
    group : array of shape (n_queries,)
        Queries of one group are not independent: they share documents.
    """

    name: str
    pairs: IndexArray
    fold: IndexArray
    group: IndexArray

    def training(self, fold: int) -> npt.NDArray[np.bool_]:
        """Return which pairs a fold learns from."""
        held_out = self.fold[self.pairs[:, 0]] == fold
        if self.name == "queries":
            return np.asarray(~held_out)
        return ~np.isin(self.pairs[:, 1], self.pairs[held_out, 1])


def hold_out(name: str, pairs: IndexArray, n_folds: int, rng: np.random.Generator) -> HoldOut:
    """Deal queries to folds.

    Parameters
    ----------
    name : {"queries", "documents"}
        By query at random, or by groups of queries that are connected through documents. A group
        larger than a fold is dealt query by query.
    pairs : array of shape (n_pairs, 2)
        Pairs of the queries 0 to n_queries - 1, each of which has one.
    n_folds : int
        Number of folds.
    rng : Generator
        Shuffles.

    Examples
    --------
    >>> pairs = np.array([[0, 0], [1, 0], [2, 1], [3, 2]])
    >>> hold_out("documents", pairs, 2, np.random.default_rng(0)).group
    array([0, 0, 1, 2])
    """
    n_queries = int(pairs[:, 0].max()) + 1
    if len(np.unique(pairs[:, 1])) == 1 or n_queries < n_folds:
        raise ValueError(
            f"pairs has {n_queries} queries and {len(np.unique(pairs[:, 1]))} documents, too few "
            f"for {n_folds} folds that are held out in turn: add pairs of others."
        )
    group: IndexArray = np.arange(n_queries)
    if name == "documents":
        group = _connected(pairs)
        large = np.bincount(group)[group] > n_queries / n_folds
        group = np.where(large, group.max() + 1 + np.arange(n_queries), group)
        group = np.unique(group, return_inverse=True)[1]
    return HoldOut(name, pairs, grouped(group, n_folds, rng), group)


def _connected(pairs: IndexArray) -> IndexArray:
    """Return the group of each query: queries with a document in common are in one group."""
    n = pairs.max(axis=0) + 1
    graph = coo_array(
        (np.ones(len(pairs)), (pairs[:, 0], n[0] + pairs[:, 1])), shape=(n.sum(),) * 2
    )
    return np.asarray(connected_components(graph, directed=False)[1][: n[0]], dtype=np.intp)


@dataclass(frozen=True)
class Scored:
    """Scores of held-out queries under maps that did not learn from them.

    Attributes
    ----------
    name : {"queries", "documents", "given"}
        How queries were held out.
    queries, group : arrays of shape (n,)
        The queries scored, and their groups.
    before, after : arrays of shape (n, 4)
        `MEASURES` without and with a map.
    n_folds : int or None
        Folds, each scored under a map learned from the others; None if one map was given.
    """

    name: str
    queries: IndexArray
    group: IndexArray
    before: FloatArray
    after: FloatArray
    n_folds: int | None = None

    @property
    def gains(self) -> FloatArray:
        """The gain of each query in the measure that decides."""
        return np.asarray((self.after - self.before)[:, _DECIDING])

    @property
    def widening(self) -> float:
        """By how much standard errors grow because other pairs would have given other maps.

        The factor is that of Nadeau and Bengio (2003) for cross-validation.
        """
        if self.n_folds is None:
            return 1.0
        return float(np.sqrt(1 + self.n_folds / max(1, self.n_folds - 1)))

    def lower_bound(self) -> float:
        """Return the one-sided 95 % lower bound of the mean gain."""
        return float(lower_bounds(self.gains[None], self.group, self.widening)[0])


def lower_bounds(gains: FloatArray, group: IndexArray, widening: float = 1.0) -> FloatArray:
    """Return the one-sided 95 % lower bounds of mean gains.

    Parameters
    ----------
    gains : array of shape (n_maps, n_queries)
        The gain of each query under each of several maps.
    group : array of shape (n_queries,)
        Queries of one group count together, for they are not independent.
    widening : float, default=1.0
        Factor of the standard errors.

    Examples
    --------
    >>> lower_bounds(np.array([[0.1, 0.2, 0.3]]), np.arange(3)).round(3)
    array([0.031])
    """
    place = np.unique(group, return_inverse=True)[1]
    n = int(place.max()) + 1
    means = gains.mean(axis=1, keepdims=True)
    if n == 1:
        return np.full(len(gains), -np.inf)
    sums = np.zeros((len(gains), n))
    np.add.at(sums.T, place, (gains - means).T)
    errors = np.sqrt((sums**2).sum(axis=1) * n / (n - 1)) / len(place)
    return np.asarray(means[:, 0] - student.ppf(0.95, n - 1) * widening * errors)


def cross_validate(
    problem: Problem,
    folds: HoldOut,
    *,
    pulls: Sequence[float],
    base: tuple[IndexArray, FloatArray],
    rng: np.random.Generator,
    advance: Callable[[], object],
) -> tuple[float, Scored]:
    """Learn without each fold in turn, from at most 20,000 pairs, and score the fold's queries.

    Parameters
    ----------
    problem : Problem
        What is learned.
    folds : HoldOut
        What is held out.
    pulls : sequence of float
        Strengths to compare, the strongest first.
    base : tuple of arrays of shape (n,) and (n, 4)
        The queries to score, ascending, and their scores without a map.
    rng : Generator
        Draws the pairs to learn from.
    advance : callable
        Is called after each fold.

    Returns
    -------
    pull : float
        The one with the largest lower bound of the gain; of equals the strongest.
    scored : Scored
        Scores where the pull of each fold was chosen by the other folds.
    """
    queries, before = base
    after = np.tile(before, (len(pulls), 1, 1))
    fold, group = folds.fold[queries], folds.group[queries]
    for held_out in np.unique(fold):
        here = fold == held_out
        training = _thinned(folds.training(held_out), rng)
        if training.any():
            maps = [*problem.learn(problem.loss(training), pulls)]
            after[:, here] = scores(maps, queries[here], problem)
        advance()
    gains = (after - before)[:, :, _DECIDING]
    chosen = _chosen_by_other_folds(gains, fold, group)
    own = after[chosen, np.arange(len(fold))]
    best = pulls[int(lower_bounds(gains, group).argmax())]
    return best, Scored(folds.name, queries, group, before, own, len(np.unique(fold)))


def _thinned(chosen: npt.NDArray[np.bool_], rng: np.random.Generator) -> npt.NDArray[np.bool_]:
    """Return at most `MOST_LEARNED` of the pairs that are chosen."""
    if np.count_nonzero(chosen) <= MOST_LEARNED:
        return chosen
    kept = np.zeros_like(chosen)
    kept[rng.choice(np.flatnonzero(chosen), MOST_LEARNED, replace=False)] = True
    return kept


def _chosen_by_other_folds(gains: FloatArray, fold: IndexArray, group: IndexArray) -> IndexArray:
    """Return for each query the pull with the largest lower bound over the other folds."""
    chosen = np.zeros(len(fold), dtype=np.intp)
    for one in np.unique(fold):
        others = fold != one
        if others.any():
            chosen[~others] = lower_bounds(gains[:, others], group[others]).argmax()
    return chosen


def scores(maps: Sequence[Maps], queries: IndexArray, problem: Problem) -> FloatArray:
    """Return the measures (n_maps, n_queries, 4) of some queries under each of several maps."""
    examples, documents, n = problem.examples, problem.documents, len(queries)
    known = examples.pairs[np.isin(examples.pairs[:, 0], queries)]
    pairs = np.column_stack(
        [np.searchsorted(queries, known[:, 0]), examples.positions[known[:, 1]]]
    )
    images = [unit_images(examples.queries[queries], one.query) for one in maps]
    if maps[0].document is None:  # one pass over the documents for all
        stacked = np.concatenate([np.add(pairs, [i * n, 0]) for i in range(len(maps))])
        rank = ranks(np.concatenate(images), stacked, documents)
        return measures(stacked, rank).reshape(len(maps), n, -1)
    each = zip(images, maps, strict=True)
    found = [ranks(image, pairs, documents, one.document) for image, one in each]
    return np.stack([measures(pairs, rank) for rank in found])
