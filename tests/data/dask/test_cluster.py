"""Workers that die, join or are absent, and partitions that are wrong: nothing hangs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris

da = pytest.importorskip("dask.array", reason="needs the extra dask")
pytest.importorskip("distributed", reason="needs the extra dask")

from dask import delayed  # noqa: E402

from calipers.data.dask import cluster  # noqa: E402
from calipers.data.dask.cluster import ClusterError, client_of  # noqa: E402
from calipers.data.dask.samples import cluster_samples  # noqa: E402
from calipers.data.samples import MemorySamples  # noqa: E402
from dask_cluster import LONGEST, bounded, cluster_of, kill, pause_once, when_there  # noqa: E402

X, Y = load_iris(return_X_y=True)
ANCHORS = np.arange(0, 150, 3)


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with cluster_of(2) as opened:
        yield opened


@pytest.fixture
def own() -> Iterator[Any]:
    """A cluster of one test, which may kill its workers."""
    with cluster_of(2) as opened:
        yield opened


def cut(samples_each: int = 40) -> tuple[Any, Any]:
    return da.from_array(X, chunks=(samples_each, 4)), da.from_array(Y, chunks=samples_each)


def same_neighbours_as_in_memory(client: Any) -> None:
    def found() -> Any:
        samples, _ = cluster_samples(client, *cut())
        return samples.nearest(ANCHORS, n_same=3, n_other=3)

    expected = MemorySamples(X, Y).nearest(ANCHORS, n_same=3, n_other=3)
    for got, lists in zip(bounded(found), expected, strict=True):
        np.testing.assert_array_equal(got, lists)


@pytest.mark.parametrize("step", ["read", "search"])
def test_a_worker_killed_while_neighbours_are_searched(own: Any, tmp_path: Path, step: str) -> None:
    file = tmp_path / "pid"
    pause_once(own, "calipers.data.dask.partitions", step, file)
    killer = when_there(file, kill)
    same_neighbours_as_in_memory(own)
    killer.join(LONGEST)
    assert file.exists()


def test_a_worker_added_while_neighbours_are_searched(own: Any, tmp_path: Path) -> None:
    """The one that waits is killed once there is a third."""
    file = tmp_path / "pid"
    pause_once(own, "calipers.data.dask.partitions", "search", file)

    def grow(pid: int) -> None:
        own.cluster.scale(3)
        own.wait_for_workers(3, timeout=60)
        kill(pid)

    grower = when_there(file, grow)
    same_neighbours_as_in_memory(own)
    grower.join(LONGEST)
    assert len(own.scheduler_info(n_workers=-1)["workers"]) >= 2


def fails(
    what: str, X: Any, y: Any, client: Any, kind: type[Exception] | tuple[Any, ...] = ValueError
) -> None:
    with pytest.raises(kind, match=what):
        bounded(lambda: cluster_samples(client, X, y))


def test_a_partition_that_raises_is_named(client: Any) -> None:
    def broken() -> Any:
        raise OSError("the disk is gone")

    samples = [delayed(X[:50]), delayed(broken)(), delayed(X[100:])]
    labels = [delayed(part) for part in np.split(Y, 3)]
    what = r"^partition 2 of 3 failed \(OSError: the disk is gone\)\.$"
    fails(what, samples, labels, client, ClusterError)


def test_partitions_that_do_not_fit_together(client: Any) -> None:
    labels = [delayed(part) for part in np.split(Y, 3)]
    samples = [delayed(X[:50]), delayed(X[50:100]), delayed(X[100:, :3])]
    fails("^partition 3 of X has 3 features, but the first has 4: give", samples, labels, client)
    samples = [delayed(X[:50]), delayed(X[50:90]), delayed(X[100:])]
    what = r"^partition 2 of 3 failed \(ValueError: it has 40 samples but 50"
    fails(what, samples, labels, client, ClusterError)
    fails("^y has 2 partitions for the 3 of X: cut both alike", samples, labels[:2], client)
    samples = [delayed(X[:50]), delayed(X[50:100].astype(str)), delayed(X[100:])]
    what = r"^partition 2 of 3 failed \(ValueError: it has shape \(50, 4\)"
    fails(what, samples, labels, client, ClusterError)
    empty = [delayed(X[:0])], [delayed(Y[:0])]
    fails("^X has no samples in its 1 partitions: give some", *empty, client)


def test_a_value_that_is_not_finite_is_named_by_its_sample(client: Any) -> None:
    values = X.copy()
    values[130, 2] = np.inf
    gap = r"^Input X contains NaN or infinity in sample 130, feature 2 \(partition 4\): fill"
    fails(gap, da.from_array(values, chunks=(40, 4)), cut()[1], client)


def test_labels_are_as_many_as_samples(client: Any) -> None:
    what = "^y has 149 labels for the 150 samples of X"
    fails(what, cut()[0], da.from_array(Y[1:], chunks=40), client)


def test_what_is_no_dask_collection(client: Any) -> None:
    what = "^X must be a dask array, a dask dataframe or a list of delayed"
    fails(what, X, Y, client, TypeError)
    fails("^y must be a dask array, a dask dataframe or a list", cut()[0], Y, client, TypeError)
    fails("^X must have shape", da.zeros((3, 3, 3)), cut()[1], client)


def test_a_cluster_without_workers_is_not_waited_for_forever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cluster, "LONGEST_WITHOUT_WORKERS", 1.0)
    monkeypatch.setattr(cluster, "_POLL_EVERY", 0.5)
    what = "^The cluster has had no worker for 1 s while partition was"
    with cluster_of(0) as empty:
        fails(what, *cut(), empty, ClusterError)


def test_a_partition_that_kills_every_worker(own: Any) -> None:
    def deadly() -> Any:
        import os
        import signal

        os.kill(os.getpid(), signal.SIGKILL)

    what = "^partition failed .KilledWorker: each worker that tried it has died"
    fails(what, [delayed(deadly)()], [delayed(Y)], own, ClusterError)


def test_a_local_cluster_is_started_where_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    import distributed

    true = distributed.LocalCluster
    small = {"n_workers": 1, "threads_per_worker": 1}  # not as many workers as cores
    monkeypatch.setattr(distributed, "LocalCluster", lambda **more: true(**small, **more))

    def found() -> Any:
        with client_of(None) as used:
            samples, _ = cluster_samples(used, *cut(75))
            return samples.take(ANCHORS)

    np.testing.assert_array_equal(bounded(found), X[ANCHORS])
