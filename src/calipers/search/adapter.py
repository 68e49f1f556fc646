"""A matrix for the query side of a search, learned from clicks."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from html import escape
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.callback import CallbackSupportMixin
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from calipers.estimators.fitting import fitting
from calipers.estimators.inputs import restored_on_failure
from calipers.estimators.validation import check_components
from calipers.search.crossvalidation import DECIDES, MOST_LEARNED, Problem, cross_validate
from calipers.search.holdouts import HOLD_OUTS, check_can_be_held_out, hold_out
from calipers.search.learning import PULLS, SoftmaxLoss, minimize
from calipers.search.mining import mined
from calipers.search.query_map import QueryMap
from calipers.search.relevance import read_negatives, read_relevance
from calipers.search.report import (
    Comparison,
    RetrievalReport,
    remarks_on_left_out,
    retrieval_report,
)
from calipers.search.vectors import check_width, given_vectors, mapped_lazily, unit_images
from calipers.solvers.training import CallbackObserver

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
        Pairs learned from so far.
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
        negatives: Any = None,
    ) -> Self:
        """Learn from pairs of query and relevant document.

        Parameters
        ----------
        queries : array-like of shape (n_queries, d)
            Embeddings; arrays, memory maps or Dask collections, of any float type.
        documents : array-like of shape (n_documents, d)
            The same for documents.
        pairs : array-like or table of shape (n_pairs, 2)
            (query, document), counted from 0, or ids. Tables are of pandas, polars or Arrow.
        sample_weight : array-like of shape (n_pairs,), optional
            Grades or numbers of clicks.
        query_ids, document_ids : array-like, optional
            Id of each query and of each document, if pairs hold ids.
        negatives : array-like or table of shape (n, 2), optional
            (query, document) that do not belong together, beside the hard ones that are found.

        Returns
        -------
        self : QueryAdapter
            The fitted adapter.
        """
        with (
            restored_on_failure(self),
            self._problem(
                queries,
                documents,
                pairs,
                sample_weight,
                query_ids=query_ids,
                document_ids=document_ids,
                negatives=negatives,
            ) as problem,
        ):
            check_can_be_held_out(problem.examples.pairs, self.n_folds)
            check_components(type(self).__name__, self.n_components, problem.documents.shape[1])
            n_steps = 2 * self.n_folds + 1
            with CallbackObserver(self, queries, None, n_steps, dict) as told:
                self._fit(problem, told.tick)
        return self

    def _fit(self, problem: Problem, advance: Callable[[], None]) -> None:
        report, pull = self._validated(problem, advance)
        loss = problem.loss(np.ones(len(problem.examples.pairs), dtype=np.bool_))
        learned = next(problem.learn(loss, [pull])) if report.helps else problem.start
        self.report_, self.helps_ = report, report.helps
        self.pull_, self.temperature_ = pull, loss.temperature
        self.n_pairs_seen_ = len(problem.examples.pairs)
        self.n_features_in_ = problem.documents.shape[1]
        maps = problem.maps(learned)
        self.map_ = QueryMap(maps.query, maps.document, facts=self._facts())
        advance()

    def _validated(
        self, problem: Problem, advance: Callable[[], None]
    ) -> tuple[RetrievalReport, float]:
        """Compare pulls on the hold-out that decides, then score the best on the other."""
        rng, pairs = self._rng(), problem.examples.pairs
        n_queries = len(problem.examples.queries)
        drawn = rng.permutation(n_queries)[:MOST_SCORED]
        base = problem.base(np.sort(drawn))
        pulls = PULLS if self.pull is None else (self.pull,)
        scored = []
        for name in sorted(HOLD_OUTS, key=lambda name: name != self.generalize_to):
            part = hold_out(name, pairs, self.n_folds, rng)
            found = cross_validate(problem, part, pulls, base, rng, advance)
            scored.append(found.scored)
            if name == self.generalize_to:
                pulls = (found.pull,)
        comparisons = [Comparison.of(one, problem.ids, rng) for one in scored]
        remarks = remarks_on_left_out(problem.n_left_out)
        if len(pairs) > MOST_LEARNED:
            remarks.append(
                f"Each fold learned from at most {MOST_LEARNED:,} of the {len(pairs):,} pairs, the "
                "map from all of them."
            )
        report = RetrievalReport.of(comparisons, self.generalize_to, remarks, self._otherwise())
        return report, pulls[0]

    def _otherwise(self) -> str:
        """What the map is where there is no gain."""
        if self.n_components is None:
            return "So the map is the identity: queries stay as they are, but for unit length."
        return (
            "So nothing learned is in the map: it only reduces both sides to "
            f"{self.n_components} dimensions."
        )

    def partial_fit(
        self,
        queries: npt.ArrayLike,
        documents: npt.ArrayLike,
        pairs: Any,
        sample_weight: npt.ArrayLike | None = None,
        *,
        query_ids: Any = None,
        document_ids: Any = None,
        negatives: Any = None,
    ) -> Self:
        """Go on from the last map with more pairs, a day's clicks for example.

        The new map of queries is pulled toward the last one, by the strength of the last fit times
        the number of pairs seen before over the number of new ones. Documents keep their map,
        `report_` is marked as stale. A map that did not help stays the identity: fit again with
        all pairs. Without a fit before, this is `fit`.

        Parameters are those of `fit`; `queries` and `documents` need only hold what the new pairs
        point to, and some documents to compare with.
        """
        given = (queries, documents, pairs, sample_weight)
        ids = {"query_ids": query_ids, "document_ids": document_ids, "negatives": negatives}
        if not hasattr(self, "map_"):
            return self.fit(*given, **ids)
        with restored_on_failure(self), self._problem(*given, **ids) as problem:
            examples = problem.examples
            check_width(problem.documents, "documents", self.map_.n_document_features)
            if self.helps_:
                components = self.map_.document_components
                mapped = unit_images(examples.documents, components)
                n_new = len(examples.pairs)
                loss = SoftmaxLoss(replace(examples, documents=mapped), None, self.temperature_)
                pull = self.pull_ * self.n_pairs_seen_ / n_new
                (learned,) = minimize(loss, [pull], self.map_.query_components[None])
                self.map_ = QueryMap(learned[0], components, facts=self._facts())
            self.n_pairs_seen_ += len(examples.pairs)
            self.report_ = self.report_.as_stale()
        return self

    @contextmanager
    def _problem(
        self,
        queries: Any,
        documents: Any,
        pairs: Any,
        sample_weight: Any,
        *,
        query_ids: Any,
        document_ids: Any,
        negatives: Any,
    ) -> Iterator[Problem]:
        """Yield what to learn."""
        with (
            given_vectors(queries, "queries") as of_queries,
            given_vectors(documents, "documents") as of_documents,
        ):
            check_width(of_queries, "queries", of_documents.shape[1])
            shape, ids = (len(of_queries), len(of_documents)), (query_ids, document_ids)
            relevance = read_relevance(pairs, shape, ids, sample_weight)
            wrong = read_negatives(negatives, shape, ids, relevance)
            examples = mined(of_queries, of_documents, relevance, wrong, self._rng())
            sides = 2 if self.side == "both" else 1
            start = np.tile(np.eye(of_documents.shape[1]), (sides, 1, 1))
            own = relevance.queries
            yield Problem(
                examples,
                of_documents,
                start,
                ids=own.tolist() if query_ids is None else np.asarray(query_ids)[own].tolist(),
                n_left_out=len(of_queries) - len(own),
                temperature=self.temperature,
                n_components=self.n_components,
            )

    def transform(self, queries: Any) -> Any:
        """Map queries into the documents' space.

        Parameters
        ----------
        queries : array-like of shape (n_queries, d) or (d,)
            Embeddings; a Dask array is mapped lazily.

        Returns
        -------
        ndarray or dask array of shape (n_queries, n_components)
            Unit vectors; float32 stays float32.
        """
        check_is_fitted(self)
        return mapped_lazily(queries, self.map_.transform, self.map_.n_components)

    def transform_documents(self, documents: Any) -> Any:
        """Map documents for the index; they stay as they are without a map of their own."""
        check_is_fitted(self)
        return mapped_lazily(documents, self.map_.transform_documents, self.map_.n_components)

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
        """Write the map into one safetensors file, which ``calipers.load`` reads.

        ``calipers.search.handover`` takes it to other programs, models and stores.
        """
        check_is_fitted(self)
        self.map_.save(path)

    def __repr__(self, **how: Any) -> str:
        text: str = super().__repr__(**how)
        return text if "report_" not in vars(self) else f"{text}  # {self.report_.verdict}"

    def _html_repr(self) -> str:
        """Return scikit-learn's diagram, once fitted under the verdict."""
        diagram = str(super()._html_repr())
        return f"<p>{escape(repr(self))}</p>{diagram}" if "report_" in vars(self) else diagram

    def _facts(self) -> dict[str, Any]:
        """What the file keeps."""
        return {
            "helps": self.helps_,
            "verdict": self.report_.verdict,
            "pull": self.pull_,
            "n_pairs": self.n_pairs_seen_,
        }

    def _rng(self) -> np.random.Generator:
        state = check_random_state(self.random_state)
        return np.random.default_rng(state.randint(2**31))
