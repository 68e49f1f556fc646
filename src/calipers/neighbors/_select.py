"""Compiled selection: keep the nearest rows of both lists while products stream past.

Every candidate's distance is summed from its differences, column by column, so that equal
pairs of rows tie to the last bit; products only say which rows need not be looked at.
"""

from __future__ import annotations

from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt
from numba import njit

from calipers.arrays import FloatArray, IndexArray
from calipers.compiled import Function, forget_stale, inner

ProductArray = npt.NDArray[np.floating[Any]]

_CHUNK = 64  # rows compared with the limit at once, a few vector registers


def compiled(function: Function) -> Function:
    """Compile without the interpreter's lock and keep the machine code on disk."""
    return cast(Function, njit(cache=True, nogil=True)(function))


class Queries(NamedTuple):
    """Anchors of one block: rows as given, their numbers in X, and squared norms."""

    rows: FloatArray
    numbers: IndexArray
    squared_norms: FloatArray  # of the centred, scaled row, less its share of the error


class Tile(NamedTuple):
    """Samples of one tile in class order, their numbers in X, and what the products lack."""

    rows: FloatArray
    numbers: IndexArray
    squared_norms: ProductArray  # of the centred, scaled rows, less their share of the error


class Nearest(NamedTuple):
    """One running list per anchor, nearest first, and the score above which none enters."""

    squared_distances: FloatArray
    numbers: IndexArray
    limits: ProductArray


class Bound(NamedTuple):
    """How a squared distance becomes a limit on scores (see ``_product.error_bound``)."""

    squared_scale: float
    distance_slack: float
    rounding: float
    underflow: float


@inner()
def squared_distance(a: FloatArray, b: FloatArray) -> float:
    """Sum of squared differences, from the first column to the last."""
    total = 0.0
    for column in range(a.shape[0]):
        difference = a[column] - b[column]
        total += difference * difference
    return total


@inner()
def insert(distances: FloatArray, numbers: IndexArray, distance: float, number: int) -> bool:
    """Put a row in its place by (distance, number) if it belongs to the list."""
    place = numbers.shape[0]
    while place > 0 and (
        numbers[place - 1] < 0
        or distance < distances[place - 1]
        or (distance == distances[place - 1] and number < numbers[place - 1])
    ):
        place -= 1
    if place == numbers.shape[0]:
        return False
    for moved in range(numbers.shape[0] - 1, place, -1):
        distances[moved] = distances[moved - 1]
        numbers[moved] = numbers[moved - 1]
    distances[place] = distance
    numbers[place] = number
    return True


@inner()
def _set_limit(nearest: Nearest, anchor: int, squared_norm: float, bound: Bound) -> None:
    """Lower the limit of a full list; rows above it are surely farther than its last."""
    if nearest.numbers[anchor, -1] < 0 or not np.isfinite(squared_norm):
        return
    last = nearest.squared_distances[anchor, -1] * bound.squared_scale
    limit = last * (1.0 + bound.distance_slack) - squared_norm + bound.underflow
    nearest.limits[anchor] = limit + abs(limit) * bound.rounding


@compiled
def _set_limits(nearest: Nearest, squared_norms: FloatArray, bound: Bound) -> None:
    for anchor in range(squared_norms.shape[0]):
        _set_limit(nearest, anchor, squared_norms[anchor], bound)


def empty_lists(n_anchors: int, size: int) -> Nearest:
    """Return lists without rows, which every row may enter."""
    return Nearest(
        np.full((n_anchors, size), np.inf),
        np.full((n_anchors, size), -1, dtype=np.intp),
        np.full(n_anchors, np.inf),
    )


def limited(
    nearest: Nearest, limits: ProductArray, squared_norms: FloatArray, bound: Bound
) -> Nearest:
    """Return the same lists with limits, written to ``limits``, for another kind of products."""
    limits.fill(np.inf)
    nearest = nearest._replace(limits=limits)
    if nearest.numbers.shape[1] > 0:
        _set_limits(nearest, squared_norms, bound)
    return nearest


@inner()
def _n_within(products: ProductArray, squared_norms: ProductArray, limit: float) -> int:
    """Count the scores that are not above the limit; the shape of this loop lets it vectorise."""
    hits = np.int32(0)
    for column in range(products.shape[0]):
        # written so that a score that is not a number counts as a hit
        hits += np.int32(not (squared_norms[column] + products[column] > limit))
    return int(hits)


@inner()
def _scan(
    products: ProductArray, columns: tuple[int, int], tile: Tile, query: Any, nearest: Nearest
) -> int:
    """Offer some columns of one anchor's products to its list; return how many were summed."""
    anchor, queries, bound = query
    summed = 0
    for first in range(columns[0], columns[1], _CHUNK):
        last = min(first + _CHUNK, columns[1])
        limit = nearest.limits[anchor]
        if _n_within(products[first:last], tile.squared_norms[first:last], limit) == 0:
            continue
        for column in range(first, last):
            score = tile.squared_norms[column] + products[column]
            number = tile.numbers[column]
            if score > nearest.limits[anchor] or number == queries.numbers[anchor]:
                continue
            summed += 1
            distance = squared_distance(queries.rows[anchor], tile.rows[column])
            if insert(nearest.squared_distances[anchor], nearest.numbers[anchor], distance, number):
                _set_limit(nearest, anchor, queries.squared_norms[anchor], bound)
    return summed


@compiled
def offer_tile(
    products: ProductArray,
    first_anchor: int,
    tile: Tile,
    same_columns: tuple[IndexArray, IndexArray],
    queries: Queries,
    lists: tuple[Nearest, Nearest, Bound],
) -> int:
    """Offer a tile to the lists of the anchors whose products with it are given.

    ``products[i]`` belongs to anchor ``first_anchor + i`` and holds -2 times its products
    with the tile's rows; the rows of its own class are columns ``same_columns[0]`` to
    ``same_columns[1]``.  Returns the number of distances that had to be summed.
    """
    same, other, bound = lists
    summed = 0
    for i in range(products.shape[0]):
        anchor = first_anchor + i
        query = (anchor, queries, bound)
        begin, end = same_columns[0][anchor], same_columns[1][anchor]
        if same.numbers.shape[1] > 0:
            summed += _scan(products[i], (begin, end), tile, query, same)
        if other.numbers.shape[1] > 0:
            summed += _scan(products[i], (0, begin), tile, query, other)
            summed += _scan(products[i], (end, products.shape[1]), tile, query, other)
    return summed


forget_stale(offer_tile)
