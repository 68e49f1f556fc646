"""Learners on a Dask cluster: the same bits as on one machine, however the rows are cut."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_digits

da = pytest.importorskip("dask.array", reason="needs the extra dask")
pytest.importorskip("distributed", reason="needs the extra dask")

import pandas as pd  # noqa: E402
from dask import dataframe, delayed  # noqa: E402

from calipers import ITML, LEGO, OASIS, SPML, TripletSGD  # noqa: E402
from calipers.dask import (  # noqa: E402  # noqa: E402
    ApproximateTripletSGD,
    AveragedTripletSGD,
    DaskITML,
    DaskLEGO,
    DaskOASIS,
    DaskSPML,
    DaskTripletSGD,
    approximate,
    partitions,
)
from calipers.dask.cluster import ClusterError  # noqa: E402
from calipers.triplets._product import Anchors  # noqa: E402
from dask_cluster import bounded, cluster_of  # noqa: E402

X, Y = load_digits(return_X_y=True)
X = X[:600] + np.random.default_rng(0).random((600, 64))
Y = Y[:600]
SETTINGS: dict[str, Any] = {"n_triplets": 1000, "random_state": 0}


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with cluster_of(2) as opened:
        yield opened


def parts(values: Any, cuts: list[int]) -> list[Any]:
    return [delayed(part, pure=False) for part in np.split(values, cuts)]


def same_as_in_memory(client: Any, settings: dict[str, Any], rows: Any, labels: Any) -> None:
    """Compare a fit on the cluster, of X and Y in whatever form, with one in memory."""
    expected = TripletSGD(**settings).fit(X, Y)
    got = bounded(lambda: DaskTripletSGD(**settings).fit(rows, labels, client=client))
    np.testing.assert_array_equal(got.components_, expected.components_)
    np.testing.assert_array_equal(got.classes_, expected.classes_)
    assert got.n_features_in_ == 64
    assert got.notes_ == expected.notes_


@pytest.mark.parametrize(
    ("rows_each", "columns_each", "start"),
    [(600, 64, "auto"), (250, 64, "classes"), (97, 20, "features"), (33, 64, "identity")],
)
def test_arrays_give_the_bits_of_one_machine(
    client: Any, rows_each: int, columns_each: int, start: Any
) -> None:
    rows = da.from_array(X, chunks=(rows_each, columns_each))
    labels = da.from_array(Y, chunks=200)
    same_as_in_memory(client, {**SETTINGS, "start": start}, rows, labels)


def test_one_worker_or_two_make_no_difference() -> None:
    with cluster_of(1) as alone:
        rows, labels = da.from_array(X, chunks=(97, 64)), da.from_array(Y, chunks=97)
        same_as_in_memory(alone, {**SETTINGS, "start": "classes"}, rows, labels)


def test_delayed_parts_of_which_some_are_empty(client: Any) -> None:
    cuts = [0, 100, 100, 101, 450]
    same_as_in_memory(client, SETTINGS, parts(X, cuts), parts(Y, cuts))


def test_a_class_that_lives_in_one_partition_only(client: Any) -> None:
    order = np.argsort(Y, kind="stable")
    expected = TripletSGD(**SETTINGS).fit(X[order], Y[order])
    cuts = np.flatnonzero(np.diff(Y[order])) + 1
    rows, labels = parts(X[order], cuts.tolist()), parts(Y[order], cuts.tolist())
    got = bounded(lambda: DaskTripletSGD(**SETTINGS).fit(rows, labels, client=client))
    np.testing.assert_array_equal(got.components_, expected.components_)


def test_parts_of_different_types_are_taken_in_the_widest(client: Any) -> None:
    whole = np.concatenate([X[:200].astype(np.float32), X[200:400], np.rint(X[400:])])
    expected = TripletSGD(**SETTINGS).fit(whole, Y)
    pieces = [X[:200].astype(np.float32), X[200:400], np.rint(X[400:]).astype(np.int8)]
    rows = [delayed(piece, pure=False) for piece in pieces]
    labels = parts(Y, [200, 400])
    got = bounded(lambda: DaskTripletSGD(**SETTINGS).fit(rows, labels, client=client))
    np.testing.assert_array_equal(got.components_, expected.components_)


def test_float32_stays_so(client: Any) -> None:
    rows = X.astype(np.float32)
    settings = {**SETTINGS, "start": "classes"}
    expected = TripletSGD(**settings).fit(rows, Y)
    cut = da.from_array(rows, chunks=(130, 64)), da.from_array(Y, chunks=130)
    got = bounded(lambda: DaskTripletSGD(**settings).fit(*cut, client=client))
    np.testing.assert_array_equal(got.components_, expected.components_)


def test_classes_of_one_row_are_found_over_partitions(client: Any) -> None:
    labels = Y.copy()
    labels[[50, 333]] = [20, 21]
    with pytest.warns(UserWarning, match="2 of 12 classes have one row only"):
        expected = TripletSGD(**SETTINGS).fit(X, labels)
    cut = da.from_array(X, chunks=(130, 64)), da.from_array(labels, chunks=130)
    with pytest.warns(UserWarning, match="2 of 12 classes have one row only") as caught:
        got = DaskTripletSGD(**SETTINGS).fit(*cut, client=client)
    np.testing.assert_array_equal(got.components_, expected.components_)
    assert caught[0].filename == __file__


def test_dataframes_and_their_names(client: Any) -> None:
    frame = pd.DataFrame(X, columns=[f"pixel {i}" for i in range(64)])
    frame["digit"] = [f"digit {label}" for label in Y]
    table = dataframe.from_pandas(frame, npartitions=4)
    rows = table.drop(columns="digit")
    expected = TripletSGD(**SETTINGS).fit(frame.drop(columns="digit"), frame["digit"])
    got = bounded(lambda: DaskTripletSGD(**SETTINGS).fit(rows, table["digit"], client=client))
    np.testing.assert_array_equal(got.components_, expected.components_)
    assert got.feature_names_in_.tolist() == expected.feature_names_in_.tolist()
    images = got.transform(rows)
    assert list(images.columns) == got.get_feature_names_out().tolist()
    computed = bounded(lambda: client.compute(images).result())
    np.testing.assert_allclose(computed.to_numpy(), expected.transform(frame.drop(columns="digit")))


@pytest.mark.parametrize(
    ("there", "here", "settings"),
    [
        (DaskSPML, SPML, {"n_triplets": 300}),
        (DaskOASIS, OASIS, {"n_triplets": 300}),
        (DaskLEGO, LEGO, {"n_triplets": 300}),
        (DaskITML, ITML, {"n_triplets": 20, "tol": 0.1}),
    ],
)
def test_the_siblings(client: Any, there: Any, here: Any, settings: dict[str, Any]) -> None:
    expected = here(**settings, random_state=0).fit(X, Y)
    cut = da.from_array(X, chunks=(130, 64)), da.from_array(Y, chunks=130)
    got = bounded(lambda: there(**settings, random_state=0).fit(*cut, client=client))
    np.testing.assert_array_equal(got.components_, expected.components_)


def test_given_triplets_point_through_all_partitions(client: Any) -> None:
    every_row = np.tile(np.arange(600), (400, 1))
    triplets = np.random.default_rng(1).permuted(every_row, axis=1)[:, :3]
    expected = TripletSGD(random_state=0).fit_triplets(X, triplets)
    rows = da.from_array(X, chunks=(70, 64))
    got = bounded(
        lambda: DaskTripletSGD(random_state=0).fit_triplets(rows, triplets, client=client)
    )
    np.testing.assert_array_equal(got.components_, expected.components_)


def test_transform_is_lazy_and_goes_block_by_block(client: Any) -> None:
    fitted = TripletSGD(**SETTINGS, n_components=3).fit(X, Y)
    there = DaskTripletSGD(**SETTINGS, n_components=3)
    there.components_, there.n_features_in_ = fitted.components_, 64
    images = there.transform(da.from_array(X, chunks=(250, 20)))
    assert images.chunks == ((250, 250, 100), (3,))
    computed = bounded(lambda: client.compute(images).result())
    np.testing.assert_allclose(computed, fitted.transform(X))
    np.testing.assert_array_equal(there.transform(X), fitted.transform(X))


def test_tasks_have_names_that_tell_what_they_do(client: Any) -> None:
    cut = da.from_array(X, chunks=(250, 64)), da.from_array(Y, chunks=250)
    bounded(lambda: DaskTripletSGD(**SETTINGS).fit(*cut, client=client))
    names = client.run_on_scheduler(lambda dask_scheduler: list(dask_scheduler.task_prefixes))
    steps = ("read", "summarize", "encode", "take", "anchors", "search", "merge")
    assert {f"calipers-{step}" for step in steps} <= set(names)


def test_callbacks_see_every_step(client: Any) -> None:
    ended = []

    class Counter:
        def setup(self, estimator: Any, context: Any) -> None: ...

        def teardown(self, estimator: Any, context: Any) -> None: ...

        def on_fit_task_begin(self, estimator: Any, context: Any) -> None: ...

        def on_fit_task_end(self, estimator: Any, context: Any) -> None:
            ended.append(context.task_name)

    cut = da.from_array(X, chunks=(250, 64)), da.from_array(Y, chunks=250)
    learner = DaskTripletSGD(**SETTINGS).set_callbacks(Counter())
    bounded(lambda: learner.fit(*cut, client=client))
    assert ended.count("step") == learner.n_iter_ == 40


def test_a_mean_of_metrics_is_nearly_as_good(client: Any) -> None:
    """It separates classes better than the data do as they are."""
    cut = da.from_array(X, chunks=(200, 64)), da.from_array(Y, chunks=200)
    first, again = (
        bounded(lambda: AveragedTripletSGD(**SETTINGS).fit(*cut, client=client)) for _ in range(2)
    )
    np.testing.assert_array_equal(first.components_, again.components_)
    assert first.n_partitions_used_ == 3
    whole = TripletSGD(**SETTINGS).fit(X, Y)
    M, expected = first.get_mahalanobis_matrix(), whole.get_mahalanobis_matrix()
    cosine = np.vdot(M, expected) / np.linalg.norm(M) / np.linalg.norm(expected)
    assert cosine > 0.9
    with pytest.raises(ValueError, match="The theorems are about one walk"):
        first.theory()


def test_a_mean_of_one_metric_is_that_metric(client: Any) -> None:
    cut = da.from_array(X, chunks=(600, 64)), da.from_array(Y, chunks=600)
    got = bounded(lambda: AveragedTripletSGD(**SETTINGS).fit(*cut, client=client))
    seed = int(TripletSGD(**SETTINGS)._streams()[0].integers(2**31, size=1)[0])
    expected = TripletSGD(n_triplets=1000, start="identity", guard=False, random_state=seed)
    expected.fit(X, Y)
    np.testing.assert_allclose(
        got.get_mahalanobis_matrix(), expected.get_mahalanobis_matrix(), atol=1e-12
    )


def test_no_partition_to_learn_from(client: Any) -> None:
    order = np.argsort(Y, kind="stable")
    cuts = (np.flatnonzero(np.diff(Y[order])) + 1).tolist()
    rows, labels = parts(X[order], cuts), parts(Y[order], cuts)
    with pytest.raises(ClusterError, match=r"^None of the 10 partitions has rows of two classes"):
        bounded(lambda: AveragedTripletSGD(**SETTINGS).fit(rows, labels, client=client))


def test_an_index_with_few_cells_finds_the_nearest(client: Any) -> None:
    """Partitions so small that all cells are probed: nothing is missed."""
    pytest.importorskip("faiss", reason="needs the extra faiss")
    expected = TripletSGD(**SETTINGS).fit(X, Y)
    cut = da.from_array(X, chunks=(250, 64)), da.from_array(Y, chunks=250)
    got = bounded(lambda: ApproximateTripletSGD(**SETTINGS).fit(*cut, client=client))
    np.testing.assert_array_equal(got.components_, expected.components_)


def test_an_index_finds_most_of_the_nearest(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("faiss", reason="needs the extra faiss")
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(4000, 8))
    labels = rng.integers(3, size=4000)
    chosen = np.arange(0, 4000, 40)
    anchors = Anchors(rows[chosen], labels[chosen], chosen)
    part = partitions.Partition(rows, labels)
    exact = partitions.search(part, 0, anchors, None, (3, 3))
    shares = []
    for n_probed in (2, 8):
        monkeypatch.setattr(approximate, "LISTS_PROBED", n_probed)
        found = approximate.search_by_index(part, 0, anchors, None, (3, 3))
        assert (found.to_same >= exact.to_same * (1 - 1e-12)).all()
        own, other = found.same >= 0, found.other >= 0
        assert (labels[found.same] == labels[chosen][:, None])[own].all()
        assert (labels[found.other] != labels[chosen][:, None])[other].all()
        assert not (found.same == chosen[:, None]).any()
        shares.append(np.mean(found.same == exact.same))
    assert 0.3 < shares[0] < shares[1] < 1.0
