"""A matrix for the query side of a search, learned from clicks."""

from __future__ import annotations

import os
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.callback import CallbackSupportMixin
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from calipers.estimators.base import fitting
from calipers.search.holdouts import (
    DECIDES,
    HOLD_OUTS,
    Scored,
    cross_validate,
    hold_out,
    scores,
)
from calipers.search.learning import PULLS, Examples, Problem
from calipers.search.query_map import QueryMap
from calipers.search.ranking import Vectors
from calipers.search.relevance import read_relevance
from calipers.search.report import RetrievalReport, retrieval_report
from calipers.solvers.training import watching

SIDES = ("query", "both")
MOST_SCORED = 2000
"""Held-out queries that are scored; more are drawn from at random."""


class QueryAdapter(CallbackSupportMixin, BaseEstimator):  # type: ignore[misc]
    """Learn a map of queries from the documents that answered them; the index stays as it is.

    A Gaussian model of queries and their documents gives a map in closed form. A softmax over
    documents improves it, as far as held-out queries gain (``calipers.search.learning``). The
    adapter keeps the map only if the one-sided 95 % lower bound of its gain in nDCG@10 on held-out
    queries is above 0; otherwise the map is the identity and `helps_` is False. Queries without a
    pair are left out.

    Parameters
    ----------
    side : {"query", "both"}, default="query"
        Whether documents are mapped too, which needs a new index.
    n_components : int, optional
        Map both sides to this many dimensions, ordered so that the first k are the best k.
    generalize_to : {"documents", "queries"}, default="documents"
        Which hold-out chooses and decides: queries about documents without clicks, or new queries
        about known documents. Both are reported.
    pull : float, optional
        Strength of the pull toward the map of the Gaussian model, which itself is pulled toward the
        identity; by default the one of five with the largest lower bound of the gain.
    temperature : float, optional
        Temperature of the softmax; by default a third of the one under which the cosines of the
        embeddings predict the pairs best.
    n_folds : int, default=5
        Folds of each hold-out.
    random_state : int, RandomState or None, default=None
        Seeds the folds and all draws.

    Attributes
    ----------
    map_ : QueryMap
        What `transform` applies.
    helps_ : bool
        Whether the map is more than the identity.
    report_ : RetrievalReport
        Both hold-outs before and after.
    pull_, temperature_ : float
        The values that were used.
    n_pairs_seen_ : int
        Pairs learned from.
    n_features_in_ : int
        Width of the embeddings.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> documents = rng.normal(size=(300, 8))
    >>> queries = documents @ np.linalg.qr(rng.normal(size=(8, 8)))[0]
    >>> pairs = np.column_stack([np.arange(300), np.arange(300)])
    >>> adapter = QueryAdapter(random_state=0).fit(queries, documents, pairs)
    >>> adapter.helps_
    True
    >>> adapter.transform(queries[:2]).shape
    (2, 8)
    """

    map_: QueryMap
    report_: RetrievalReport
    helps_: bool

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "side": [StrOptions(set(SIDES))],
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "generalize_to": [StrOptions(set(HOLD_OUTS))],
        "pull": [Interval(Real, 0, None, closed="neither"), None],
        "temperature": [Interval(Real, 0, None, closed="neither"), None],
        "n_folds": [Interval(Integral, 2, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        side: str = "query",
        n_components: int | None = None,
        generalize_to: str = "documents",
        pull: float | None = None,
        temperature: float | None = None,
        n_folds: int = 5,
        random_state: Any = None,
    ) -> None:
        self.side = side
        self.n_components = n_components
        self.generalize_to = generalize_to
        self.pull = pull
        self.temperature = temperature
        self.n_folds = n_folds
        self.random_state = random_state

    @fitting
    def fit(
        self,
        queries: npt.ArrayLike,
        documents: npt.ArrayLike,
        pairs: Any,
        sample_weight: npt.ArrayLike | None = None,
        *,
        query_ids: Any = None,
        document_ids: Any = None,
    ) -> Self:
        """Learn from pairs of query and relevant document.

        Parameters
        ----------
        queries : array-like of shape (n_queries, d)
            Embeddings: arrays or memory maps of any type of number.
        documents : array-like of shape (n_documents, d)
            The same for documents.
        pairs : array-like or table of shape (n_pairs, 2)
            (query, document), counted from 0, or ids. Tables of pandas, polars or Arrow have the
            columns ``query`` and ``document``.
        sample_weight : array-like of shape (n_pairs,), optional
            Grades or numbers of clicks.
        query_ids, document_ids : array-like, optional
            Id of each query and of each document, if pairs hold ids.

        Returns
        -------
        self : QueryAdapter
            The fitted adapter.
        """
        given, searched = Vectors(queries, "queries"), Vectors(documents, "documents")
        given.check_width(searched.shape[1])
        if self.n_components is not None and self.n_components > searched.shape[1]:
            raise ValueError(
                f"n_components must be at most the number of features, {searched.shape[1]}, got "
                f"{self.n_components}."
            )
        shape, ids = (len(given), len(searched)), (query_ids, document_ids)
        relevance = read_relevance(pairs, shape, ids, sample_weight)
        examples = Examples.mined(given, searched, relevance, self._rng())
        n_sides = 1 + (self.side == "both")
        problem = Problem(examples, searched, n_sides, self.temperature, self.n_components)
        with watching(self, queries, None, 2 * self.n_folds + 1, dict) as told:
            rng = self._rng()
            scored, pull = self._cross_validate(problem, rng, told.tick)
            n_left_out = len(given) - len(relevance.queries)
            report = RetrievalReport.of(scored, relevance.names, rng, n_left_out=n_left_out)
            loss = problem.loss(np.ones(len(examples.pairs), dtype=np.bool_))
            learned = next(problem.learn(loss, [pull])) if report.helps else problem.identity
            told.tick()
        facts = {"helps": report.helps, "verdict": report.verdict, "pull": pull}
        facts["n_pairs"] = len(examples.pairs)
        self.map_ = QueryMap(learned.query, learned.document, facts=facts)
        self.helps_, self.report_, self.pull_ = report.helps, report, pull
        self.temperature_, self.n_pairs_seen_ = loss.temperature, len(examples.pairs)
        self.n_features_in_ = searched.shape[1]
        return self

    def _cross_validate(
        self, problem: Problem, rng: np.random.Generator, advance: Callable[[], object]
    ) -> tuple[list[Scored], float]:
        """Compare pulls on the hold-out that decides, then score the best on the other."""
        queries = np.sort(rng.permutation(len(problem.examples.queries))[:MOST_SCORED])
        base = queries, scores([problem.identity], queries, problem)[0]
        pulls = PULLS if self.pull is None else (self.pull,)
        scored = []
        for name in sorted(HOLD_OUTS, key=lambda name: name != self.generalize_to):
            folds = hold_out(name, problem.examples.pairs, self.n_folds, rng)
            best, found = cross_validate(
                problem, folds, pulls=pulls, base=base, rng=rng, advance=advance
            )
            scored.append(found)
            pulls = (best,)
        return scored, pulls[0]

    def transform(self, queries: npt.ArrayLike) -> npt.NDArray[Any]:
        """Map queries into the documents' space.

        Parameters
        ----------
        queries : array-like of shape (n_queries, d) or (d,)
            Embeddings.

        Returns
        -------
        ndarray of shape (n_queries, n_components) or (n_components,)
            Unit vectors; float32 stays float32.
        """
        check_is_fitted(self)
        return self.map_.transform(queries)

    def transform_documents(self, documents: npt.ArrayLike) -> npt.NDArray[Any]:
        """Map documents for the index; without a map of their own they only get length 1."""
        check_is_fitted(self)
        return self.map_.transform_documents(documents)

    def score(
        self,
        queries: npt.ArrayLike,
        documents: npt.ArrayLike,
        pairs: Any,
        *,
        query_ids: Any = None,
        document_ids: Any = None,
    ) -> float:
        """Return the mean nDCG@10 of queries with a pair, after the map."""
        check_is_fitted(self)
        report = retrieval_report(
            self.map_, queries, documents, pairs, query_ids=query_ids, document_ids=document_ids
        )
        return report.comparisons["given"].after[DECIDES]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the map into one safetensors file, which ``calipers.load`` reads."""
        check_is_fitted(self)
        self.map_.save(path)

    def __repr__(self, **how: Any) -> str:
        text: str = super().__repr__(**how)
        return text if "report_" not in vars(self) else f"{text}  # {self.report_.verdict}"

    def _rng(self) -> np.random.Generator:
        state = check_random_state(self.random_state)
        return np.random.default_rng(state.randint(2**31))
