"""Workers that die, come or are not there, and partitions that are wrong: nothing hangs."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from time import monotonic, sleep
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris

da = pytest.importorskip("dask.array", reason="needs the extra dask")
pytest.importorskip("distributed", reason="needs the extra dask")

from dask import delayed  # noqa: E402

from calipers import TripletSGD  # noqa: E402
from calipers.dask import AveragedTripletSGD, DaskTripletSGD, cluster  # noqa: E402
from calipers.dask.cluster import ClusterError  # noqa: E402
from dask_cluster import LONGEST, bounded, cluster_of  # noqa: E402

X, Y = load_iris(return_X_y=True)
SETTINGS: dict[str, Any] = {"n_triplets": 500, "random_state": 0}


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with cluster_of(2) as opened:
        yield opened


@pytest.fixture
def own() -> Iterator[Any]:
    """A cluster of one test, which may kill its workers."""
    with cluster_of(2) as opened:
        yield opened


def cut(rows_each: int = 40) -> tuple[Any, Any]:
    return da.from_array(X, chunks=(rows_each, 4)), da.from_array(Y, chunks=rows_each)


def pause_once(client: Any, module: str, function: str, file: Path) -> None:
    """Let the first call of a function, on any worker, write its process' number and wait."""

    def patch(module: str, function: str, file: str) -> None:
        import importlib
        import os
        import time

        home = importlib.import_module(module)
        true = getattr(home, function)

        def paused(*arguments: Any) -> Any:
            try:
                handle = os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY)
            except FileExistsError:
                return true(*arguments)
            os.write(handle, str(os.getpid()).encode())
            os.close(handle)
            time.sleep(120)  # far longer than the test lets it
            raise AssertionError("this worker was to be killed")

        setattr(home, function, paused)

    client.run(patch, module, function, str(file))


def when_there(file: Path, act: Any) -> Thread:
    """Act on the number in a file as soon as it is there."""

    def look() -> None:
        end = monotonic() + LONGEST
        while monotonic() < end and not (file.exists() and file.read_text()):
            sleep(0.05)
        act(int(file.read_text()))

    thread = Thread(target=look, daemon=True)
    thread.start()
    return thread


def kill(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)


@pytest.mark.parametrize("step", ["read", "search"])
def test_a_worker_killed_while_neighbours_are_searched(own: Any, tmp_path: Path, step: str) -> None:
    expected = TripletSGD(**SETTINGS).fit(X, Y)
    file = tmp_path / "pid"
    pause_once(own, "calipers.dask.partitions", step, file)
    killer = when_there(file, kill)
    got = bounded(lambda: DaskTripletSGD(**SETTINGS).fit(*cut(), client=own))
    killer.join(LONGEST)
    assert file.exists()
    np.testing.assert_array_equal(got.components_, expected.components_)


def test_a_worker_killed_while_metrics_are_averaged(own: Any, tmp_path: Path) -> None:
    learner = AveragedTripletSGD(**SETTINGS)
    expected = bounded(lambda: learner.fit(*cut(75), client=own)).components_
    file = tmp_path / "pid"
    pause_once(own, "calipers.dask.averaged", "walk", file)
    killer = when_there(file, kill)
    got = bounded(lambda: learner.fit(*cut(75), client=own))
    killer.join(LONGEST)
    assert file.exists()
    np.testing.assert_array_equal(got.components_, expected)


def test_a_worker_added_while_neighbours_are_searched(own: Any, tmp_path: Path) -> None:
    """The one that waits is killed once there is a third."""
    expected = TripletSGD(**SETTINGS).fit(X, Y)
    file = tmp_path / "pid"
    pause_once(own, "calipers.dask.partitions", "search", file)

    def grow(pid: int) -> None:
        own.cluster.scale(3)
        own.wait_for_workers(3, timeout=60)
        kill(pid)

    grower = when_there(file, grow)
    got = bounded(lambda: DaskTripletSGD(**SETTINGS).fit(*cut(), client=own))
    grower.join(LONGEST)
    assert len(own.scheduler_info(n_workers=-1)["workers"]) >= 2
    np.testing.assert_array_equal(got.components_, expected.components_)


