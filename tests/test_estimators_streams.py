"""Batches that come one after the other: the same walk, and little kept between them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris
from sklearn.neighbors import KNeighborsClassifier

from calipers import TripletSGD
from calipers.estimators.reservoir import Reservoir
from calipers.triplets import DrawnTriplets, RowsInMemory

X, Y = load_iris(return_X_y=True)
TRIPLETS = next(
    DrawnTriplets(RowsInMemory(X, Y), 3000, n_neighbors=5, rng=np.random.default_rng(0)).portions(
        3000
    )
)


def streamed(learner: TripletSGD, sizes: list[int], rows: Any = X) -> TripletSGD:
    ends = np.cumsum(sizes).tolist()
    assert ends[-1] == len(TRIPLETS)
    for first, last in zip([0, *ends], ends, strict=False):
        learner.partial_fit_triplets(rows, TRIPLETS[first:last])
    return learner


@pytest.mark.parametrize("sizes", [[3000], [7, 1, 992, 503, 1497], [250] * 12, [1000, 2000]])
@pytest.mark.parametrize(
    "settings",
    [
        *({"method": method} for method in ("sgd", "mini-sgd", "as-sgd", "hr-sgd")),
        {"method": "ha-sgd", "gradient_bound": "running"},
        {"start": "features", "average": False},
    ],
)
def test_batches_give_what_all_at_once_gives(settings: dict[str, Any], sizes: list[int]) -> None:
    expected = TripletSGD(**settings, random_state=0).fit_triplets(X, TRIPLETS)
    got = streamed(TripletSGD(**settings, random_state=0), sizes)
    np.testing.assert_allclose(
        got.get_mahalanobis_matrix(), expected.get_mahalanobis_matrix(), rtol=1e-9, atol=1e-12
    )
    assert (got.n_updates_, got.n_iter_) == (expected.n_updates_, expected.n_iter_)
    assert got.method_ == expected.method_


def test_only_the_rows_of_a_batch_are_needed() -> None:
    expected = TripletSGD(random_state=0).fit_triplets(X, TRIPLETS)
    got = TripletSGD(random_state=0)
    for part in np.split(TRIPLETS, 4):
        numbers, places = np.unique(part, return_inverse=True)
        got.partial_fit_triplets(X[numbers], places.reshape(-1, 3))
    np.testing.assert_allclose(
        got.get_mahalanobis_matrix(), expected.get_mahalanobis_matrix(), rtol=1e-9
    )


def test_little_is_kept_between_batches() -> None:
    learner = streamed(TripletSGD(random_state=0), [1999, 996, 5])
    assert learner._stream is not None
    assert learner._stream.triplets.shape == (0, 3)
    learner.partial_fit_triplets(X, TRIPLETS[:17])
    assert learner._stream.triplets.shape == (7, 3)
    assert len(learner._stream.rows) <= 21


def test_less_than_a_batch_is_the_identity() -> None:
    learner = TripletSGD(random_state=0).partial_fit_triplets(X, TRIPLETS[:9])
    np.testing.assert_array_equal(learner.get_mahalanobis_matrix(), np.eye(4))
    assert learner.n_updates_ == 0


def test_fit_ends_a_stream_and_a_stream_begins_anew_after_it() -> None:
    expected = TripletSGD(random_state=0).fit_triplets(X, TRIPLETS)
    learner = streamed(TripletSGD(random_state=0), [3000]).fit_triplets(X, TRIPLETS)
    np.testing.assert_array_equal(learner.components_, expected.components_)
    np.testing.assert_allclose(
        streamed(learner, [3000]).get_mahalanobis_matrix(), expected.get_mahalanobis_matrix()
    )


def test_a_stream_of_labelled_rows_is_learned_from() -> None:
    """Features that tell nothing are turned down, as by a fit of all rows."""
    rng = np.random.default_rng(0)
    rows, labels = load_digits(return_X_y=True)
    order = rng.permutation(len(rows))
    rows, labels = rows[order], labels[order]
    noisy = np.column_stack([rows, 30.0 * rng.random((len(rows), 10))])
    first, again = TripletSGD(random_state=0), TripletSGD(random_state=0)
    for learner in (first, again):
        for i in range(0, 1200, 100):
            learner.partial_fit(noisy[i : i + 100], labels[i : i + 100])
    np.testing.assert_array_equal(first.components_, again.components_)

    def score(images: Any) -> float:
        voter = KNeighborsClassifier(3).fit(images[:1200], labels[:1200])
        return float(voter.score(images[1200:], labels[1200:]))

    assert score(first.transform(noisy)) > score(noisy) + 0.02
    assert first.classes_.tolist() == list(range(10))


def test_batches_of_one_class_each() -> None:
    """Far rows come from the sample of the batches before."""
    learner = TripletSGD(random_state=0)
    for label in (0, 1, 2):
        learner.partial_fit(X[label == Y], Y[label == Y])
        assert (learner.n_iter_ > 0) == (label > 0)
    assert learner.classes_.tolist() == [0, 1, 2]


def test_features_must_stay_as_many() -> None:
    learner = TripletSGD().partial_fit(X, Y)
    with pytest.raises(ValueError, match="X has 3 features, but TripletSGD is expecting 4"):
        learner.partial_fit(X[:, :3], Y)


def test_names_are_checked_at_the_first_batch() -> None:
    with pytest.raises(ValueError, match="must be one of 'auto', 'sgd'"):
        TripletSGD("sdg").partial_fit(X, Y)
    with pytest.raises(ValueError, match=r"start='classes'\) needs the classes"):
        TripletSGD(start="classes").partial_fit_triplets(X, TRIPLETS)


def test_a_reservoir_is_bounded_and_fair() -> None:
    """Each of 1000 rows of a class is kept with chance 0.05; a rare class is kept whole."""
    counts = np.zeros(1000)
    for seed in range(200):
        reservoir = Reservoir(1, np.random.default_rng(seed), size=50)
        for part in np.split(np.arange(1000), 10):
            codes = reservoir.encode(np.full(100, "many"))
            reservoir.add(part[:, None].astype(float), codes)
        reservoir.add(np.array([[-1.0]]), reservoir.encode(np.array(["few"])))
        rows, codes = reservoir.rows()
        assert np.bincount(codes).tolist() == [50, 1]
        counts[rows[:50, 0].astype(int)] += 1
    tenths = counts.reshape(10, 100).sum(axis=1)  # each should be 1000
    assert (np.abs(tenths - 1000) < 150).all()
