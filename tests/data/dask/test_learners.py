"""Every learner on a Dask cluster: the bits of one machine, however the samples are cut."""

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

from calipers.notices import DataWarning  # noqa: E402
from dask_cluster import bounded, cluster_of  # noqa: E402
from learners import LEARNERS, for_triplets, little, random_triplets  # noqa: E402
from watch import Tasks  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

X, Y = load_digits(return_X_y=True)
X = (X + np.random.default_rng(0).random(X.shape))[:600, :40]
Y = Y[:600]
NAMES = [f"pixel {i}" for i in range(40)]
TRIPLETS = random_triplets(600, 400)
PAIRS, SIGNS = TRIPLETS[:, :2], np.arange(400) % 2 * 2 - 1
LESS: dict[str, dict[str, Any]] = {
    "ITML": {"n_triplets": 20, "tol": 0.1},
    "LMNN": {"max_iter": 3},
    "MCML": {"max_iter": 3},
}


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with cluster_of(2) as opened:
        yield opened


def parts(values: Any, cuts: list[int]) -> list[Any]:
    return [delayed(part, pure=False) for part in np.split(values, cuts)]


def frame() -> pd.DataFrame:
    return pd.DataFrame(X, columns=NAMES).assign(digit=[f"digit {label}" for label in Y])


def collections(kind: str) -> tuple[Any, Any]:
    """X and Y as a dask collection; a delayed list has partitions that are empty."""
    if kind == "array":
        return da.from_array(X, chunks=(97, 16)), da.from_array(Y, chunks=200)
    if kind == "delayed":
        cuts = [0, 100, 100, 101, 450]
        return parts(X, cuts), parts(Y, cuts)
    table = dataframe.from_pandas(frame(), npartitions=4)
    return table.drop(columns="digit"), table["digit"]


def same_as_in_memory(client: Any, learner: Any, here: tuple[Any, Any], there: Any) -> Any:
    expected = type(learner)(**learner.get_params(deep=False)).fit(*here)
    got = bounded(lambda: learner.fit(*there, client=client))
    np.testing.assert_array_equal(got.components_, expected.components_)
    assert got.n_features_in_ == 40
    for name in ("classes_", "notes_", "n_updates_", "init_", "chosen_", "feature_names_in_"):
        if hasattr(expected, name):
            np.testing.assert_array_equal(getattr(got, name), getattr(expected, name))
    return got


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("kind", ["array", "dataframe", "delayed"])
def test_every_learner_takes_every_collection(client: Any, name: str, kind: str) -> None:
    if name == "MLKR" and kind == "dataframe":
        pytest.skip("its labels are no numbers")
    here = (frame()[NAMES], frame()["digit"]) if kind == "dataframe" else (X, Y)
    same_as_in_memory(client, little(name, **LESS.get(name, {})), here, collections(kind))


@pytest.mark.parametrize("init", ["auto", "identity", "scaled", "within-class"])
@pytest.mark.parametrize(("method", "n_components"), [("all-pairs-sgd", 2), ("ha-sgd", None)])
def test_every_init(client: Any, init: str, method: str, n_components: int | None) -> None:
    learner = little("TripletSGD", init=init, method=method, n_rounds=2, n_components=n_components)
    same_as_in_memory(client, learner, (X, Y), collections("array"))


@pytest.mark.parametrize(
    "name", ["TripletSGD", "SPML", "SCML", "OASIS", "LEGO", "ITML", "MetricCV"]
)
def test_given_triplets_point_through_all_partitions(client: Any, name: str) -> None:
    there, less = collections("array")[0], LESS.get(name, {})
    expected = for_triplets(name, **less).fit_triplets(X, TRIPLETS)
    got = bounded(lambda: for_triplets(name, **less).fit_triplets(there, TRIPLETS, client=client))
    np.testing.assert_array_equal(got.components_, expected.components_)


@pytest.mark.parametrize("name", ["LEGO", "ITML", "MetricCV"])
def test_given_pairs_point_through_all_partitions(client: Any, name: str) -> None:
    there, less = collections("array")[0], LESS.get(name, {})
    if name == "MetricCV":
        less = {"candidates": [("euclidean", little("Euclidean")), ("lego", little("LEGO"))]}
    expected = little(name, **less).fit_pairs(X, PAIRS, SIGNS)
    got = bounded(lambda: little(name, **less).fit_pairs(there, PAIRS, SIGNS, client=client))
    np.testing.assert_array_equal(got.components_, expected.components_)


