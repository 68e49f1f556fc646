"""Samples on a Dask cluster: every answer, and every fit, is that of the same samples in memory."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

da = pytest.importorskip("dask.array", reason="needs the extra dask")
distributed = pytest.importorskip("distributed", reason="needs the extra dask")

from dask import dataframe, delayed  # noqa: E402

from calipers.data.cluster import client_of, cluster_samples  # noqa: E402
from calipers.data.samples import (  # noqa: E402
    MemorySamples,
    Samples,
    is_collection,
)
from learners import for_triplets, little, random_triplets  # noqa: E402

RNG = np.random.default_rng(0)
X = RNG.normal(size=(150, 4))
CODES = np.append(RNG.integers(0, 3, 149), 3)  # the last sample is a singleton
NAMES = np.array(["ash", "birch", "cedar", "dogwood"])
COLUMNS = ["a", "b", "c", "d"]


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    options: dict[str, Any] = {"n_workers": 2, "threads_per_worker": 1, "memory_limit": 0}
    with (
        distributed.LocalCluster(dashboard_address=":0", **options) as cluster,
        distributed.Client(cluster, set_as_default=False) as opened,
    ):
        opened.wait_for_workers(2, timeout=60)
        yield opened


def parts(values: Any, *cuts: int) -> list[Any]:
    return [delayed(part, pure=False) for part in np.split(values, cuts or (40, 40, 90))]


def frames(*columns: str) -> list[Any]:
    """One partition for each string of one-letter names."""
    pieces = zip(np.split(X, len(columns)), columns, strict=True)
    return [
        delayed(pd.DataFrame(piece, columns=list(names)), pure=False) for piece, names in pieces
    ]


def test_answers_are_those_in_memory(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("calipers.data.samples.BLOCK_ELEMENTS", 4 * 32)
    found = cluster_samples(client, parts(X), parts(NAMES[CODES]))
    assert found.classes.tolist() == NAMES.tolist()
    expected = MemorySamples(X, CODES)
    pairs: list[tuple[Samples, Samples]] = [
        (found, expected),
        (found.transformed(np.negative), expected.transformed(np.negative)),
    ]
    indices, examples = RNG.permutation(150)[:40], RNG.integers(0, 150, (20, 3))
    for samples, true in pairs:
        assert samples.shape == true.shape
        np.testing.assert_array_equal(samples.class_sizes, true.class_sizes)
        np.testing.assert_array_equal(samples.singletons, [149])
        np.testing.assert_array_equal(samples.limits(), true.limits())
        np.testing.assert_array_equal(samples.take(indices), true.take(indices))
        np.testing.assert_array_equal(samples.labels_of(indices), true.labels_of(indices))
        np.testing.assert_array_equal(
            np.hstack(samples.nearest(indices, n_same=3, n_other=2)),
            np.hstack(true.nearest(indices, n_same=3, n_other=2)),
        )
        for (first, got), (start, block) in zip(samples.blocks(), true.blocks(), strict=True):
            assert first == start
            np.testing.assert_array_equal(got, block)
        taken, local = samples.local(examples, n_columns=3)
        np.testing.assert_array_equal(taken[local], true.take(examples.ravel()).reshape(20, 3, 4))
    assert found.take(indices[:0]).shape == (0, 4)


def test_types_and_names_of_partitions(client: Any) -> None:
    samples = cluster_samples(client, da.from_array(X.astype(np.float32), chunks=(40, 3)))
    assert samples.class_sizes.tolist() == samples.classes.tolist() == []
    assert samples.feature_names is None
    assert samples.take(np.arange(3)).dtype == np.float32
    named = cluster_samples(client, frames("abcd", "abcd"))
    assert named.feature_names is not None
    assert named.feature_names.tolist() == COLUMNS


GAP = np.where(np.arange(150) == 131, np.nan, X[:, 0])


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (lambda: (parts(np.column_stack([X, GAP])),), r"^Partition 4 of X and y: Input X contains"),
        (lambda: (parts(X), parts(GAP)), r"^Partition 4 of X and y: .* missing label"),
        (
            lambda: (parts(X), parts(CODES, 41, 41, 90)),
            r"^Partition \d of X and y: .* inconsistent",
        ),
        (lambda: (parts(X), parts(CODES, 75)), r"^y has 2 partitions for the 4 of X"),
        (lambda: (parts(X, 75), [*parts(CODES, 75)[:1], *parts(NAMES[CODES], 75)[1:]]), "^y has n"),
        (lambda: (frames("abcd", "bacd"),), r"^Partition 2 of X has the columns \('b', 'a'"),
        (lambda: (parts(X[:0], 0),), r"^X has no samples in its 2 partitions"),
    ],
)
def test_partitions_that_cannot_be_used(
    client: Any, given: Callable[[], tuple[Any, ...]], sentence: str
) -> None:
    with pytest.raises(ValueError, match=sentence):
        cluster_samples(client, *given())


def test_labels_must_be_on_the_cluster_too(client: Any) -> None:
    with pytest.raises(TypeError, match=r"^y must be a dask array, a dask dataframe or a list"):
        cluster_samples(client, parts(X), CODES)


# Fits

IRIS, IRIS_Y = load_iris(return_X_y=True)
KINDS: dict[str, Callable[[], Any]] = {
    "array": lambda: (da.from_array(IRIS, chunks=(47, 3)), da.from_array(IRIS_Y, chunks=60)),
    "delayed": lambda: (parts(IRIS), parts(IRIS_Y)),
    "dataframe": lambda: (
        dataframe.from_pandas(pd.DataFrame(IRIS, columns=COLUMNS), npartitions=3),
        dataframe.from_pandas(pd.Series(IRIS_Y), npartitions=3),
    ),
}


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("TripletSGD", "array"),
        ("TripletSGD", "delayed"),
        ("TripletSGD", "dataframe"),
        ("WithinClass", "delayed"),
        ("NCA", "array"),
        ("ITML", "array"),
        ("Scaled", "dataframe"),
    ],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_fit_has_the_bits_of_one_machine(client: Any, name: str, kind: str) -> None:
    expected = little(name).fit(IRIS, IRIS_Y)
    got = little(name).fit(*KINDS[kind](), client=client)
    np.testing.assert_array_equal(got.components_, expected.components_)
    assert got.n_features_in_ == 4
    assert hasattr(got, "feature_names_in_") == (kind == "dataframe")


def test_given_triplets_point_through_all_partitions(client: Any) -> None:
    triplets = random_triplets(150, 400)
    expected = for_triplets("TripletSGD").fit_triplets(IRIS, triplets)
    got = for_triplets("TripletSGD").fit_triplets(KINDS["array"]()[0], triplets, client=client)
    np.testing.assert_array_equal(got.components_, expected.components_)


def test_a_worker_that_is_killed_changes_no_bit(client: Any, tmp_path: Path) -> None:
    client.run(_kill_in_first_search, str(tmp_path / "killed"))
    got = little("TripletSGD").fit(*KINDS["array"](), client=client)
    assert (tmp_path / "killed").exists()
    expected = little("TripletSGD").fit(IRIS, IRIS_Y)
    np.testing.assert_array_equal(got.components_, expected.components_)


def _kill_in_first_search(mark: str) -> None:
    """Let the first call of a search, on any worker, kill the process of the worker."""
    from calipers.data import cluster

    true = cluster._search

    def search(*arguments: Any) -> Any:
        try:
            os.close(os.open(mark, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return true(*arguments)
        return os.kill(os.getpid(), signal.SIGKILL)

    cluster._search = search  # type: ignore[assignment]


def test_an_error_closes_a_cluster_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    closed = []

    class Opened:
        def __init__(self, *arguments: Any, **settings: Any) -> None: ...

        def __enter__(self) -> Opened:
            return self

        def __exit__(self, *error: Any) -> None:
            closed.append(type(self).__name__)

    class Local(Opened): ...

    monkeypatch.setattr(distributed, "LocalCluster", Local)
    monkeypatch.setattr(distributed, "Client", Opened)
    with pytest.raises(ZeroDivisionError), client_of(None):
        1 / 0  # noqa: B018
    assert closed == ["Opened", "Local"]


# Collections


def test_collections_are_recognised() -> None:
    table = KINDS["dataframe"]()[0]
    for one in (da.zeros((3, 2)), table, table["a"], delayed(X), [delayed(X)], (delayed(X),)):
        assert is_collection(one), type(one)
    for other in (X, X.tolist(), [], [delayed(X), X], pd.DataFrame(X), None, "X.npy"):
        assert not is_collection(other), type(other)


def test_what_is_no_collection_does_not_import_dask() -> None:
    code = (
        "import sys, numpy as np; from calipers.data.samples import is_collection\n"
        "assert not any(map(is_collection, [np.eye(2), [[1.0]], [], None]))\n"
        "sys.exit('dask' in sys.modules or 'distributed' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def computed(collection: Any) -> Any:
    return collection.compute(scheduler="synchronous")


def test_collections_are_transformed_lazily() -> None:
    table, frame = KINDS["dataframe"]()[0], pd.DataFrame(IRIS, columns=COLUMNS)
    fitted = little("TripletSGD", n_components=2).fit(frame, IRIS_Y)
    images = fitted.transform(table)
    assert images.npartitions == 3
    expected = fitted.transform(frame)
    np.testing.assert_allclose(computed(images), expected)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        of_array = fitted.transform(da.from_array(IRIS, chunks=(60, 3)))
    assert of_array.chunks == ((60, 60, 30), (2,))
    np.testing.assert_allclose(computed(of_array), expected)
    with pytest.raises(ValueError, match="feature names should match"):
        fitted.transform(table[["b", "a", "c", "d"]])
    with pytest.raises(TypeError, match=r"^X must be a dask array or a dask dataframe, got"):
        fitted.transform([delayed(IRIS)])


def test_values_that_are_not_finite_are_refused_when_computed() -> None:
    wrong = IRIS.copy()
    wrong[30, 2] = np.nan
    images = little("Euclidean").fit(IRIS).transform(da.from_array(wrong, chunks=(25, 4)))
    with pytest.raises(ValueError, match=r"^Input X contains NaN"):
        computed(images)
