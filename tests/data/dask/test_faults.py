"""Whatever happens to a cluster during a fit: the same bits, or one sentence, and never a hang."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris

da = pytest.importorskip("dask.array", reason="needs the extra dask")
distributed = pytest.importorskip("distributed", reason="needs the extra dask")

import dask  # noqa: E402
from dask import delayed  # noqa: E402

from calipers import TripletSGD  # noqa: E402
from calipers.data.dask.cluster import ClusterError  # noqa: E402
from dask_cluster import LONGEST, bounded, cluster_of, kill, pause_once, when_there  # noqa: E402

X, Y = load_iris(return_X_y=True)
SETTINGS: dict[str, Any] = {"n_triplets": 2000, "n_rounds": 2, "random_state": 0}


@pytest.fixture(autouse=True)
def impatient() -> Iterator[None]:
    """Silent workers are given up after seconds, not minutes."""
    with dask.config.set(
        {"distributed.scheduler.worker-ttl": "2s", "distributed.comm.timeouts.connect": "2s"}
    ):
        yield


@contextmanager
def processes() -> Iterator[tuple[Any, Any]]:
    """A client, and its scheduler as a process of its own."""
    module = [sys.executable, "-m"]
    with ExitStack() as stack:

        def started(name: str, *options: str) -> Any:
            command = [*module, f"distributed.cli.{name}", *options, "--no-dashboard"]
            process = stack.enter_context(
                subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
            )
            stack.callback(process.kill)
            return process

        scheduler = started("dask_scheduler", "--host", "127.0.0.1", "--port", "0")
        address = next(line.split()[-1] for line in scheduler.stderr if "Scheduler at:" in line)
        for _ in range(2):
            started("dask_worker", address, "--nthreads", "1", "--no-nanny")
        client = distributed.Client(address, set_as_default=False, timeout=60)
        stack.callback(client.close)
        client.wait_for_workers(2, timeout=60)
        yield client, scheduler


def fitted(client: Any) -> Any:
    parts = da.from_array(X, chunks=(40, 4)), da.from_array(Y, chunks=40)
    return bounded(lambda: TripletSGD(**SETTINGS).fit(*parts, client=client))


@pytest.mark.parametrize(
    ("fault", "step"),
    [
        *(("killed", step) for step in ("read", "search", "take")),
        *(("retired", step) for step in ("read", "search", "take")),
        ("stopped", "search"),  # its heart is missed after seconds, whatever it was doing
    ],
)
def test_a_worker_that_is_lost_changes_no_bit(fault: str, step: str, tmp_path: Path) -> None:
    with cluster_of(2) as client:
        pause_once(client, "calipers.data.dask.partitions", step, tmp_path / "pid")

        def act(pid: int) -> None:
            pids = {process: name for name, process in client.run(os.getpid).items()}
            if fault == "retired":
                client.cluster.scale(3)
                client.retire_workers([pids[pid]])
            (kill if fault != "stopped" else lambda pid: os.kill(pid, signal.SIGSTOP))(pid)

        acting = when_there(tmp_path / "pid", act)
        np.testing.assert_array_equal(
            fitted(client).components_, TripletSGD(**SETTINGS).fit(X, Y).components_
        )
        acting.join(LONGEST)
        with suppress(ProcessLookupError):  # a worker that has stopped need not be gone yet
            kill(int((tmp_path / "pid").read_text()))


@pytest.mark.parametrize("fault", ["restart", "close", "scheduler"])
def test_a_cluster_that_is_lost_is_told_in_one_sentence(fault: str, tmp_path: Path) -> None:
    with ExitStack() as stack:
        scheduler: Any = None
        if fault == "scheduler":
            client, scheduler = stack.enter_context(processes())
        else:
            client = stack.enter_context(cluster_of(2))
        pause_once(client, "calipers.data.dask.partitions", "search", tmp_path / "pid")
        acts = {
            "restart": lambda pid: client.restart(),
            "close": lambda pid: client.close(),
            "scheduler": lambda pid: scheduler.kill(),
        }
        acting = when_there(tmp_path / "pid", acts[fault])
        with pytest.raises(ClusterError, match=r"^The cluster was restarted, closed or lost its"):
            fitted(client)
        acting.join(LONGEST)


def test_workers_that_run_out_of_memory() -> None:
    def greedy() -> Any:
        import time

        kept = [np.ones(1 << 22) for _ in range(40)]
        time.sleep(60)  # until its nanny notices
        return kept

    with cluster_of(1, memory_limit="400MB") as client:
        parts = [delayed(greedy)()], [delayed(Y)]
        with pytest.raises(ClusterError, match="KilledWorker: each worker that tried it has died"):
            bounded(lambda: TripletSGD(**SETTINGS).fit(*parts, client=client))
