"""How a map is learned from pairs: a Gaussian model in closed form, then a softmax over documents.

1. Gaussian: ridge regression A minimises the mean of ``|Aq - d|^2`` over pairs plus ``STRENGTH /
   n_features * |A - I|^2``. What it leaves, d - Aq, has the second moment R, to which STRENGTH
   times its mean eigenvalue is added. If d is normal around Aq, the likeliest documents are those
   of large ``d'R^-1 Aq``: A0 is ``R^-1 A``, scaled to the norm of the identity. It
   moves queries as a whole, toward documents without clicks as well, and turns down directions in
   which queries and their documents differ anyway.
2. Softmax: A minimises the mean of ``-log softmax(s / temperature)`` at d plus ``pull / 2 *
   |A - A0|^2``, where s are the cosines of Aq with d and with its negatives. The weaker the pull,
   the more it does for documents that it has seen. With both sides documents are mapped by B,
   which is pulled toward the identity.
3. Fewer dimensions on both sides, if they are asked for: `reduction`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.optimize import fmin_l_bfgs_b, minimize_scalar

from calipers.arrays import FloatArray, IndexArray
from calipers.search.ranking import UnitArray, Vectors, hardest, unit_images
from calipers.search.relevance import Relevance
from calipers.threads import parallel_map, single_threaded_blas

PULLS = (3.0, 1.0, 0.3, 0.1, 0.03)
"""Strengths that are compared, the strongest first."""

STRENGTH = 5.0
"""Of the Gaussian model's pull toward the identity, in units of mean eigenvalues."""

_N_NEGATIVES = 10  # hard ones of each query
_MOST_DOCUMENTS = 1 << 16  # among which they are looked for
_PAIRS_PER_BLOCK = 64  # they share their negatives
_BLOCKS_AT_ONCE = 16
_MOST_ITERATIONS = 30
_ITERATIONS_ON_PATH = 7  # from the map of the next stronger pull
_PAIRS_IN_MEMORY = 1 << 15
_LEAST_TRACE = 1e-6  # of vectors in float32, in the trace of their second moment, which is 1
_LEAST_PROGRESS = 1e-5  # relative decrease of the loss
_SMALLEST = 1e-6  # share of the largest eigenvalue below which a direction is left out


class Maps(NamedTuple):
    """A map of queries and one of documents; None leaves documents as they are."""

    query: FloatArray
    document: FloatArray | None


@dataclass(frozen=True)
class Examples:
    """What is learned from: the queries with a pair, their documents, and hard negatives.

    Attributes
    ----------
    queries, documents : arrays of unit vectors
        All that pairs and negatives point to.
    positions : array of shape (n_documents,)
        Index of each of these documents among all.
    pairs, negatives : arrays of shape (n, 2)
        Indices (query, document) of relevant documents and of others, ascending by query.
    weights : array of shape (n_pairs,)
        Weight of each pair.
    """

    queries: UnitArray
    documents: UnitArray
    positions: IndexArray
    pairs: IndexArray
    weights: FloatArray
    negatives: IndexArray

    @classmethod
    def mined(
        cls, queries: Vectors, documents: Vectors, relevance: Relevance, rng: np.random.Generator
    ) -> Examples:
        """Find hard negatives: the nearest documents that no pair gives to the query.

        They are looked for among all documents, or among 65,536 drawn at random if there are more.
        """
        searched: Any = np.arange(len(documents))
        if len(documents) > _MOST_DOCUMENTS:
            searched = rng.choice(len(documents), _MOST_DOCUMENTS, replace=False)
        positions = np.union1d(searched, relevance.pairs[:, 1])
        table, vectors = documents.take(positions), queries.take(relevance.queries)
        pairs = relevance.pairs.copy()
        pairs[:, 1] = np.searchsorted(positions, pairs[:, 1])
        places = np.searchsorted(positions, np.sort(searched))
        there = pairs[np.isin(pairs[:, 1], places)]
        there[:, 1] = np.searchsorted(places, there[:, 1])
        found = places[hardest(vectors, table[places], there, _N_NEGATIVES)]
        owners = np.repeat(np.arange(len(vectors)), found.shape[1])
        negatives = np.column_stack([owners, found.ravel()])
        return cls(vectors, table, positions, pairs, relevance.weights, negatives)


