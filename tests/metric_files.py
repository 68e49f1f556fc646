"""Metric files for tests: whole, damaged and foreign."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np

from calipers.files import Contents, write


def small_contents(**changes: Any) -> Contents:
    """A metric of three features that no one learned."""
    given: dict[str, Any] = {
        "components": np.array([[1.0, 2.0, 0.5], [0.0, 1.0, -1.0]]),
        "learner": "TripletSGD",
        "parameters": {"n_triplets": 10, "scale": "triplets", "tau_max": None},
        "feature_names": ["a", "b", "c"],
        "classes": ["x", "y"],
        "facts": {"n_updates_": 7, "loss_curve_": [1.0, 0.5]},
        "notes": ["a note"],
        "label": "kind",
        "feature_scale": np.array([1.0, 2.0, 3.0]),
        "written_by": "0.1.0",
    }
    return Contents(**(given | changes))


def small_file(folder: Path) -> Path:
    """The file of `small_contents`."""
    path = folder / "small.safetensors"
    write(small_contents(), path)
    return path


def parts(data: bytes) -> tuple[dict[str, Any], bytes]:
    """The outer header of a safetensors file, and the bytes of its matrices."""
    (length,) = struct.unpack("<Q", data[:8])
    return json.loads(data[8 : 8 + length]), data[8 + length :]


def joined(outer: Any, body: bytes) -> bytes:
    """A safetensors file of any outer header, sensible or not."""
    text = json.dumps(outer).encode()
    return struct.pack("<Q", len(text)) + text + body


def with_header(data: bytes, **changes: Any) -> bytes:
    """The file with entries of our header changed; a change to ``...`` removes the entry."""
    outer, body = parts(data)
    header = json.loads(outer["__metadata__"]["calipers"]) | changes
    kept = {key: value for key, value in header.items() if value is not ...}
    outer["__metadata__"]["calipers"] = json.dumps(kept)
    return joined(outer, body)
