"""The state of a fit that is under way, as a file of numbers and text under one checksum."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

from calipers.data.files.atomic import atomic_write
from calipers.data.files.errors import FileError, reason
from calipers.metric.file import container
from calipers.metric.file.container import Arrays, DamagedError, ForeignError

_KEY = "calipers-checkpoint"
_FORMAT = 2


class State(NamedTuple):
    """Arrays and plain facts from which a learner continues.

    Attributes
    ----------
    arrays : dict of str to ndarray
        Arrays by name.
    facts : dict
        What JSON has.
    """

    arrays: Arrays
    facts: dict[str, Any]


def write_states(path: Path, states: list[State]) -> None:
    """Write the states of all rounds so far, completely or not at all.

    Raises
    ------
    FileError
        The place cannot be written to.
    """
    arrays = {
        f"{number}.{name}": array
        for number, state in enumerate(states)
        for name, array in state.arrays.items()
    }
    text = json.dumps({"format": _FORMAT, "rounds": [state.facts for state in states]})
    packed = container.pack(_KEY, text, arrays)
    with atomic_write(path) as stream:
        stream.write(packed)


def read_states(path: Path) -> list[State]:
    """Read what `write_states` wrote; an empty list where there is no file.

    Raises
    ------
    FileError
        The file is damaged, or no checkpoint.
    """
    if not path.exists():
        return []
    try:
        with path.open("rb") as stream:
            reader = container.Reader(stream, _KEY)
            arrays = reader.arrays()
        return _states(json.loads(reader.text), arrays)
    except ForeignError as wrong:
        raise _unreadable(path, "it is another file") from wrong
    except (DamagedError, OSError, MemoryError, ValueError, RecursionError) as wrong:
        raise _unreadable(path, reason(wrong)) from wrong


def _states(header: Any, arrays: Arrays) -> list[State]:
    if not isinstance(header, dict) or header.get("format") != _FORMAT:
        raise DamagedError("it is of another format")
    rounds = header.get("rounds")
    if not isinstance(rounds, list) or not all(isinstance(facts, dict) for facts in rounds):
        raise DamagedError("it has no list of rounds")
    return [State(_of_round(arrays, number), facts) for number, facts in enumerate(rounds)]


def _of_round(arrays: Arrays, number: int) -> Arrays:
    start = f"{number}."
    return {
        name.removeprefix(start): array for name, array in arrays.items() if name.startswith(start)
    }


def _unreadable(path: Path, what: str) -> FileError:
    return FileError(
        f"{str(path)!r} is not a whole checkpoint ({what}): remove it to start anew, or name "
        "another."
    )
