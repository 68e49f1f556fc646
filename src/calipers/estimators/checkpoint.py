"""Long fits write where they are into a file, from which a fit that was killed goes on."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from numbers import Integral
from pathlib import Path
from time import monotonic
from typing import Any, Self

import numpy as np

from calipers.arrays import IndexArray
from calipers.data.files import FileError
from calipers.data.samples import Samples
from calipers.metric.file.checkpoint import State, read_states, write_states

_NO_SEED = (
    "{} can only go on from a checkpoint with a whole number as random_state, got {!r}: pass one."
)


@dataclass(frozen=True)
class Checkpoint:
    """The file of a fit, and how often it is written."""

    path: Path
    every_seconds: float


class Checkpointed:
    """``set_checkpoint`` of a learner."""

    _checkpoint: Checkpoint | None = None

    def set_checkpoint(
        self, path: str | os.PathLike[str] | None, *, every_seconds: float = 60.0
    ) -> Self:
        """Let fits write where they are into a file, and go on from it if it is there.

        A fit that was killed and is started again with the same data, settings and seed ends with
        the same bits as one that was not: neighbours are searched anew, then the solver goes on
        from the file. A file of another fit is refused. When a fit is done its file is removed.

        Parameters
        ----------
        path : path-like or None
            Name of the file; None writes none.
        every_seconds : float, default=60.0
            Time between two writings, which are between two portions of triplets.

        Returns
        -------
        Self
            The estimator. Clones of it write no file.
        """
        self._checkpoint = None if path is None else Checkpoint(Path(path), every_seconds)
        return self

    def _checkpoint_observer(
        self, samples: Samples, examples: IndexArray | None = None
    ) -> CheckpointObserver | None:
        """An observer of this fit, or None without a file."""
        if self._checkpoint is None:
            return None
        return CheckpointObserver(self._checkpoint, fit_digest(self, samples, examples))


class CheckpointObserver:
    """Writes the solvers' states of all rounds so far, and puts rounds where they were."""

    def __init__(self, checkpoint: Checkpoint, digest: str) -> None:
        self.checkpoint, self.digest = checkpoint, digest
        self._states = read_states(checkpoint.path)
        if self._states and self._states[0].facts["digest"] != digest:
            raise FileError(
                f"The checkpoint {str(checkpoint.path)!r} is of a fit with other data or settings: "
                "remove it to start anew, or name another."
            )
        self._written = monotonic()
        self._latest: tuple[int, Any] | None = None

    def begin_round(self, number: int, round_: Any) -> None:
        """Restore the round's solver if the file has its state."""
        if number < len(self._states):
            state = self._states[number]
            round_.solver.restore(state)
            round_.n_done = int(state.facts["n_portions"])

    def end_round(self) -> None:
        """Keep the state that the round has ended with."""
        self._collect()

    def before_step(self) -> None:
        """Nothing to do."""

    def after_step(self, number: int, round_: Any) -> bool:
        """Write the file if it is time to."""
        self._latest = number, round_
        if monotonic() - self._written >= self.checkpoint.every_seconds:
            self._write()
        return False

    def close(self, *, is_over: bool) -> None:
        """The fit has ended: remove the file, or where it was interrupted write it."""
        if is_over:
            self.checkpoint.path.unlink(missing_ok=True)
        else:
            self._write()

    def _write(self) -> None:
        self._collect()
        write_states(self.checkpoint.path, self._states)
        self._written = monotonic()

    def _collect(self) -> None:
        """Put the state of the present round behind those of the rounds before."""
        if self._latest is None:
            return
        number, round_ = self._latest
        arrays, facts = round_.solver.state()
        state = State(arrays, {**facts, "digest": self.digest, "n_portions": round_.n_done})
        self._states = [*self._states[:number], state]


def fit_digest(estimator: Any, samples: Samples, examples: IndexArray | None) -> str:
    """A digest of the settings and of all data: samples, labels, weights and examples."""
    digest = hashlib.sha256()
    seed = getattr(estimator, "random_state", 0)
    if not isinstance(seed, Integral):
        raise ValueError(_NO_SEED.format(type(estimator).__name__, seed))
    _add_settings(digest, estimator)
    for first, block in samples.blocks():
        digest.update(f"{first}{block.shape}{block.dtype}".encode())
        digest.update(np.ascontiguousarray(block).tobytes())
    if len(samples.class_sizes):
        labels = samples.labels_of(np.arange(samples.shape[0]))
        digest.update(np.ascontiguousarray(labels).tobytes())
    for array in (samples.weights, examples):
        if array is not None:
            digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def _add_settings(digest: Any, value: Any) -> None:
    """Add what a setting is: learners by their own settings, arrays by their bytes.

    A candidate without a seed has that of the learner around it.
    """
    if hasattr(value, "get_params"):
        digest.update(type(value).__name__.encode())
        for name, setting in sorted(value.get_params(deep=False).items()):
            if name == "random_state" and not (setting is None or isinstance(setting, Integral)):
                raise ValueError(_NO_SEED.format(type(value).__name__, setting))
            if name != "n_jobs":  # the result does not depend on it
                digest.update(name.encode())
                _add_settings(digest, setting)
    elif isinstance(value, list | tuple):
        digest.update(f"{len(value)} items".encode())
        for item in value:
            _add_settings(digest, item)
    elif isinstance(value, np.ndarray):
        digest.update(f"{value.shape}{value.dtype}".encode())
        digest.update(np.ascontiguousarray(value).tobytes())
    else:
        digest.update(repr(value).encode())