@dataclass(frozen=True)
class Problem:
    """What is learned, and from what.

    Attributes
    ----------
    examples : Examples
        What is learned from.
    documents : Vectors
        All documents that are ranked.
    n_sides : {1, 2}
        Whether queries alone are mapped, or documents too.
    temperature : float or None
        Of the loss.
    n_components : int or None
        Dimensions of the images.
    """

    examples: Examples
    documents: Vectors
    n_sides: int
    temperature: float | None
    n_components: int | None

    @property
    def identity(self) -> Maps:
        """The maps where nothing was learned."""
        return self._reduced(_identity(self.examples, self.n_sides))

    def loss(self, chosen: npt.NDArray[np.bool_]) -> SoftmaxLoss:
        """Return the loss of some pairs."""
        return SoftmaxLoss(self.examples, chosen, self.temperature)

    def learn(self, loss: SoftmaxLoss, pulls: Sequence[float]) -> Iterator[Maps]:
        """Yield what is learned from the pairs of a loss with each pull."""
        start = gaussian(self.examples, loss.used, self.n_sides)
        return map(self._reduced, minimize(loss, pulls, start))

    def _reduced(self, learned: FloatArray) -> Maps:
        maps = Maps(learned[0], learned[1] if self.n_sides == 2 else None)
        if self.n_components is None:
            return maps
        P, Q = reduction(
            unit_images(self.examples.queries, maps.query),
            unit_images(self.examples.documents, maps.document),
            self.n_components,
        )
        return Maps(P @ maps.query, Q if maps.document is None else Q @ maps.document)


class _Block(NamedTuple):
    """Some pairs and the documents that compete for their queries."""

    queries: IndexArray
    candidates: IndexArray
    relevant: IndexArray  # column of each pair's document
    left_out: tuple[IndexArray, ...]  # other relevant documents of the same queries
    weights: npt.NDArray[np.float32]


