"""One fit in a process of its own: ``python -m benchmarks.learners.answer LEARNER GIVEN ANSWER``.

LEARNER is a file beside this one, with a function ``fit(X, y, *, seed, cap, ...)`` that
returns a `Fitted`; GIVEN and ANSWER are NPZ files. It runs in environments that have neither
calipers nor scikit-learn. Where a learner has a ``warm_up`` it is called before anything is
measured. Memory is how far the fit raises that of the process; a process that asks for more
than the machine has left fails, rather than drive it out of memory.
"""

from __future__ import annotations

import json
import sys
import warnings
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from time import process_time

import numpy as np

from benchmarks.clock import resident_megabytes
from benchmarks.learners.fitted import Fitted


def main(learner_name: str, given_file: str, answer_file: str) -> None:
    """Fit what the file has, and write what came of it."""
    warnings.simplefilter("ignore")
    learner = import_module(f"benchmarks.learners.{learner_name}")
    with np.load(given_file) as given:
        X, y, how = given["X"], given["y"], json.loads(str(given["how"]))
    _limit_memory()
    if hasattr(learner, "warm_up"):
        learner.warm_up(X, y, **how)
    fitted: list[Fitted] = []
    started = process_time()
    megabytes = resident_megabytes(lambda: fitted.append(learner.fit(X, y, **how)))
    cpu_seconds = process_time() - started
    facts = {name: value for name, value in asdict(fitted[0]).items() if name != "components"}
    np.savez(
        answer_file,
        components=fitted[0].components,
        facts=json.dumps({**facts, "megabytes": megabytes, "cpu_seconds": cpu_seconds}),
    )


def _limit_memory() -> None:
    """Let Linux refuse memory beyond what is available now."""
    listing = Path("/proc/meminfo")
    if not listing.is_file():
        return
    import resource

    for line in listing.read_text().splitlines():
        if line.startswith("MemAvailable"):
            available = 1024 * int(line.split()[1])
            resource.setrlimit(resource.RLIMIT_DATA, (available, available))


if __name__ == "__main__":
    main(*sys.argv[1:])
