"""Queries of a new embedding model, answered by the index of an old one."""

from __future__ import annotations

import os
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import numpy.typing as npt
from scipy.linalg import eigh, svd
from scipy.stats import sem
from sklearn.base import BaseEstimator
from sklearn.utils import check_consistent_length, check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from calipers.arrays import FloatArray, IndexArray
from calipers.data.samples import blocks_of
from calipers.estimators.base import checking
from calipers.search.query_map import QueryMap, unit_vectors
from calipers.search.ranking import as_vectors, nearest_documents
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


class Candidate(NamedTuple):
    """A way to make a map."""

    method: str
    alpha: float | None = None
    rank: int | None = None

    @property
    def name(self) -> str:
        """The method with its numbers.

        >>> Candidate("low-rank", 0.1, 48).name
        'low-rank, alpha=0.1, rank=48'
        """
        numbers = {"alpha": self.alpha, "rank": self.rank}
        given = [f"{name}={value:g}" for name, value in numbers.items() if value is not None]
        return ", ".join([self.method, *given])


class Moments(NamedTuple):
    """What every candidate is made of: sums over texts of unit vectors x (new) and y (old)."""

    gram: FloatArray  # sum of x x', n_new_features by n_new_features
    cross: FloatArray  # sum of y x', n_old_features by n_new_features

    @classmethod
    def of(cls, new: npt.NDArray[Any], old: npt.NDArray[Any]) -> Moments:
        """Sum over all texts, a block at a time."""
        gram, cross = np.zeros((new.shape[1],) * 2), np.zeros((old.shape[1], new.shape[1]))
        for first, block in blocks_of(new):
            indices = range(first, first + len(block))
            x = unit_vectors(block, "new", indices, np.float64)
            y = unit_vectors(old[first : first + len(x)], "old", indices, np.float64)
            gram += x.T @ x
            cross += y.T @ x
        return cls(gram, cross)

    def without(self, other: Moments) -> Moments:
        """Subtract the sums over other texts."""
        return Moments(self.gram - other.gram, self.cross - other.cross)


def solve(candidate: Candidate, moments: Moments) -> FloatArray:
    """Return the map W of shape (n_old_features, n_new_features), from x to y.

    - ``identity``: the new vector as it is, if both models have as many features.
    - ``procrustes``: the W with orthonormal rows or columns that minimises the sum of
      ``|y - Wx|^2``; with the singular vectors of the cross moments ``U S V'`` it is ``UV'``.
    - ``ridge``: minimises the sum of ``|y - Wx|^2`` plus ``alpha |W - P|^2``, with P of
      "procrustes" and alpha in units of the mean eigenvalue of the sum of ``x x'``.
    - ``low-rank``: the ridge map, projected onto the `rank` principal directions of its images.
    """
    gram, cross = moments
    if candidate.method == "identity":
        return np.eye(len(gram))
    left, values, right = svd(cross, full_matrices=False)
    kept = values > values[0] * np.finfo(np.float64).eps * len(gram)
    procrustes = np.asarray(left[:, kept] @ right[kept])
    if candidate.alpha is None:
        return procrustes
    strength = candidate.alpha * np.trace(gram) / len(gram)
    pulled = cross + strength * procrustes
    ridge = np.linalg.solve(gram + strength * np.eye(len(gram)), pulled.T).T
    if candidate.rank is None:
        return np.asarray(ridge)
    _, axes = eigh(ridge @ gram @ ridge.T)
    principal = axes[:, -candidate.rank :]
    return np.asarray(principal @ (principal.T @ ridge))


class Share(NamedTuple):
    """A mean over texts, and its 95 % interval."""

    mean: float
    low: float
    high: float

    @classmethod
    def of(cls, shares: FloatArray) -> Self:
        """Return the mean and the interval by its standard error, within 0 and 1.

        >>> import numpy as np
        >>> Share.of(np.array([0.5, 0.5]))
        Share(mean=0.5, low=0.5, high=0.5)
        """
        mean, error = float(shares.mean()), float(sem(shares))
        return cls(mean, max(0.0, mean - 1.96 * error), min(1.0, mean + 1.96 * error))


