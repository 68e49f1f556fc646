"""What a map is worth on queries that it has not learned from, for each way to learn it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.stats import t as student

from calipers.arrays import FloatArray, IndexArray
from calipers.search.holdouts import HoldOut
from calipers.search.learning import Examples, SoftmaxLoss, gaussian, minimize
from calipers.search.ranking import MEASURES, QueryScores, ranks
from calipers.search.reduction import reduction
from calipers.search.vectors import Vectors, unit_images

DECIDES = "ndcg@10"
"""The measure that chooses and decides."""

MOST_LEARNED = 20_000
"""Pairs that a fold learns from; more are drawn from at random."""

_DECIDING = MEASURES.index(DECIDES)


class Maps(NamedTuple):
    """A map of queries and one of documents; None leaves documents as they are."""

    query: FloatArray
    document: FloatArray | None


@dataclass(frozen=True)
class Problem:
    """What is learned, and from what.

    Attributes
    ----------
    examples : Examples
        What is learned from.
    documents : Vectors
        All documents that are ranked.
    start : array of shape (1 or 2, d, d)
        Maps of queries, and of documents, that learning starts from.
    ids : list
        What the queries of the examples are called.
    n_left_out : int
        Queries without a pair, which are not among the examples.
    temperature : float or None
        Of the loss.
    n_components : int or None
        Dimensions of the images.
    """

    examples: Examples
    documents: Vectors
    start: FloatArray
    ids: list[Any]
    n_left_out: int
    temperature: float | None
    n_components: int | None

    def maps(self, learned: FloatArray) -> Maps:
        """Return the maps that serve, of those that were learned."""
        document = learned[1] if len(learned) == 2 else None
        if self.n_components is None:
            return Maps(learned[0], document)
        of_queries, of_documents = reduction(
            unit_images(self.examples.queries, learned[0]),
            unit_images(self.examples.documents, document),
            self.n_components,
        )
        return Maps(
            of_queries @ learned[0],
            of_documents if document is None else of_documents @ document,
        )

    def loss(self, chosen: npt.NDArray[np.bool_]) -> SoftmaxLoss:
        """Return the loss of some pairs."""
        return SoftmaxLoss(self.examples, chosen, self.temperature)

    def learn(self, loss: SoftmaxLoss, pulls: Sequence[float]) -> Iterator[FloatArray]:
        """Yield what is learned from the pairs of a loss with each pull."""
        return minimize(loss, pulls, gaussian(self.examples, loss.used, self.start))

    def base(self, queries: IndexArray) -> QueryScores:
        """Score some queries without learning."""
        values = scores_under([self.maps(self.start)], queries, self)[0]
        return QueryScores(queries, values)


@dataclass(frozen=True)
class Scored:
    """Scores of held-out queries under maps that did not learn from them.

    Attributes
    ----------
    hold_out : HoldOut
        How queries were held out.
    queries : array of shape (n,)
        The queries scored.
    before, after : arrays of shape (n, 4)
        `MEASURES` without and with a map.
    n_folds : int or None
        Folds, each scored under a map learned from the others; None if one map was given.
    """

    hold_out: HoldOut
    queries: IndexArray
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
        group = self.hold_out.group[self.queries]
        return float(lower_bounds(self.gains[None], group, self.widening)[0])


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


class CrossValidation(NamedTuple):
    """One hold-out, all pulls.

    Attributes
    ----------
    pull : float
        The one with the largest lower bound of the gain; of equals the strongest.
    scored : Scored
        Scores where the pull of each fold was chosen by the other folds.
    """

    pull: float
    scored: Scored


def cross_validate(
    problem: Problem,
    hold_out: HoldOut,
    pulls: Sequence[float],
    base: QueryScores,
    rng: np.random.Generator,
    advance: Callable[[], None],
) -> CrossValidation:
    """Learn without each fold in turn, from at most 20,000 pairs, and score the fold's queries.

    Parameters
    ----------
    problem : Problem
        What is learned.
    hold_out : HoldOut
        Folds.
    pulls : sequence of float
        Strengths to compare, the strongest first.
    base : QueryScores
        Scores without a map, of the queries to score.
    rng : Generator
        Draws the pairs to learn from.
    advance : callable
        Is called after each fold.
    """
    after = np.tile(base.values, (len(pulls), 1, 1))
    fold = hold_out.fold[base.queries]
    for held_out in np.unique(fold):
        here = fold == held_out
        training = _thinned(hold_out.training(held_out), rng)
        if training.any():
            maps = [
                problem.maps(learned) for learned in problem.learn(problem.loss(training), pulls)
            ]
            after[:, here] = scores_under(maps, base.queries[here], problem)
        advance()
    gains = (after - base.values)[:, :, _DECIDING]
    group = hold_out.group[base.queries]
    chosen = _chosen_by_other_folds(gains, fold, group)
    own = after[chosen, np.arange(len(fold))]
    return CrossValidation(
        pulls[int(lower_bounds(gains, group).argmax())],
        Scored(hold_out, base.queries, base.values, own, len(np.unique(fold))),
    )


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


def scores_under(maps: Sequence[Maps], queries: IndexArray, problem: Problem) -> FloatArray:
    """Return the measures (n_maps, n_queries, 4) of some queries under each of several maps."""
    examples, documents = problem.examples, problem.documents
    known = examples.pairs[np.isin(examples.pairs[:, 0], queries)]
    pairs = np.column_stack(
        [np.searchsorted(queries, known[:, 0]), examples.positions[known[:, 1]]]
    )
    vectors, n = examples.queries[queries], len(queries)
    if all(one.document is None for one in maps):  # one pass over the documents for all
        images = np.concatenate([unit_images(vectors, one.query) for one in maps])
        stacked = np.concatenate([np.add(pairs, [i * n, 0]) for i in range(len(maps))])
        rank = ranks(images, stacked, documents)
        return QueryScores.of(stacked, rank).values.reshape(len(maps), n, -1)
    found = [ranks(unit_images(vectors, one.query), pairs, documents, one.document) for one in maps]
    return np.stack([QueryScores.of(pairs, rank).values for rank in found])
