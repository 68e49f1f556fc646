"""The state of a fit that is under way, as a safetensors file: numbers and text only."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from calipers.files.errors import FileError, reason
from calipers.files.whole import written_whole

_KEY = "calipers-checkpoint"
_FORMAT = 1
Arrays: TypeAlias = dict[str, npt.NDArray[Any]]


class State(NamedTuple):
    """Arrays and plain facts from which a learner goes on."""

    arrays: Arrays
    facts: dict[str, Any]


def write_states(path: Path, states: list[State]) -> None:
    """Write the states of all stages so far, whole or not at all.

    Raises
    ------
    FileError
        The place cannot be written to.
    """
    from safetensors.numpy import save

    arrays = {
        f"{stage}.{name}": np.ascontiguousarray(array)
        for stage, state in enumerate(states)
        for name, array in state.arrays.items()
    }
    entry = {
        "format": _FORMAT,
        "stages": [state.facts for state in states],
        "checksum": _checksum(arrays),
    }
    with written_whole(path) as stream:
        stream.write(save(arrays, metadata={_KEY: json.dumps(entry)}))


def read_states(path: Path) -> list[State]:
    """Read what `write_states` wrote; none where there is no file.

    Raises
    ------
    FileError
        The file is damaged, or no checkpoint.
    """
    if not path.exists():
        return []
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="np") as opened:
            entry = json.loads((opened.metadata() or {})[_KEY])
            arrays = {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118
        if entry["format"] != _FORMAT or entry["checksum"] != _checksum(arrays):
            raise ValueError("its numbers do not have the checksum in its header")
        stages = enumerate(entry["stages"])
        return [State(_of_stage(arrays, stage), facts) for stage, facts in stages]
    except (SafetensorError, OSError, KeyError, TypeError, ValueError) as wrong:
        raise FileError(
            f"{str(path)!r} is not a whole checkpoint ({reason(wrong)}): remove it to start anew, "
            "or name another."
        ) from wrong


def _of_stage(arrays: Arrays, stage: int) -> Arrays:
    start = f"{stage}."
    return {name[len(start) :]: array for name, array in arrays.items() if name.startswith(start)}


def _checksum(arrays: Arrays) -> str:
    digest = hashlib.sha256()
    for name in sorted(arrays):
        digest.update(name.encode())
        digest.update(np.ascontiguousarray(arrays[name]).tobytes())
    return digest.hexdigest()
