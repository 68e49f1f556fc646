"""Fits of the first edition, in an environment of its own.

The first edition is commit fb71157 of this repository. Its interpreter is started once and fits
one hold-out after the other; arrays go through files. Its seconds are of the fit alone.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import IO, Any, Self

import numpy as np

from benchmarks.learners.fitted import Fitted
from calipers.arrays import FloatArray, IndexArray

WORKER = Path(__file__).parent / "learners" / "first_edition_worker.py"


class FirstEditionError(RuntimeError):
    """The process of the first edition has ended; the message says why."""


class FirstEdition:
    """A process that fits learners of the first edition, until the block is left.

    Parameters
    ----------
    python : str or Path
        Interpreter of an environment in which the first edition is installed.
    worker : Path, optional
        The program that it runs.
    """

    def __init__(self, python: str | Path, worker: Path = WORKER) -> None:
        self._folder = TemporaryDirectory()
        self._errors: IO[str] = (self._path / "errors.txt").open("w")
        # isolated: neither this repository nor its folder of benchmarks is on the worker's path
        self._process = subprocess.Popen(
            [str(python), "-I", str(worker), self._folder.name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.communicate()  # no more lines: it ends
        self._errors.close()
        self._folder.cleanup()

    @property
    def _path(self) -> Path:
        return Path(self._folder.name)

    def fit(self, X: FloatArray, y: IndexArray, seed: int) -> Fitted:
        """Fit its default."""
        return self.learn("TripletSGD", {"random_state": seed}, X, y)

    def learn(self, learner: str, settings: dict[str, Any], X: FloatArray, y: IndexArray) -> Fitted:
        """Fit one of its learners; iterations are its updates.

        Raises
        ------
        ValueError
            It refuses the data; the sentence is its own.
        """
        np.savez(self._path / "given.npz", X=X, y=y)
        reply = json.loads(self._ask(json.dumps({"learner": learner, "settings": settings})))
        if "refused" in reply:
            raise ValueError(reply["refused"])
        with np.load(self._path / "answer.npz") as answer:
            return Fitted(answer["components"], reply["seconds"], reply["n_updates"], False)

    def _ask(self, line: str) -> str:
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        try:
            stdin.write(f"{line}\n")
            stdin.flush()
        except OSError:
            reply = ""
        else:
            reply = stdout.readline()
        if not reply:
            told = (self._path / "errors.txt").read_text().strip().splitlines()
            raise FirstEditionError(told[-1] if told else "it ended without a word")
        return reply
