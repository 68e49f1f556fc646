"""SPML: the plain last iterate, and the paper's errors."""

from __future__ import annotations

import pytest

from calipers import SPML
from calipers.paper import datasets
from calipers.paper.protocol import split_error
from data_folder import FOLDER, needs_data
from learners import iris, random_triplets
from reference.plain_rules import plain_spml
from solver_runs import assert_same_matrix

X, Y = iris()
TRIPLETS = random_triplets(150, 400)


def test_own_triplets_give_the_plain_last_iterate() -> None:
    fitted = SPML(ridge=1e-3, n_triplets=7).fit_triplets(X, TRIPLETS)
    last, _ = plain_spml(X, TRIPLETS, ridge=1e-3, margin=0.01, batch_size=10)
    assert_same_matrix(fitted.get_mahalanobis_matrix(), last)
    assert fitted.n_updates_ == fitted.n_iter_ == 40
    assert 0 < fitted.n_projections_ <= 40
    assert fitted.triplet_curve_[-1] == 400


def test_a_batch_larger_than_all_triplets_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^SPML has 5 triplets, fewer than the 10 of one batch"):
        SPML(n_triplets=5).fit(X, Y)


@needs_data
@pytest.mark.parametrize(("name", "published"), [("letter", 3.1), ("dna", 9.1)])
def test_the_papers_errors(name: str, published: float) -> None:
    data = datasets.load(name, data_dir=FOLDER)
    fitted = SPML(random_state=0).fit(data.X_train, data.y_train)
    assert fitted.n_updates_ == 10_000
    assert 100 * split_error(data, fitted) == pytest.approx(published, abs=1.5)
