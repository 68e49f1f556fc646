"""Learned metrics as files: named arrays and a JSON header, under one checksum.

A file is a safetensors file. Its metadata have one entry, a JSON object: the facts, and the
SHA-256 of them and of each array's name, type, shape and bytes. Reading needs NumPy and
safetensors only, and runs nothing that the file says. :meth:`MahalanobisMixin.save` writes such a
file, :func:`calipers.load` reads it.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field, fields, is_dataclass
from hashlib import sha256
from importlib.metadata import version
from math import isfinite
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from calipers.arrays import FloatArray
from calipers.data.files import FileError, atomic_write, check_writable, reason

if TYPE_CHECKING:
    from calipers.data.encoder import TableEncoder

__all__ = ["Contents", "FileError", "check_writable", "contents_of", "plain", "read", "write"]

Arrays: TypeAlias = dict[str, npt.NDArray[Any]]

VERSION = version("calipers")
FORMAT = 3
"""Rises when older programs would misread what newer ones write."""

KINDS = ("metric", "adapter", "bridge")

_KEY = "calipers"
_STORED_ELSEWHERE = {
    "components_",
    "similarity_",
    "classes_",
    "notes_",
    "recipe_",
    "feature_names_in_",
    "feature_scale_",
    "n_features_in_",
}
_AS_TEXT = ("chosen_", "reason_")  # of a selection
_LARGEST_FACT = 10_000  # of an array that is no part of the metric


@dataclass(frozen=True)
class Contents:
    """A learned linear map and where it comes from.

    Every kind has the array ``components``, L of ``X @ L.T``. These are optional:

    - ``document_components`` of shape (n_components, any), the map of documents of an adapter;
    - ``feature_scale`` of shape (n_features,), standard deviations of the training features;
    - ``similarity`` of shape (n_features, n_features), W of a learner of ``p'Wq`` (OASIS);
    - ``parameters.<name>``, ``resolved.<name>`` and ``facts.<name>``, entries of these
      dictionaries that are arrays, see `group`.

    Attributes
    ----------
    arrays : dict of str to ndarray
        The arrays by name.
    learner : str
        Name of the estimator's class.
    kind : {"metric", "adapter", "bridge"}
        What the map is for.
    recipe : dict or None
        Fields of the algorithm's recipe, with its class as ``type``.
    parameters : dict
        Parameters of the estimator as they were given.
    resolved : dict
        What "auto" and None became, by the parameter's name.
    facts : dict
        Other fitted attributes, for example ``n_updates_``.
    notes : list of str
        Remarks about the training data.
    feature_names : list of str or None
        Names of the features, if they had any.
    classes : list or None
        Labels, if there were any: texts or numbers.
    label : str or None
        Name of the column with the labels.
    encoder : dict or None
        How the columns of a table became features, by `TableEncoder.to_json`.
    written_by : str
        Version of Calipers.
    """

    arrays: Arrays
    learner: str
    kind: str = "metric"
    recipe: dict[str, Any] | None = None
    parameters: dict[str, Any] = field(default_factory=dict)
    resolved: dict[str, Any] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    feature_names: list[str] | None = None
    classes: list[Any] | None = None
    label: str | None = None
    encoder: dict[str, Any] | None = None
    written_by: str = VERSION

    @property
    def components(self) -> FloatArray:
        """L of shape (n_components, n_features); of a metric M = L'L."""
        return self.arrays["components"]

    def group(self, name: str) -> dict[str, Any]:
        """Return ``parameters``, ``resolved`` or ``facts`` together with its arrays.

        >>> curve = {"components": np.eye(1), "facts.loss_curve_": np.array([0.5])}
        >>> Contents(curve, "TripletSGD", facts={"n_updates_": 3}).group("facts")
        {'n_updates_': 3, 'loss_curve_': array([0.5])}
        """
        start, arrays = f"{name}.", self.arrays.items()
        stored = {key.removeprefix(start): each for key, each in arrays if key.startswith(start)}
        return {**getattr(self, name), **stored}


