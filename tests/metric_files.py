"""Metric files for tests: complete, damaged and foreign; and estimators that learn nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Self

import numpy as np
from safetensors import safe_open
from safetensors.numpy import save

from calipers import FileError, load
from calipers.metric import file
from calipers.metric.file import Contents, write
from calipers.metric.mahalanobis import MahalanobisMixin

ARRAYS = {
    "components": np.array([[1.0, 2.0, 0.5], [0.0, 1.0, -1.0]]),
    "feature_scale": np.array([1.0, 2.0, 3.0]),
    "facts.loss_curve_": np.array([1.0, 0.5]),
}
ENCODER = {
    "decimal": ".",
    "thousands": None,
    "columns": [
        {"name": "a", "type": "number", "fill": 0.5},
        {"name": "b", "type": "category", "categories": ["x", "y"]},
    ],
}


def small_contents(**changes: Any) -> Contents:
    """A metric of three features that no one learned; arrays are changed by name, or left out."""
    arrays: dict[str, Any] = {**ARRAYS, **changes.pop("arrays", {})}
    for name in ("components", "feature_scale", "similarity"):
        if name in changes:
            arrays[name] = changes.pop(name)
    given: dict[str, Any] = {
        "arrays": {name: array for name, array in arrays.items() if array is not None},
        "learner": "TripletSGD",
        "recipe": {"type": "Recipe", "batch_size": 10, "loss": {"type": "Logistic"}},
        "parameters": {"n_triplets": 10, "init": "auto", "tau_max": None},
        "resolved": {"init": "standardized"},
        "feature_names": ["a", "b", "c"],
        "classes": ["x", "y"],
        "facts": {"n_updates_": 7},
        "notes": ["a note"],
        "label": "kind",
        "encoder": ENCODER,
        "written_by": "0.1.0",
    }
    return Contents(**(given | changes))


def message(path: Path) -> str:
    """The sentence by which `load` refuses a file."""
    told = ""
    try:
        load(path)
    except FileError as error:
        told = str(error)
    assert "\n" not in told
    assert told.endswith(".")
    assert repr(str(path)) in told
    return told


def small_file(folder: Path, **changes: Any) -> Path:
    """The file of `small_contents`."""
    path = folder / "small.safetensors"
    write(small_contents(**changes), path)
    return path


class FakeLearner(MahalanobisMixin):
    """An estimator with any parameters, whose fitted attributes are those that one passes."""

    def __init__(self, method: Any = "hr-sgd", init: Any = "auto", n_neighbors: Any = None) -> None:
        self.method, self.init, self.n_neighbors = method, init, n_neighbors

    def fit(self, X: Any, y: Any = None, **fitted: Any) -> Self:
        self.n_features_in_ = np.shape(X)[1]
        self.components_ = np.eye(self.n_features_in_)
        for name, value in fitted.items():
            setattr(self, name, value)
        return self


def sealed(header: dict[str, Any], arrays: dict[str, Any]) -> bytes:
    """A file of any header and arrays under the right checksum, as one who means harm writes it."""
    digest = file._digest(header, arrays)
    return save(arrays, {"calipers": json.dumps({"sha256": digest, **header})})


def with_header(path: Path, **changes: Any) -> None:
    """Change entries of the header, under the right checksum; ``...`` removes an entry."""
    with safe_open(path, framework="numpy") as opened:
        header = json.loads(opened.metadata()["calipers"])
        arrays = {key: opened.get_tensor(key) for key in opened.keys()}  # noqa: SIM118
    del header["sha256"]
    changed = {key: value for key, value in (header | changes).items() if value is not ...}
    path.write_bytes(sealed(changed, arrays))
