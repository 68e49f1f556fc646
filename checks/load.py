"""Load: a thousand fits in one process, many processes from a cold cache, many threads.

Memory must not grow with the number of fits, eight processes that compile at the same time into
one empty cache must all come to the same metric, and so must sixteen threads.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import perf_counter

import numpy as np
import numpy.typing as npt
from benchmarks.rows import Column, Report
from sklearn.base import clone

from hostile import LEARNERS, make

MOST_GROWTH = 20.0  # MB over all fits after the first hundred

TABLES = {
    "load": [
        Column("load", "load", width=40),
        Column("times", "times", ","),
        Column("MB before", "before", ".1f", 10),
        Column("MB after", "after", ".1f", 10),
        Column("seconds", "seconds", ".1f"),
        Column("holds", "holds"),
    ],
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("--fits", type=int, default=1000)
    parser.add_argument("--processes", type=int, default=8)
    parser.add_argument("--threads", type=int, default=16)


def run(args: argparse.Namespace, report: Report) -> None:
    """All three."""
    started = perf_counter()
    before, after = memory_over(args.fits)
    report.add(
        "load",
        load="fits in one process, every learner",
        times=args.fits,
        before=before,
        after=after,
        seconds=perf_counter() - started,
        holds=after - before <= MOST_GROWTH,
    )
    started = perf_counter()
    digests = from_cold(args.processes)
    report.add(
        "load",
        load="processes at once, one cold cache",
        times=args.processes,
        seconds=perf_counter() - started,
        holds=len(set(digests)) == 1 and not digests[0].startswith("failed"),
        digests=digests,
    )
    started = perf_counter()
    report.add(
        "load",
        load="threads that transform at once",
        times=args.threads,
        holds=same_in_threads(args.threads),
        seconds=perf_counter() - started,
    )


def memory_over(n_fits: int) -> tuple[float, float]:
    """MB of this process after a tenth of the fits, and after all."""
    case, names, before = make(n=40, d=6), list(LEARNERS), 0.0
    for number in range(n_fits):
        clone(LEARNERS[names[number % len(names)]]).fit(case.X, case.y)
        if number == max(n_fits // 10, len(names)):
            before = resident()
    return before, resident()


def resident() -> float:
    """MB that this process holds in memory."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def from_cold(n_processes: int) -> list[str]:
    """What processes come to that start together."""
    code = (
        "import hashlib, numpy as np, calipers\n"
        "X = np.random.default_rng(0).standard_normal((60, 5))\n"
        "fitted = calipers.TripletSGD('as-sgd', n_rounds=1, n_triplets=300)\n"
        "fitted.set_params(random_state=0).fit(X, np.arange(60) % 3)\n"
        "print(hashlib.sha256(fitted.components_.tobytes()).hexdigest()[:12])"
    )
    processes = [
        subprocess.Popen(
            [sys.executable, "-W", "error", "-c", code],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(n_processes)
    ]
    answers = [process.communicate() for process in processes]
    return [out.strip() or f"failed: {problem[-500:]}" for out, problem in answers]


def same_in_threads(n_threads: int) -> bool:
    """Whether threads that transform samples at the same time all get what one gets."""
    case = make(n=500, d=8)
    fitted = clone(LEARNERS["as-sgd"]).fit(case.X, case.y)

    def digest(_: int) -> str:
        images: npt.NDArray[np.float64] = fitted.transform(case.X)
        return hashlib.sha256(images.tobytes()).hexdigest()

    with ThreadPoolExecutor(n_threads) as pool:
        return set(pool.map(digest, range(50 * n_threads))) == {digest(0)}
