"""The loss against its formula, its gradient against finite differences."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from calipers.search import learning
from calipers.search.learning import STRENGTH, Examples, SoftmaxLoss, gaussian, minimize
from calipers.search.query_map import unit_vectors


def unit(vectors: np.ndarray) -> np.ndarray:
    return unit_vectors(vectors, "vectors", range(len(vectors)), np.float32)


def loss_of(given: Examples, temperature: float | None = 0.3) -> SoftmaxLoss:
    return SoftmaxLoss(given, np.ones(len(given.pairs), dtype=bool), temperature)


def examples(seed: int = 0) -> Examples:
    rng = np.random.default_rng(seed)
    queries = unit(rng.normal(size=(9, 4)))
    documents = unit(rng.normal(size=(12, 4)))
    pairs = np.array([[q, d] for q in range(9) for d in sorted(rng.choice(12, 2, replace=False))])
    known = {tuple(pair) for pair in pairs.tolist()}
    negatives = np.array([[q, d] for q in range(9) for d in range(12) if (q, d) not in known])
    weights = rng.random(len(pairs)) + 0.5
    return Examples(queries, documents, np.arange(12), pairs, weights, negatives)


def by_formula(given: Examples, maps: np.ndarray, temperature: float) -> float:
    """One pair at a time, in float64: all documents compete but the query's other relevant ones."""
    total = 0.0
    for (q, d), weight in zip(given.pairs.tolist(), given.weights, strict=True):
        image = maps[0] @ given.queries[q]
        targets = given.documents @ (maps[1].T if len(maps) == 2 else np.eye(4))
        cosines = targets @ image / np.linalg.norm(image) / np.linalg.norm(targets, axis=1)
        others = given.pairs[(given.pairs[:, 0] == q) & (given.pairs[:, 1] != d), 1]
        competing = np.delete(cosines / temperature, others)
        total += weight * (np.log(np.exp(competing).sum()) - cosines[d] / temperature)
    return total / float(given.weights.sum())


@pytest.mark.parametrize("n_maps", [1, 2])
def test_loss_and_gradient(n_maps: int) -> None:
    rng = np.random.default_rng(1)
    given, maps = examples(), np.eye(4) + 0.2 * rng.normal(size=(n_maps, 4, 4))
    loss = loss_of(given)
    value, gradient = loss(maps)
    assert value == pytest.approx(by_formula(given, maps, 0.3), rel=1e-5)
    for _ in range(6):
        way = rng.normal(size=maps.shape)
        above, below = (by_formula(given, maps + h * way, 0.3) for h in (1e-5, -1e-5))
        assert np.vdot(gradient, way) == pytest.approx((above - below) / 2e-5, rel=1e-3, abs=1e-5)


def test_blocks_do_not_matter_where_all_documents_compete(monkeypatch: pytest.MonkeyPatch) -> None:
    given = examples()
    whole = loss_of(given)(np.eye(4)[None])
    monkeypatch.setattr(learning, "_PAIRS_PER_BLOCK", 2)
    every = np.array([[q, d] for q in range(9) for d in range(12)])  # relevant ones are left out
    parts = loss_of(replace(given, negatives=every))(np.eye(4)[None])
    assert parts[0] == pytest.approx(whole[0], rel=1e-6)
    assert np.allclose(parts[1], whole[1], atol=1e-6)


def test_the_default_temperature_is_a_third_of_the_likeliest() -> None:
    given = examples()
    near = given.queries[given.pairs[:, 0]] + given.documents[given.pairs[:, 1]]
    near = unit(near + 0.5)  # each query near its documents
    given = replace(given, queries=near[::2])
    likeliest = 3 * loss_of(given, None).temperature
    best = by_formula(given, np.eye(4)[None], likeliest)
    assert 0.01 < likeliest < 0.99
    assert best <= min(by_formula(given, np.eye(4)[None], likeliest * f) for f in (0.9, 1.1))


def by_gaussian_formula(given: Examples) -> np.ndarray:
    """One pair at a time: ridge regression, then the inverse of what it leaves."""
    moments = np.zeros((4, 4)), np.zeros((4, 4)), np.zeros((4, 4))
    for (q, d), weight in zip(given.pairs, given.weights / given.weights.sum(), strict=True):
        query, document = given.queries[q].astype(float), given.documents[d].astype(float)
        moments[0][:] += weight * np.outer(query, query)
        moments[1][:] += weight * np.outer(document, query)
    pull = STRENGTH / 4 * np.eye(4)
    A = (moments[1] + pull) @ np.linalg.inv(moments[0] + pull)
    for (q, d), weight in zip(given.pairs, given.weights / given.weights.sum(), strict=True):
        left = given.documents[d] - A @ given.queries[q]
        moments[2][:] += weight * np.outer(left, left)
    R = moments[2] + STRENGTH * np.trace(moments[2]) / 4 * np.eye(4)
    A0 = np.linalg.inv(R) @ A
    return np.asarray(A0 * 2 / np.linalg.norm(A0))


@pytest.mark.parametrize("at_once", [1000, 5])
def test_the_gaussian_map_is_that_of_its_formula(
    at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(learning, "_PAIRS_IN_MEMORY", at_once)
    given = examples()
    learned = gaussian(given, np.arange(len(given.pairs)), 2)
    assert np.allclose(learned[0], by_gaussian_formula(given), atol=1e-6)
    assert np.array_equal(learned[1], np.eye(4))


def test_documents_that_are_their_queries_leave_nothing_to_learn() -> None:
    given = replace(examples(), documents=examples().queries)
    given = replace(given, pairs=np.column_stack([np.arange(9)] * 2), weights=np.ones(9))
    learned = gaussian(given, np.arange(9), 1)
    assert np.allclose(learned, np.eye(4), atol=1e-6)


def test_a_stronger_pull_stays_nearer() -> None:
    loss, start = loss_of(examples()), np.eye(4)[None]
    maps = list(minimize(loss, [10.0, 1.0, 0.01], start))
    away = [np.linalg.norm(one - start) for one in maps]
    assert away == sorted(away)
    values = [loss(one)[0] for one in maps]
    assert values == sorted(values, reverse=True)


def test_only_chosen_pairs_are_learned_from() -> None:
    given = examples()
    chosen = given.pairs[:, 0] < 5
    kept = replace(given, pairs=given.pairs[chosen], weights=given.weights[chosen])
    maps = np.eye(4)[None]
    assert SoftmaxLoss(given, chosen, 0.3)(maps)[0] == loss_of(kept)(maps)[0]
