"""QueryAdapter: what it learns, decides, refuses and keeps."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone

import calipers
from calipers import QueryAdapter
from calipers.search import holdouts
from search_log import turned, unrelated
from watch import Tasks

LOG = turned()


def adapter(**how: Any) -> QueryAdapter:
    return QueryAdapter(random_state=0, **how)


@pytest.fixture(scope="module")
def fitted() -> QueryAdapter:
    return adapter().fit(*LOG)


def test_a_rotation_is_learned_for_queries_and_documents_that_are_new(
    fitted: QueryAdapter,
) -> None:
    new = turned(seed=0, n=200)
    assert fitted.helps_
    assert fitted.report_.comparisons["documents"].gain > 0.05
    assert fitted.report_.comparisons["queries"].gain > 0.05
    assert str(fitted.report_).startswith("The map helps: ")
    assert "The map helps" in repr(fitted)
    assert (
        fitted.score(*new)
        > calipers.retrieval_report(calipers.QueryMap(np.eye(12)), *new)
        .comparisons["given"]
        .after["ndcg@10"]
    )


def test_pairs_that_say_nothing_leave_the_identity() -> None:
    log = unrelated()
    found = adapter().fit(*log)
    assert not found.helps_
    assert repr(found).endswith(found.report_.verdict)
    assert found.report_.verdict.startswith("No gain that can be told from nothing")
    assert np.array_equal(found.map_.query_components, np.eye(12))
    assert found.map_.facts["helps"] is False


def test_clone_pickle_and_file(fitted: QueryAdapter, tmp_path: Path) -> None:
    assert clone(fitted).get_params() == fitted.get_params()
    assert not hasattr(clone(fitted), "map_")
    images = fitted.transform(LOG.queries)
    assert np.array_equal(pickle.loads(pickle.dumps(fitted)).transform(LOG.queries), images)
    fitted.save(tmp_path / "a.safetensors")
    loaded = calipers.load(tmp_path / "a.safetensors")
    assert np.array_equal(loaded.transform(LOG.queries), images)
    assert loaded.facts["verdict"] == fitted.report_.verdict


@pytest.mark.parametrize("kind", ["list", "pandas", "polars", "arrow", "ids", "float16"])
def test_the_same_log_in_another_form_gives_the_same_map(
    kind: str, fitted: QueryAdapter, tmp_path: Path
) -> None:
    ids: dict[str, Any] = {}
    queries, documents, pairs = LOG
    columns = {"query": pairs[:, 0], "document": pairs[:, 1]}
    if kind == "list":
        pairs = pairs.tolist()
    elif kind == "ids":
        ids = {
            "query_ids": [f"q{i}" for i in range(200)],
            "document_ids": np.arange(200) * 7,
        }
        pairs = [(f"q{q}", int(d) * 7) for q, d in pairs]
    elif kind == "float16":
        documents = np.memmap(tmp_path / "d", np.float16, "w+", shape=(200, 12))
        documents[:] = LOG.documents
    else:
        make = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "arrow": pa.table}[kind]
        pairs = make({"clicks": np.ones(200), **columns})
    found = adapter().fit(queries, documents, pairs, **ids).map_.query_components
    tolerance = 2e-2 if kind == "float16" else 0
    assert np.allclose(found, fitted.map_.query_components, rtol=0, atol=tolerance)


def test_threads_do_not_change_a_bit(fitted: QueryAdapter, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CALIPERS_NUM_THREADS", "1")
    again = adapter().fit(*LOG)
    assert np.array_equal(again.map_.query_components, fitted.map_.query_components)
    assert again.report_ == fitted.report_


def test_pairs_count_by_their_weight() -> None:
    once = adapter(pull=0.1).fit(*LOG)
    doubled = np.concatenate([LOG.pairs, LOG.pairs[:60]])
    weights = np.r_[np.full(60, 2.0), np.ones(140)]
    twice = adapter(pull=0.1).fit(LOG.queries, LOG.documents, doubled)
    heavy = adapter(pull=0.1).fit(*LOG, sample_weight=weights)
    assert np.array_equal(twice.map_.query_components, heavy.map_.query_components)
    assert not np.array_equal(once.map_.query_components, heavy.map_.query_components)


def test_both_sides_and_fewer_dimensions() -> None:
    both = adapter(side="both", pull=0.1).fit(*LOG)
    assert both.helps_
    assert both.map_.document_components is not None
    assert not np.array_equal(both.map_.document_components, np.eye(12))
    small = adapter(n_components=9).fit(*LOG)
    assert small.transform(LOG.queries).shape == (200, 9)
    assert small.transform_documents(LOG.documents).shape == (200, 9)
    tiny = adapter(n_components=4, pull=small.pull_).fit(*LOG)
    assert np.allclose(  # any first few components are those of a fit with so many
        tiny.map_.query_components, small.map_.query_components[:4], atol=1e-6
    )


def test_queries_without_a_pair_are_left_out_and_the_report_says_so() -> None:
    more = np.vstack([LOG.queries, np.ones((7, 12), dtype=np.float32)])
    found, plain = adapter().fit(more, LOG.documents, LOG.pairs), adapter().fit(*LOG)
    assert np.array_equal(found.map_.query_components, plain.map_.query_components)
    said = "Queries without a pair were left out: 7."
    assert found.report_.remarks == (said,)
    assert said in str(found.report_)
    assert said in found.report_.to_html()
    assert plain.report_.remarks == ()


def test_folds_of_many_pairs_learn_from_a_part(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = adapter().fit(*LOG)
    monkeypatch.setattr(holdouts, "MOST_LEARNED", 40)
    found = adapter(pull=whole.pull_).fit(*LOG)
    assert found.report_.comparisons["documents"].gain < whole.report_.comparisons["documents"].gain
    assert np.array_equal(found.map_.query_components, whole.map_.query_components)


def test_what_was_chosen_can_be_passed_back() -> None:
    found = adapter().fit(*LOG)
    again = adapter(pull=found.pull_, temperature=found.temperature_).fit(*LOG)
    assert np.array_equal(found.map_.query_components, again.map_.query_components)


def test_steps_are_told() -> None:
    tasks = Tasks()
    adapter(pull=1.0).set_callbacks(tasks).fit(*LOG)
    assert len(tasks.ended) == 12  # eleven steps and the whole


@pytest.mark.parametrize(
    "how",
    [{"side": "document"}, {"generalize_to": "all"}, {"pull": 0.0},
     {"temperature": -1.0}, {"n_folds": 1}, {"n_components": 99}],
)  # fmt: skip
def test_parameters_are_checked(how: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=str(next(iter(how)))):
        adapter(**how).fit(*LOG)


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([[i, 3] for i in range(6)], "pairs has 6 queries and 1 documents, too few for 5 folds"),
        ([[i, i] for i in range(3)], "pairs has 3 queries and 3 documents, too few for 5 folds"),
    ],
)
def test_too_few_pairs_to_hold_out_are_refused(pairs: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        adapter().fit(np.eye(6), np.eye(6), pairs)


def test_a_fit_that_fails_changes_nothing(fitted: QueryAdapter) -> None:
    before = dict(vars(fitted))
    with pytest.raises(ValueError, match="queries have 12 features where 5 are needed"):
        fitted.fit(LOG.queries, LOG.documents[:, :5], LOG.pairs)
    assert {name: vars(fitted)[name] for name in before} == before