def test_one_worker_or_two_make_no_difference() -> None:
    with cluster_of(1) as alone:
        learner = little("TripletSGD", init="within-class")
        same_as_in_memory(alone, learner, (X, Y), collections("array"))


def test_a_class_that_lives_in_one_partition_only(client: Any) -> None:
    order = np.argsort(Y, kind="stable")
    cuts = (np.flatnonzero(np.diff(Y[order])) + 1).tolist()
    there = parts(X[order], cuts), parts(Y[order], cuts)
    same_as_in_memory(client, little("TripletSGD"), (X[order], Y[order]), there)


def test_types_of_parts(client: Any) -> None:
    """The widest one is taken; float32 stays so."""
    pieces = [X[:200].astype(np.float32), X[200:400], np.rint(X[400:]).astype(np.int8)]
    whole = np.concatenate([piece.astype(float) for piece in pieces])
    there = [delayed(piece, pure=False) for piece in pieces], parts(Y, [200, 400])
    same_as_in_memory(client, little("TripletSGD"), (whole, Y), there)
    single = X.astype(np.float32)
    there = da.from_array(single, chunks=(130, 40)), da.from_array(Y, chunks=130)
    same_as_in_memory(client, little("TripletSGD", init="within-class"), (single, Y), there)


def test_singletons_are_found_over_partitions(client: Any) -> None:
    labels = Y.copy()
    labels[[50, 333]] = [20, 21]
    there = da.from_array(X, chunks=(130, 40)), da.from_array(labels, chunks=130)
    with pytest.warns(DataWarning, match="2 of 12 classes have one sample only"):
        same_as_in_memory(client, little("TripletSGD"), (X, labels), there)


@pytest.mark.parametrize("name", LEARNERS)
def test_transform_of_a_collection_is_lazy(client: Any, name: str) -> None:
    fitted = little(name, n_components=3, **LESS.get(name, {})).fit(X, Y)
    images = fitted.transform(da.from_array(X, chunks=(250, 16)))
    assert images.chunks == ((250, 250, 100), (3,))
    computed = bounded(lambda: client.compute(images).result())
    np.testing.assert_allclose(computed, fitted.transform(X))


def test_transform_of_a_dataframe_has_the_names_out(client: Any) -> None:
    fitted = little("TripletSGD", n_components=3).fit(frame()[NAMES], Y)
    images = fitted.transform(collections("dataframe")[0])
    assert list(images.columns) == fitted.get_feature_names_out().tolist()
    computed = bounded(lambda: client.compute(images).result())
    np.testing.assert_allclose(computed.to_numpy(), fitted.transform(frame()[NAMES]))


def test_tasks_and_callbacks(client: Any) -> None:
    watch = Tasks()
    learner = little("TripletSGD").set_callbacks(watch)
    bounded(lambda: learner.fit(*collections("array"), client=client))
    assert watch.ended.count(("TripletSGD", "step")) == len(learner.loss_curve_) > 10
    names = client.run_on_scheduler(lambda dask_scheduler: list(dask_scheduler.task_prefixes))
    steps = ("read", "summarize", "encode", "take", "anchors", "search", "merge")
    assert {f"calipers-{step}" for step in steps} <= set(names)


def test_labels_must_be_on_the_cluster_too(client: Any) -> None:
    with pytest.raises(TypeError, match=r"^y must be a dask array, a dask dataframe or a list"):
        bounded(lambda: little("TripletSGD").fit(collections("array")[0], Y, client=client))


def test_names_of_columns_are_those_of_the_last_fit(client: Any) -> None:
    names = [f"f{i}" for i in range(X.shape[1])]
    table = dataframe.from_pandas(pd.DataFrame(X, columns=names), npartitions=3)
    labels = dataframe.from_pandas(pd.Series(Y), npartitions=3)
    learner = little("TripletSGD")
    bounded(lambda: learner.fit(table, labels, client=client))
    assert learner.feature_names_in_.tolist() == names
    with pytest.raises(ValueError, match="the same in another order"):
        learner.transform(table[names[::-1]])
    gaps = dataframe.from_pandas(pd.Series(Y, dtype="Int64").mask(Y == 1), npartitions=3)
    with pytest.raises(ValueError, match="missing label at index"):
        bounded(lambda: learner.fit(table, gaps, client=client))
    assert learner.feature_names_in_.tolist() == names  # a fit that fails changes nothing
    bounded(lambda: learner.fit(*collections("array"), client=client))
    assert not hasattr(learner, "feature_names_in_")