_LISTS_AND_OBJECTS = {
    "parameters": dict,
    "resolved": dict,
    "facts": dict,
    "notes": list,
    "recipe": dict | None,
    "feature_names": list | None,
    "classes": list | None,
}


def write(contents: Contents, path: str | os.PathLike[str]) -> None:
    """Write a file, completely or not at all.

    Raises
    ------
    FileError
        The place cannot be written to, or the contents are none of a metric.
    """
    from safetensors.numpy import save

    arrays = {name: np.ascontiguousarray(array) for name, array in contents.arrays.items()}
    names = [each.name for each in fields(contents) if each.name != "arrays"]
    facts = {"format": FORMAT, **{name: getattr(contents, name) for name in names}}
    try:
        _check(contents)
        header = json.dumps({"sha256": _digest(facts, arrays), **facts}, allow_nan=False)
    except (TypeError, ValueError) as wrong:
        raise FileError(f"The {contents.kind} cannot be saved: {reason(wrong)}.") from wrong
    with atomic_write(path) as stream:
        stream.write(save(arrays, {_KEY: header}))


def read(path: str | os.PathLike[str]) -> Contents:
    """Read and check what `write` wrote.

    Raises
    ------
    FileError
        The file is not there, not ours, of another format, or damaged.
    """
    from safetensors import SafetensorError, safe_open

    name = os.fspath(path)
    try:
        with safe_open(name, framework="numpy") as file:
            header = json.loads(file.metadata()[_KEY])
            arrays = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118
    except FileNotFoundError:
        raise FileError(f"There is no file {name!r}: give the name of a saved metric.") from None
    except OSError as wrong:
        raise FileError(f"Cannot read {name!r} ({reason(wrong)}): check its name.") from wrong
    except (SafetensorError, KeyError, TypeError, ValueError, RecursionError, MemoryError) as wrong:
        raise FileError(
            f"{name!r} is not a file of a metric, or not a whole one: give one that metric.save or "
            "'calipers fit' wrote."
        ) from wrong
    found = header.get("format") if isinstance(header, dict) else None
    if found != FORMAT:
        raise FileError(
            f"{name!r} is of format {found}, and calipers {VERSION} reads format {FORMAT}: fit "
            "and save the metric again, or install the version that wrote it."
        )
    try:
        if header.pop("sha256") != _digest(header, arrays):
            raise ValueError("its contents do not have its checksum")
        del header["format"]
        contents = Contents(arrays, **header)
        _check(contents)
    except (KeyError, TypeError, ValueError, RecursionError) as wrong:
        raise FileError(
            f"{name!r} is damaged ({reason(wrong)}): save the metric again, or copy the file anew."
        ) from wrong
    return contents


def _digest(facts: dict[str, Any], arrays: Arrays) -> str:
    """SHA-256 of the facts and of each array's name, type, shape and bytes."""
    digest = sha256(json.dumps(facts, allow_nan=False).encode())
    for name in sorted(arrays):
        array = arrays[name]
        digest.update(json.dumps([name, array.dtype.str, array.shape]).encode())
        digest.update(array.tobytes())
    return digest.hexdigest()


def _check(contents: Contents) -> None:
    """Raise a ValueError unless this is a finite map of as many features as it has names."""
    components, names = contents.arrays.get("components"), contents.feature_names
    if contents.kind not in KINDS or components is None or components.ndim != 2:
        raise ValueError("it has no matrix of components")
    k, d = components.shape
    shapes = {"components": (k, d), "feature_scale": (d,), "similarity": (d, d)}
    for name in shapes.keys() & contents.arrays.keys():
        array = contents.arrays[name]
        if array.shape != shapes[name] or not array.size or array.dtype.kind != "f":
            raise ValueError(f"{name!r} has shape {array.shape} and type {array.dtype}")
        if not np.isfinite(array).all():
            raise ValueError(f"{name!r} has values that are not finite")
    for name, kind in _LISTS_AND_OBJECTS.items():
        if not isinstance(getattr(contents, name), kind):
            raise ValueError(f"{name!r} is not as it should be")
    if names is not None and not (all(isinstance(n, str) for n in names) and len({*names}) == d):
        raise ValueError(f"it does not have {d} names of features that are told apart")
    if contents.encoder is not None:
        from calipers.data.encoder import TableEncoder  # alone needs scikit-learn

        n_encoded = len(TableEncoder.from_json(contents.encoder).get_feature_names_out())
        if n_encoded != d:
            raise ValueError(f"its encoder makes {n_encoded} features, but it has {d}")