def fails(what: str, rows: Any, labels: Any, client: Any) -> None:
    with pytest.raises((ClusterError, ValueError, TypeError), match=what):
        bounded(lambda: DaskTripletSGD(**SETTINGS).fit(rows, labels, client=client))


def test_a_partition_that_raises_is_named(client: Any) -> None:
    def broken() -> Any:
        raise OSError("the disk is gone")

    rows = [delayed(X[:50]), delayed(broken)(), delayed(X[100:])]
    labels = [delayed(part) for part in np.split(Y, 3)]
    fails(r"^partition 2 of 3 failed \(OSError: the disk is gone\)\.$", rows, labels, client)


def test_partitions_that_do_not_fit_together(client: Any) -> None:
    labels = [delayed(part) for part in np.split(Y, 3)]
    rows = [delayed(X[:50]), delayed(X[50:100]), delayed(X[100:, :3])]
    fails("^partition 3 of X has 3 features, but the first has 4: give", rows, labels, client)
    rows = [delayed(X[:50]), delayed(X[50:90]), delayed(X[100:])]
    fails(r"^partition 2 of 3 failed \(ValueError: it has 40 rows but 50", rows, labels, client)
    fails("^y has 2 partitions for the 3 of X: cut both alike", rows, labels[:2], client)
    rows = [delayed(X[:50]), delayed(X[50:100].astype(str)), delayed(X[100:])]
    fails(r"^partition 2 of 3 failed \(ValueError: it has shape \(50, 4\)", rows, labels, client)
    empty = [delayed(X[:0])], [delayed(Y[:0])]
    fails("^X has no rows in its 1 partitions: give some", *empty, client)


def test_a_value_that_is_not_finite_is_named_by_its_row(client: Any) -> None:
    rows = X.copy()
    rows[130, 2] = np.inf
    gap = r"^Input X contains NaN or infinity in row 130, feature 2 \(partition 4\): fill"
    fails(gap, da.from_array(rows, chunks=(40, 4)), cut()[1], client)


def test_labels_are_as_many_as_rows(client: Any) -> None:
    rows, _ = cut()
    fails("^y has 149 labels for the 150 rows of X", rows, da.from_array(Y[1:], chunks=40), client)


def test_what_is_no_dask_collection(client: Any) -> None:
    fails("^X must be a dask array, a dask dataframe or a list of delayed", X, Y, client)
    fails("^y must be a dask array, a dask dataframe or a list", cut()[0], Y, client)
    fails("^X must have shape", da.zeros((3, 3, 3)), cut()[1], client)


def test_a_cluster_without_workers_is_not_waited_for_forever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cluster, "LONGEST_WITHOUT_WORKERS", 1.0)
    monkeypatch.setattr(cluster, "_LOOK_EVERY", 0.5)
    with cluster_of(0) as empty:
        fails("^The cluster has had no worker for 1 s while partition was", *cut(), empty)


def test_a_partition_that_kills_every_worker(own: Any) -> None:
    def deadly() -> Any:
        import os
        import signal

        os.kill(os.getpid(), signal.SIGKILL)

    rows, labels = [delayed(deadly)()], [delayed(Y)]
    fails("^partition failed .KilledWorker: each worker that tried it has died", rows, labels, own)


def test_a_local_cluster_is_started_where_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    import distributed

    monkeypatch.setattr(
        distributed, "LocalCluster", _small(distributed.LocalCluster)
    )  # not as many workers as cores
    expected = TripletSGD(**SETTINGS).fit(X, Y)
    got = bounded(lambda: DaskTripletSGD(**SETTINGS).fit(*cut(75)))
    np.testing.assert_array_equal(got.components_, expected.components_)


def _small(local_cluster: Any) -> Any:
    return lambda **settings: local_cluster(n_workers=1, threads_per_worker=1, **settings)
