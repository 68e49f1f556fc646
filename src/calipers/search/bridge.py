"""Bridge: queries of a new embedding model, answered by the index of an old one."""

from __future__ import annotations

import os
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from calipers.arrays import FloatArray, IndexArray, refuse_kinds
from calipers.estimators.inputs import fresh_fit
from calipers.search.bridge_maps import Candidate, Moments, solve
from calipers.search.bridge_report import BridgeReport, CandidateScore, Share
from calipers.search.nearest import nearest_documents
from calipers.search.query_map import QueryMap
from calipers.threads import single_threaded_blas

ALPHAS = (1.0, 1e-1, 1e-2, 1e-3, 1e-4)
"""Strengths of ridge regression that are tried, in units of the mean eigenvalue."""

RANK_SHARES = (1 / 8, 1 / 4, 1 / 2)
"""Ranks that are tried, as shares of the smaller number of features."""

CUTS = (1, 10, 100)
"""Numbers of documents at which recall is reported; 10 decides."""

_MOST_HELD_OUT = 1000  # texts; the standard error of a recall is then 1 point at most
_MOST_SEARCHED = 20_000  # documents, to choose among candidates
_FEWEST_TEXTS = 50


class HeldOut(NamedTuple):
    """Texts that no candidate learns from, and what the old model finds for them."""

    new: npt.NDArray[Any]  # their vectors under the new model
    itself: IndexArray  # their indices among the documents, which they do not find
    documents: npt.NDArray[Any]
    truth: IndexArray  # of shape (n_texts, n_found)

    @classmethod
    def of(
        cls, new: npt.NDArray[Any], old: npt.NDArray[Any], itself: IndexArray, n_found: int
    ) -> HeldOut:
        """Search with the old vectors of the texts ``new`` and ``itself`` stand for."""
        queries = np.asarray(old[itself], np.float32)
        return cls(new, itself, old, nearest_documents(queries, old, n_found, without=itself))

    def recalls(self, map_: QueryMap, cut: int) -> FloatArray:
        """Return for each text the share of the truth's first documents among the map's first."""
        images = map_.transform(np.asarray(self.new, np.float32))
        found = nearest_documents(images, self.documents, cut, without=self.itself)
        hits = (found[:, :, None] == self.truth[:, None, :cut]).any(axis=2)
        return np.asarray(hits.mean(axis=1))