def contents_of(
    estimator: Any,
    *,
    label: str | None = None,
    encoder: TableEncoder | None = None,
) -> Contents:
    """Collect what a file says about a fitted estimator.

    Nothing here knows an estimator by name: parameters come from ``get_params``, the rest from
    attributes that end in an underscore.

    Parameters
    ----------
    estimator : estimator
        It has ``get_params`` and ``components_``.
    label : str, optional
        Name of the column with the labels.
    encoder : TableEncoder, optional
        How the columns of a table became features.
    """
    given = dict(estimator.get_params(deep=False))
    fitted = {
        name: value
        for name, value in vars(estimator).items()
        if name.endswith("_") and not name.startswith("_")
    }
    resolved = {name: fitted[f"{name}_"] for name in given if f"{name}_" in fitted}
    chosen = fitted.get("best_estimator_")  # of a selector
    if chosen is not None:
        given = chosen.get_params(deep=False)
        resolved = {name: getattr(chosen, f"{name}_", value) for name, value in given.items()}
        fitted["recipe_"] = getattr(chosen, "recipe_", None)
    others = fitted.keys() - _STORED_ELSEWHERE - {f"{name}_" for name in resolved}
    arrays = {
        name: np.array(fitted[f"{name}_"], dtype=np.float64)
        for name in ("components", "similarity", "feature_scale")
        if fitted.get(f"{name}_") is not None
    }
    for group, values in (("parameters", given), ("resolved", resolved)):
        arrays |= {f"{group}.{name}": each for name, each in values.items() if _is_numeric(each)}
    facts = {name: fitted[name] for name in sorted(others)}
    for name, value in facts.items():
        if _is_numeric(value) and value.size <= _LARGEST_FACT:
            arrays[f"facts.{name}"] = value
    recipe, names, classes = map(fitted.get, ("recipe_", "feature_names_in_", "classes_"))
    return Contents(
        arrays=arrays,
        learner=type(estimator).__name__,
        recipe=None if recipe is None else plain(recipe),
        parameters=plain(given),
        resolved=plain(resolved),
        facts={
            name: str(value) if name in _AS_TEXT else plain(value)
            for name, value in facts.items()
            if name in _AS_TEXT or isinstance(value, str | int | float | np.generic | list | tuple)
        },
        notes=[str(note) for note in fitted.get("notes_", [])],
        feature_names=None if names is None else [str(name) for name in names],
        classes=None if classes is None else plain(np.asarray(classes).tolist()),
        label=label,
        encoder=None if encoder is None else encoder.to_json(),
    )


def _is_numeric(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.kind in "fiub"


def plain(value: Any) -> Any:
    """Return the value as JSON has it; what JSON does not have becomes a short text.

    A dataclass or a named tuple becomes an object of its fields with its class as ``type``, an
    array its shape and dtype.

    >>> from fractions import Fraction
    >>> plain({"ratio": Fraction(1, 3), "sizes": (np.int64(1), 2)})
    {'ratio': '1/3', 'sizes': [1, 2]}
    >>> plain(np.eye(2))
    {'type': 'ndarray', 'shape': [2, 2], 'dtype': 'float64'}
    """
    value = value.item() if isinstance(value, np.generic) else value
    if value is None or isinstance(value, str | int) or (type(value) is float and isfinite(value)):
        return value
    if isinstance(value, np.ndarray):
        return {"type": "ndarray", "shape": list(value.shape), "dtype": str(value.dtype)}
    if is_dataclass(value) and not isinstance(value, type):
        parts = {each.name: getattr(value, each.name) for each in fields(value)}
        return {"type": type(value).__name__, **plain(parts)}
    if hasattr(value, "_asdict"):
        return {"type": type(value).__name__, **plain(value._asdict())}
    if isinstance(value, dict):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    return str(value)[:200]