@dataclass(frozen=True)
class BridgeReport:
    """The share of the old model's recall that a bridge keeps; ``print`` shows it.

    Attributes
    ----------
    recall : dict of int to Share
        Share of the old model's first 1, 10 and 100 documents that are among the bridge's first 1,
        10 and 100, on texts that were held out from learning and from choosing.
    chosen : Candidate
        The candidate that was chosen.
    candidates : dict of Candidate to float
        The recall at 10 of all of them on texts that were held out to choose, in the order in
        which they were tried.
    n_held_out : int
        Number of texts that `recall` is a mean over.
    n_documents : int
        Number of documents that were searched.
    """

    recall: dict[int, Share]
    chosen: Candidate
    candidates: dict[Candidate, float]
    n_held_out: int
    n_documents: int

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as JSON has it."""
        return {
            **vars(self),
            "recall": {str(cut): share._asdict() for cut, share in self.recall.items()},
            "chosen": self.chosen.name,
            "candidates": {one.name: recall for one, recall in self.candidates.items()},
        }

    def __str__(self) -> str:
        kept = self.recall[10]
        lines = [
            f"The bridge keeps {kept.mean:.1%} of the old model's recall at 10 (95 % interval "
            f"{kept.low:.1%} to {kept.high:.1%}).",
            f"Measured with {self.n_held_out:,} held-out texts among {self.n_documents:,} "
            f"documents; chosen: {self.chosen.name}.",
            "",
            f"{'':34}{'mean':>8}{'95 % interval':>20}",
        ]
        for cut, share in self.recall.items():
            interval = f"{share.low:.1%} to {share.high:.1%}"
            lines.append(f"{f'recall kept at {cut}':34}{share.mean:8.1%}{interval:>20}")
        lines += ["", f"{'candidate':34}{'recall at 10, to choose':>28}"]
        lines += [f"{one.name:34}{recall:28.1%}" for one, recall in self.candidates.items()]
        return "\n".join(lines)


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
        queries = unit_vectors(old[itself], "old", itself, np.float32)
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
        How the map is made, see :func:`calipers.search.bridge.solve`; "auto" chooses.
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

    map_: QueryMap

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

    @checking
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
        with single_threaded_blas():
            order = check_random_state(self.random_state).permutation(len(X))
            n_held_out = min(len(X) // 5, _MOST_HELD_OUT)
            last, first = np.sort(order[:n_held_out]), np.sort(order[n_held_out : 2 * n_held_out])
            everything = Moments.of(X, Y)
            known = everything.without(Moments.of(X[last], Y[last]))
            searched = np.union1d(first, order[:_MOST_SEARCHED])
            recalls = self._recalls(
                known.without(Moments.of(X[first], Y[first])),
                HeldOut.of(X[first], Y[searched], np.searchsorted(searched, first), 10),
            )
            chosen = max(recalls, key=lambda candidate: recalls[candidate])
            n_found = min(CUTS[-1], len(Y) - 1)
            report = _report(recalls, solve(chosen, known), HeldOut.of(X[last], Y, last, n_found))
            learned = solve(chosen, everything)
        self.map_ = QueryMap(learned, kind="bridge", facts={"report": report.to_dict()})
        self.report_ = report
        self.method_, self.alpha_, self.rank_ = chosen.method, chosen.alpha, chosen.rank
        self.n_features_in_ = X.shape[1]
        return self

    def _recalls(self, learned: Moments, held_out: HeldOut) -> dict[Candidate, float]:
        """Return the recall at 10 of every candidate, the simplest first."""
        n_old, n_new = learned.cross.shape
        if self.method == "identity" and n_new != n_old:
            raise ValueError(
                f"method 'identity' needs as many new features as old ones, got {n_new} and "
                f"{n_old}: use another method."
            )

        def recalls_of(candidates: list[Candidate]) -> dict[Candidate, float]:
            maps = [QueryMap(solve(candidate, learned)) for candidate in candidates]
            means = [float(held_out.recalls(map_, 10).mean()) for map_ in maps]
            return dict(zip(candidates, means, strict=True))

        recalls: dict[Candidate, float] = {}
        if self.method in ("auto", "identity") and n_new == n_old:
            recalls |= recalls_of([Candidate("identity")])
        if self.method in ("auto", "procrustes"):
            recalls |= recalls_of([Candidate("procrustes")])
        if self.method in ("auto", "ridge", "low-rank"):
            alphas = ALPHAS if self.alpha is None else (float(self.alpha),)
            ridge = recalls_of([Candidate("ridge", alpha) for alpha in alphas])
            recalls |= ridge if self.method != "low-rank" else {}
        if self.method in ("auto", "low-rank"):
            alpha = max(ridge, key=lambda candidate: ridge[candidate]).alpha
            shares = {max(1, round(share * min(n_old, n_new))) for share in RANK_SHARES}
            ranks = sorted(shares) if self.rank is None else [self.rank]
            recalls |= recalls_of([Candidate("low-rank", alpha, rank) for rank in ranks])
        return recalls

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
    recalls: dict[Candidate, float], components: FloatArray, held_out: HeldOut
) -> BridgeReport:
    """Measure the map of the chosen candidate on texts that had no part in choosing it."""
    n_documents = len(held_out.documents)
    map_ = QueryMap(components)
    return BridgeReport(
        recall={cut: Share.of(held_out.recalls(map_, cut)) for cut in CUTS if cut < n_documents},
        chosen=max(recalls, key=lambda candidate: recalls[candidate]),
        candidates=recalls,
        n_held_out=len(held_out.new),
        n_documents=n_documents,
    )


def _checked(new: npt.ArrayLike, old: npt.ArrayLike) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Return both as arrays of numbers with as many rows; vectors are checked when read."""
    X, Y = as_vectors(new, "new", _FEWEST_TEXTS), as_vectors(old, "old", _FEWEST_TEXTS)
    check_consistent_length(X, Y)
    return X, Y
