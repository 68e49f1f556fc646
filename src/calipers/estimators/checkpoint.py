"""Long fits write where they are into a file, from which a fit that was killed goes on."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
import numpy.typing as npt

from calipers.arrays import IndexArray
from calipers.estimators.stages import Staged
from calipers.files import FileError
from calipers.files.checkpoint import State, read_states, write_states
from calipers.sampling import ByRunningNorm
from calipers.solver import Point, Solver

_ROWS_LOOKED_AT = 10_000


@dataclass
class Checkpoint:
    """The file of a fit, and when it was last written.

    Each stage of a fit has a state of its own, so that stages that are over need not be
    walked again.
    """

    path: Path
    every_seconds: float
    _states: list[State] = field(default_factory=list, repr=False)
    _written: float = field(default=0.0, repr=False)
    _latest: tuple[int, Any, str, int] | None = field(default=None, repr=False)

    def open(self) -> None:
        """Read the file, if there is one."""
        self._states = read_states(self.path)
        self._written, self._latest = monotonic(), None

    def resume(self, stage: int, learner: Any, identity: str) -> int:
        """Put the learner where it was in a stage; returns how many portions it has seen.

        Raises
        ------
        FileError
            The file is of other data or settings.
        ValueError
            The learner has no state to go on from.
        """
        solver = _solver_of(learner)
        if stage >= len(self._states):
            return 0
        state = self._states[stage]
        if state.facts["identity"] != identity:
            raise FileError(
                f"The checkpoint {str(self.path)!r} is of a fit with other data or settings: "
                "remove it to start anew, or name another."
            )
        restore(solver, state)
        return int(state.facts["n_portions"])

    def note(self, stage: int, learner: Any, identity: str, n_portions: int, n_seen: int) -> None:
        """A portion of a stage was seen: write the state, if it is time to."""
        self._latest = stage, learner, identity, n_seen
        if n_seen == n_portions:  # what the next stage starts from
            self._take_up()
        if monotonic() - self._written >= self.every_seconds:
            self._write()

    def close(self, *, is_over: bool) -> None:
        """The fit has ended: write where it is, or if it is over remove the file."""
        if is_over:
            self.path.unlink(missing_ok=True)
        else:
            self._write()

    def _write(self) -> None:
        self._take_up()
        write_states(self.path, self._states)
        self._written = monotonic()

    def _take_up(self) -> None:
        """Put the state of the stage under way behind those of the stages before."""
        if self._latest is None:
            return
        stage, learner, identity, n_seen = self._latest
        arrays, facts = state_of(_solver_of(learner))
        state = State(arrays, {**facts, "identity": identity, "n_portions": n_seen})
        self._states = [*self._states[:stage], state]


def _solver_of(learner: Any) -> Solver:
    """The solver whose state is kept; with stages, that of the present one."""
    solver = learner.solver if isinstance(learner, Staged) else learner
    if not isinstance(solver, Solver):
        raise ValueError(
            "Only TripletSGD and SPML can go on from a checkpoint: fit this learner without."
        )
    return solver


def state_of(solver: Solver) -> State:
    """All that the next steps of a solver depend on."""
    M, total, tally, memory = solver.iterate
    curve = [(point.n_triplets, point.loss, point.n_updates) for point in solver.curve]
    policy = solver.recipe.policy
    running = policy.largest if isinstance(policy, ByRunningNorm) else np.empty(0)
    arrays: dict[str, npt.NDArray[Any]] = {
        "M": M,
        "total": total,
        "tally": np.frombuffer(tally.tobytes(), dtype=np.uint8),
        "memory": memory,
        "curve": np.array(curve, dtype=np.float64).reshape(-1, 3),
        "running": running,
    }
    facts = {
        "n_iterations": solver.n_iterations,
        "pace": [solver._gap, solver._rank],
        "streams": [rng.bit_generator.state for rng in (solver.accept_rng, solver.pick_rng)],
    }
    return State({name: array.copy() for name, array in arrays.items()}, facts)


def restore(solver: Solver, state: State) -> None:
    """Put a solver, just started, where another was."""
    arrays, facts = state
    for target, name in zip(solver.iterate, ("M", "total", "tally", "memory"), strict=True):
        target[...] = arrays[name].view(target.dtype).reshape(target.shape)
    if isinstance(solver.recipe.policy, ByRunningNorm):
        solver.recipe.policy.largest[...] = arrays["running"]
    solver.curve[:] = [Point(int(n), float(loss), int(u)) for n, loss, u in arrays["curve"]]
    solver.n_iterations = facts["n_iterations"]
    solver._gap, solver._rank = facts["pace"]
    for rng, stream in zip((solver.accept_rng, solver.pick_rng), facts["streams"], strict=True):
        rng.bit_generator.state = stream


def identity_of(
    estimator: Any, X: npt.NDArray[Any], examples: IndexArray, sizes: tuple[int, ...]
) -> str:
    """A digest of the settings, of the first examples and of rows that they are made of."""
    digest = hashlib.sha256(type(estimator).__name__.encode())
    settings = {name: repr(value) for name, value in estimator.get_params().items()}
    digest.update(json.dumps([settings, sizes, X.shape[1], str(X.dtype)], sort_keys=True).encode())
    digest.update(np.ascontiguousarray(examples).tobytes())
    digest.update(np.ascontiguousarray(X[examples[:_ROWS_LOOKED_AT, 0]]).tobytes())
    digest.update(np.ascontiguousarray(X[examples[:_ROWS_LOOKED_AT, 1]]).tobytes())
    return digest.hexdigest()