class SoftmaxLoss:
    """The mean loss of pairs and its gradient.

    Parameters
    ----------
    examples : Examples
        What is learned from.
    chosen : array of bool of shape (n_pairs,)
        Pairs to use.
    temperature : float or None
        None takes a third of the one under which the cosines as they are predict the pairs best.
    """

    def __init__(
        self, examples: Examples, chosen: npt.NDArray[np.bool_], temperature: float | None
    ) -> None:
        self.examples = examples
        self.used: IndexArray = np.flatnonzero(chosen)
        scale = 1 / examples.weights[self.used].sum()
        self._blocks = [
            _block(examples, self.used[start : start + _PAIRS_PER_BLOCK], scale)
            for start in range(0, len(self.used), _PAIRS_PER_BLOCK)
        ]
        self.temperature = self._third_of_best() if temperature is None else temperature

    def _third_of_best(self) -> float:
        """Return a third of the temperature of the largest likelihood, from at most 2,048 pairs."""
        blocks = self._blocks[:: max(1, len(self._blocks) // 32)]
        sides = [self._vectors(block) for block in blocks]
        cosines = [queries @ documents.T for queries, documents in sides]

        def loss(log_temperature: float) -> float:
            scaled = [products / np.exp(log_temperature) for products in cosines]
            return sum(_softmax(s, block)[0] for s, block in zip(scaled, blocks, strict=True))

        best = minimize_scalar(loss, bounds=(-7, 0), method="bounded", options={"xatol": 0.01})
        return float(np.exp(best.x)) / 3

    def __call__(self, maps: FloatArray) -> tuple[float, FloatArray]:
        """Return the loss of maps (1, d, d) or (2, d, d) of queries and documents; its gradient."""
        single = maps.astype(np.float32)

        def work(start: int) -> tuple[float, npt.NDArray[np.float32]]:
            loss, gradient = 0.0, np.zeros_like(single)
            for block in self._blocks[start : start + _BLOCKS_AT_ONCE]:
                loss += self._add(block, single, gradient)
            return loss, gradient

        with single_threaded_blas():
            parts = parallel_map(work, range(0, len(self._blocks), _BLOCKS_AT_ONCE))
        gradient = np.zeros(maps.shape)
        for _, part in parts:
            gradient += part
        return sum(loss for loss, _ in parts), gradient

    def _add(
        self, block: _Block, maps: npt.NDArray[np.float32], gradient: npt.NDArray[np.float32]
    ) -> float:
        """Add the gradient of a block, and return its loss."""
        queries, documents = self._vectors(block)
        images, lengths = _unit_images(queries, maps[0])
        targets, widths = documents, None
        if len(maps) == 2:
            targets, widths = _unit_images(documents, maps[1])
        temperature = np.float32(self.temperature)
        loss, slopes = _softmax(images @ targets.T / temperature, block)
        slopes /= temperature
        gradient[0] += _tangent(slopes @ targets, images, lengths).T @ queries
        if len(maps) == 2:
            gradient[1] += _tangent(slopes.T @ images, targets, widths).T @ documents
        return loss

    def _vectors(self, block: _Block) -> tuple[UnitArray, UnitArray]:
        return self.examples.queries[block.queries], self.examples.documents[block.candidates]


def _block(examples: Examples, used: IndexArray, scale: float) -> _Block:
    pairs = examples.pairs[used]
    first, last = int(pairs[0, 0]), int(pairs[-1, 0])
    negatives = _of(examples.negatives, first, last)
    negatives = negatives[np.isin(negatives[:, 0], pairs[:, 0])]
    candidates = np.unique(np.concatenate([pairs[:, 1], negatives[:, 1]]))
    relevant = np.zeros((last - first + 1, len(candidates)), dtype=np.bool_)
    known = _of(examples.pairs, first, last)
    known = known[np.isin(known[:, 1], candidates)]
    relevant[known[:, 0] - first, np.searchsorted(candidates, known[:, 1])] = True
    others = relevant[pairs[:, 0] - first]
    own = np.searchsorted(candidates, pairs[:, 1])
    others[np.arange(len(pairs)), own] = False
    weights = (examples.weights[used] * scale).astype(np.float32)
    return _Block(pairs[:, 0], candidates, own, np.nonzero(others), weights)


def _of(pairs: IndexArray, first: int, last: int) -> IndexArray:
    """Return the pairs of some successive queries."""
    start, stop = np.searchsorted(pairs[:, 0], [first, last + 1])
    return pairs[start:stop]


def _unit_images(vectors: UnitArray, matrix: npt.NDArray[np.float32]) -> tuple[Any, Any]:
    """Return images scaled to length 1, and the lengths that they had."""
    images = vectors @ matrix.T
    lengths = np.linalg.norm(images, axis=1, keepdims=True)
    images /= lengths
    return images, lengths


def _tangent(slopes: Any, images: Any, lengths: Any) -> Any:
    """Return the gradient at images before they were scaled to length 1."""
    along = np.einsum("ij,ij->i", slopes, images)[:, None]
    return (slopes - along * images) / lengths


def _softmax(
    scaled: npt.NDArray[np.float32], block: _Block
) -> tuple[float, npt.NDArray[np.float32]]:
    """Return the weighted loss of a block, and its slopes at the scaled products."""
    row = np.arange(len(scaled))
    scaled[block.left_out] = -np.inf
    scaled -= scaled[row, block.relevant][:, None]
    largest = scaled.max(axis=1, keepdims=True)
    shares = np.exp(scaled - largest)
    total = shares.sum(axis=1, keepdims=True)
    losses = (np.log(total) + largest)[:, 0]
    shares /= total
    shares[row, block.relevant] -= 1
    shares *= block.weights[:, None]
    return float(losses @ block.weights), shares


def _identity(examples: Examples, n_sides: int) -> FloatArray:
    return np.tile(np.eye(examples.queries.shape[1]), (n_sides, 1, 1))


def gaussian(examples: Examples, used: IndexArray, n_sides: int) -> FloatArray:
    """Return maps whose first is that of the Gaussian model; a second one is the identity."""
    pairs, weights = examples.pairs[used], examples.weights[used]
    maps = _identity(examples, n_sides)
    identity = maps[0].copy()
    with single_threaded_blas():
        Q, C, D = _moments(examples, pairs, weights / weights.sum())
        share = STRENGTH * np.trace(Q) / len(Q)
        A = np.linalg.solve(Q + share * identity, (C + share * identity).T).T
        R = D - A @ C.T - C @ A.T + A @ Q @ A.T
        share = STRENGTH * max(np.trace(R), _LEAST_TRACE) / len(R)
        A0 = np.linalg.solve(R + share * identity, A)
        maps[0] = A0 * np.linalg.norm(identity) / np.linalg.norm(A0)
    return maps


def _moments(
    examples: Examples, pairs: IndexArray, weights: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the weighted sums of qq', dq' and dd' over pairs."""
    d = examples.queries.shape[1]
    total = np.zeros((2 * d, 2 * d))
    for first in range(0, len(pairs), _PAIRS_IN_MEMORY):
        part = slice(first, first + _PAIRS_IN_MEMORY)
        both = np.hstack(
            [examples.queries[pairs[part, 0]], examples.documents[pairs[part, 1]]]
        ).astype(np.float64)
        total += both.T @ (weights[part, None] * both)
    return total[:d, :d], total[d:, :d], total[d:, d:]


def minimize(loss: SoftmaxLoss, pulls: Sequence[float], start: FloatArray) -> Iterator[FloatArray]:
    """Yield the minimum for each pull by L-BFGS; pulls must fall.

    A search starts from the maps of the pull before.
    """
    n_iterations = _MOST_ITERATIONS if len(pulls) == 1 else _ITERATIONS_ON_PATH
    maps = start
    for pull in pulls:

        def objective(flat: FloatArray, pull: float = pull) -> tuple[float, FloatArray]:
            value, gradient = loss(flat.reshape(start.shape))
            away = flat - start.ravel()
            return value + pull / 2 * float(away @ away), gradient.ravel() + pull * away

        with single_threaded_blas():
            flat, _, _ = fmin_l_bfgs_b(
                objective,
                maps.ravel(),
                maxiter=n_iterations,
                maxls=6,
                factr=_LEAST_PROGRESS / np.finfo(float).eps,
            )
        maps = flat.reshape(start.shape)
        yield maps


def reduction(
    queries: UnitArray, documents: UnitArray, n_components: int
) -> tuple[FloatArray, FloatArray]:
    """Return matrices P, Q of shape (n_components, d) for mapped queries z and documents d.

    Of all matrices of that rank ``P'Q`` approximates the inner products z'd best, in the mean
    square over all pairs of a query and a document: with the second moments Z and D of both sides
    and the singular value decomposition ``Z^(1/2) D^(1/2) = U S V'``, ``P = S^(1/2) U' Z^(-1/2)``
    and ``Q = S^(1/2) V' D^(-1/2)``. The first rows are the answer for fewer components.

    Examples
    --------
    >>> vectors = np.array([[1.0, 0.0], [0.8, 0.6]], dtype=np.float32)
    >>> P, Q = reduction(vectors, vectors, 2)  # as many as there are: nothing is lost
    >>> np.round(P.T @ Q, 4) + 0.0
    array([[1., 0.],
           [0., 1.]])
    """
    root_z, inverse_z = _roots(queries)
    root_d, inverse_d = _roots(documents)
    U, S, Vt = np.linalg.svd(root_z @ root_d)
    half = np.sqrt(S[:n_components, None])
    return half * (U[:, :n_components].T @ inverse_z), half * (Vt[:n_components] @ inverse_d)


def _roots(vectors: UnitArray) -> tuple[FloatArray, FloatArray]:
    """Return the square root of the second moment, and its inverse where that is not singular."""
    moment = (vectors.T @ vectors).astype(np.float64) / len(vectors)
    values, basis = np.linalg.eigh(moment)
    kept = values > _SMALLEST * values[-1]
    roots = np.sqrt(np.where(kept, values, 0.0))
    inverses = np.where(kept, 1 / np.where(kept, roots, 1.0), 0.0)
    return (basis * roots) @ basis.T, (basis * inverses) @ basis.T
