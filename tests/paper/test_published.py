"""The published tables."""

from __future__ import annotations

from math import isnan

import pytest

from calipers.paper import published
from calipers.paper.systems import SYSTEMS


def test_published_tables_add_up() -> None:
    """Sums of columns, added up from the source of the paper, catch a mistyped digit."""
    assert sum(size.n_train for size in published.SIZES.values()) == 1_651_947
    errors = {m: sum(row[m] for row in published.ERRORS.values()) for m in published.TABULATED}
    assert errors["as-sgd"] == pytest.approx(154.7)
    assert errors["euclidean"] == pytest.approx(202.0)
    assert sum(row["hr-sgd"] for row in published.SECONDS.values()) == pytest.approx(478.4)
    assert sum(row["as-sgd"] for row in published.UPDATES.values()) == pytest.approx(251_869.7)
    assert isnan(published.ERRORS["poker"]["lmnn"])


def test_they_cover_the_same_data_sets_and_the_systems() -> None:
    tables = (published.ERRORS, published.SECONDS, published.UPDATES)
    assert all(list(table) == list(published.SIZES) for table in tables)
    compared = [system.published for system in SYSTEMS.values() if system.published]
    assert tuple(dict.fromkeys(compared)) == published.TABULATED
