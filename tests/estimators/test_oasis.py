"""OASIS: the plain similarity, its scores, and the paper's counts."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from calipers import OASIS
from calipers.data import datasets
from calipers.data.samples import MemorySamples
from calipers.triplets import DrawnTriplets
from data_folder import FOLDER, needs_data
from learners import iris, random_triplets, streams
from reference.plain import project
from reference.plain_online import plain_oasis
from solver_runs import assert_same_matrix

X, Y = iris()


def test_it_is_the_plain_algorithm() -> None:
    fitted = OASIS(n_triplets=800, random_state=3).fit(X, Y)
    source = DrawnTriplets(MemorySamples(X, Y), 800, n_neighbors=1, rng=streams(3)[0])
    run = plain_oasis(X, next(source.portions(800)))
    assert fitted.n_updates_ == sum(run.updated)
    assert_same_matrix(fitted.similarity_, run.matrix)
    expected = project((run.matrix + run.matrix.T) / 2, np.inf)
    assert_same_matrix(fitted.get_mahalanobis_matrix(), expected)


def test_own_triplets_are_taken_in_order() -> None:
    triplets = random_triplets(150, 100)
    fitted = OASIS(n_triplets=7).fit_triplets(X, triplets)
    assert_same_matrix(fitted.similarity_, plain_oasis(X, triplets).matrix)


def test_scores_are_similarities() -> None:
    fitted = OASIS(n_triplets=800, random_state=0).fit(X, Y)
    pairs = np.stack([X[:75], X[75:]], axis=1)
    expected = [p @ fitted.similarity_ @ q for p, q in pairs]
    np.testing.assert_allclose(fitted.pair_score(pairs), expected)
    turned = fitted.pair_score(pairs[:, ::-1])
    assert not np.allclose(turned, expected, rtol=1e-3)  # W is not symmetric
    distances = [fitted.get_metric()(p, q) for p, q in pairs]
    np.testing.assert_allclose(fitted.pair_distance(pairs), distances)
    with pytest.raises(ValueError, match=r"pairs must have shape \(n_pairs, 2, 4\)"):
        fitted.pair_score(X)
    with pytest.raises(NotFittedError):
        OASIS().pair_score(pairs)


@needs_data
@pytest.mark.parametrize(
    ("name", "n_splits", "published"), [("tdt30", 3, 2285), ("connect4", 1, 69865)]
)
def test_the_papers_counts(name: str, n_splits: int, published: int) -> None:
    """The paper's are means of ten splits; single ones of tdt30 differ by several per cent."""
    counts = []
    for split in range(n_splits):
        data = datasets.load(name, data_dir=FOLDER, split=split)
        counts.append(OASIS(random_state=split).fit(data.X_train, data.y_train).n_updates_)
    assert np.mean(counts) == pytest.approx(published, rel=0.05)