class Bridge(BaseEstimator):  # type: ignore[misc]
    """Map queries of a new embedding model into the index of an old one.

    The map is learned from vectors of the same texts under both models, some hundred or some
    thousand of them; the numbers of features may differ. With it you need not embed the documents
    again. Recall is the share of the 10 documents that the old model finds for a text and the
    mapped vector also finds. Method, strength and rank are those with the highest recall on
    held-out texts; `report_` has the recall on other held-out texts.

    Parameters
    ----------
    method : {"auto", "identity", "procrustes", "ridge", "low-rank"}, default="auto"
        How the map is made, see :func:`calipers.search.bridge_maps.solve`; "auto" chooses.
        "identity" is a candidate if both models have the same number of features.
    alpha : float or None, default=None
        Strength of "ridge" and "low-rank", in units of the mean eigenvalue of the new vectors'
        moments. None chooses it.
    rank : int or None, default=None
        Rank of "low-rank". None chooses it.
    random_state : int, RandomState instance or None, default=None
        Draws the texts that are held out.

    Attributes
    ----------
    map_ : QueryMap
        The map, learned from all texts.
    method_, alpha_, rank_ : str, float or None, int or None
        The values that were used. A fit with these gives the same map.
    report_ : BridgeReport
        The share of recall that is kept, and the recall of every candidate.
    n_features_in_ : int
        Number of features of the new model.

    Examples
    --------
    >>> import numpy as np
    >>> from calipers import Bridge
    >>> rng = np.random.default_rng(0)
    >>> old = rng.normal(size=(300, 8))
    >>> new = old @ np.linalg.qr(rng.normal(size=(8, 8)))[0]  # the same, rotated
    >>> bridge = Bridge(random_state=0).fit(new, old)
    >>> bridge.method_, bridge.report_.recall[10].mean
    ('procrustes', 1.0)
    >>> bridge.transform(new[:2]).shape
    (2, 8)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "method": [StrOptions({"auto", "identity", "procrustes", "ridge", "low-rank"})],
        "alpha": [Interval(Real, 0, None, closed="neither"), None],
        "rank": [Interval(Integral, 1, None, closed="left"), None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        method: str = "auto",
        *,
        alpha: float | None = None,
        rank: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.method = method
        self.alpha = alpha
        self.rank = rank
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, new: npt.ArrayLike, old: npt.ArrayLike) -> Self:
        """Choose and learn the map.

        A fifth of the texts, at most 1,000, is held out to choose; as many others are held out for
        the report. The map is then learned from all of them.

        Parameters
        ----------
        new : array-like of shape (n_texts, n_new_features)
            Vectors of texts under the new model; float16 and memory maps stay as they are.
        old : array-like of shape (n_texts, n_old_features)
            Vectors of the same texts under the old model.

        Returns
        -------
        Self
            The fitted estimator.
        """
        X, Y = _checked(new, old)
        with fresh_fit(self), single_threaded_blas():
            order = check_random_state(self.random_state).permutation(len(X))
            n_held_out = min(len(X) // 5, _MOST_HELD_OUT)
            last, first = np.sort(order[:n_held_out]), np.sort(order[n_held_out : 2 * n_held_out])
            everything = Moments.of(X, Y)
            known = everything.without(Moments.of(X[last], Y[last]))
            chosen, table = self._choose(X, Y, order, first, known)
            report = _report(
                chosen, table, known, HeldOut.of(X[last], Y, last, min(CUTS[-1], len(Y) - 1))
            )
            self.method_, self.alpha_, self.rank_ = chosen
            self.report_ = report
            self.n_features_in_ = X.shape[1]
            self.map_ = QueryMap(
                solve(chosen, everything), kind="bridge", facts={"report": report.to_dict()}
            )
        return self

    def _choose(
        self,
        X: npt.NDArray[Any],
        Y: npt.NDArray[Any],
        order: IndexArray,
        validated: IndexArray,
        known: Moments,
    ) -> tuple[Candidate, list[CandidateScore]]:
        """Return the candidate of highest recall on the ``validated`` texts, and all recalls."""
        learned = known.without(Moments.of(X[validated], Y[validated]))
        searched = np.union1d(validated, order[:_MOST_SEARCHED])
        held_out = HeldOut.of(X[validated], Y[searched], np.searchsorted(searched, validated), 10)
        scores: dict[Candidate, float] = {}

        def best_of(candidates: list[Candidate]) -> Candidate:
            for candidate in candidates:
                map_ = QueryMap(solve(candidate, learned))
                scores[candidate] = float(held_out.recalls(map_, 10).mean())
            return max(scores, key=lambda candidate: scores[candidate])

        best = best_of(self._candidates(X.shape[1], Y.shape[1]))
        if self.method in ("auto", "low-rank"):
            alpha = max((c for c in scores if c.alpha), key=lambda c: scores[c]).alpha
            smaller = min(X.shape[1], Y.shape[1])
            ranks = {max(1, round(share * smaller)) for share in RANK_SHARES}
            tried = sorted(ranks) if self.rank is None else [self.rank]
            if self.method == "low-rank":
                scores.clear()
            best = best_of([Candidate("low-rank", alpha, rank) for rank in tried])
        return best, [CandidateScore(*candidate, recall) for candidate, recall in scores.items()]

    def _candidates(self, n_new: int, n_old: int) -> list[Candidate]:
        """Return the candidates of full rank, the simplest first."""
        if self.rank is not None and self.rank > min(n_new, n_old):
            raise ValueError(
                f"rank must be at most the smaller number of features, {min(n_new, n_old)}, got "
                f"{self.rank}."
            )
        if self.method == "identity" and n_new != n_old:
            raise ValueError(
                f"method 'identity' needs as many new features as old ones, got {n_new} and "
                f"{n_old}: use another method."
            )
        alphas = ALPHAS if self.alpha is None else (float(self.alpha),)
        kinds = {
            "identity": [Candidate("identity")] if n_new == n_old else [],
            "procrustes": [Candidate("procrustes")],
            "ridge": [Candidate("ridge", alpha) for alpha in alphas],
        }
        if self.method == "auto":
            return [candidate for kind in kinds.values() for candidate in kind]
        return kinds["ridge" if self.method == "low-rank" else self.method]

    def transform(self, queries: npt.ArrayLike) -> npt.NDArray[Any]:
        """Map queries of the new model to unit vectors of the old one's space.

        Parameters
        ----------
        queries : array-like of shape (n_queries, n_new_features) or (n_new_features,)
            Vectors of queries under the new model, or of one query.

        Returns
        -------
        ndarray of shape (n_queries, n_old_features) or (n_old_features,)
            Unit vectors; float32 stays float32.
        """
        check_is_fitted(self)
        return self.map_.transform(queries)

    def score(self, new: npt.ArrayLike, old: npt.ArrayLike) -> float:
        """Return the share of recall at 10 that is kept on other texts, searched among themselves.

        Parameters
        ----------
        new, old : array-like of shapes (n_texts, n_new_features) and (n_texts, n_old_features)
            Vectors of the same texts under both models.

        Returns
        -------
        float
            The mean share.
        """
        check_is_fitted(self)
        X, Y = _checked(new, old)
        return float(HeldOut.of(X, Y, np.arange(len(X)), 10).recalls(self.map_, 10).mean())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the map and the report into a safetensors file, for :func:`calipers.load`."""
        check_is_fitted(self)
        self.map_.save(path)


def _report(
    chosen: Candidate, table: list[CandidateScore], known: Moments, held_out: HeldOut
) -> BridgeReport:
    """Measure the map of the chosen candidate on texts that had no part in choosing it."""
    map_ = QueryMap(solve(chosen, known))
    n_documents = len(held_out.documents)
    return BridgeReport(
        recall={cut: Share.of(held_out.recalls(map_, cut)) for cut in CUTS if cut < n_documents},
        chosen=max(table, key=lambda score: score.recall),
        candidates=tuple(table),
        n_held_out=len(held_out.new),
        n_documents=n_documents,
    )


def _checked(new: npt.ArrayLike, old: npt.ArrayLike) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Return both as arrays of real numbers with as many rows; vectors are checked when read."""
    arrays = []
    for given, name in ((new, "new"), (old, "old")):
        refuse_kinds(given, name)
        array = given if isinstance(given, np.ndarray) else np.asarray(given)
        if array.ndim != 2 or array.dtype.kind not in "fiu" or not array.shape[1]:
            raise ValueError(
                f"{name} must be numbers of shape (n_texts, n_features), got {array.dtype} of "
                f"shape {array.shape}: give one vector for each text."
            )
        arrays.append(array)
    X, Y = arrays
    if len(X) != len(Y):
        raise ValueError(
            f"new and old must have a vector for each of the same texts, got {len(X)} and "
            f"{len(Y)}: embed the same texts, in the same order, with both models."
        )
    if len(X) < _FEWEST_TEXTS:
        raise ValueError(
            f"new and old have {len(X)} texts, of which too few can be held out: give at least "
            f"{_FEWEST_TEXTS}."
        )
    return X, Y
