"""The contents of a fitted estimator.

Nothing here knows an estimator by name: parameters come from ``get_params``, the rest from
attributes that end in an underscore.
"""

from __future__ import annotations

from dataclasses import is_dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from calipers.metric.file.container import Arrays, can_hold
from calipers.metric.file.contents import Contents
from calipers.metric.file.values import Json, NotPlainError, plain, text, to_json

_STORED_ELSEWHERE = {
    "components_",
    "offset_",
    "similarity_",
    "classes_",
    "notes_",
    "recipe_",
    "feature_names_in_",
    "feature_scale_",
    "n_features_in_",
}
_OPTIONAL_ARRAYS = ("offset", "similarity")
_AS_TEXT = {"chosen_", "reason_"}  # of a selection; its table of scores is not kept
_LARGEST_PARAMETER = 1 << 20
_LARGEST_FACT = 10_000


def contents_of(
    estimator: Any,
    *,
    kind: str = "metric",
    feature_scale: npt.ArrayLike | None = None,
    label: str | None = None,
    encoder: list[dict[str, Any]] | None = None,
) -> Contents:
    """Collect what a file says about a fitted estimator.

    Parameters
    ----------
    estimator : estimator
        It has ``get_params`` and ``components_``.
    kind : {"metric", "adapter", "bridge"}
        What its map is for.
    feature_scale : array-like of shape (n_features,), optional
        Standard deviation of each training feature; by default ``feature_scale_``.
    label : str, optional
        Name of the column with the labels.
    encoder : list of dict, optional
        How the columns of a table became features.

    Returns
    -------
    Contents
        Parameters as given and as resolved, recipe, facts, notes, names and arrays.
    """
    from calipers.version import __version__

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
    names, classes = fitted.get("feature_names_in_"), fitted.get("classes_")
    arrays = _map_arrays(fitted, feature_scale)
    return Contents(
        arrays=arrays,
        learner=type(estimator).__name__,
        kind=kind,
        recipe=_recipe(fitted.get("recipe_"), resolved.get("method"), given.get("method")),
        parameters=_parameters("parameters", given, arrays),
        resolved=_parameters("resolved", resolved, arrays),
        facts=_facts({name: fitted[name] for name in sorted(others)}, arrays),
        notes=[text(note) for note in fitted.get("notes_", [])],
        feature_names=None if names is None else [text(name) for name in names],
        classes=None if classes is None else [to_json(c) for c in np.asarray(classes).tolist()],
        label=None if label is None else text(label),
        encoder=encoder,
        written_by=__version__,
    )


def _map_arrays(fitted: dict[str, Any], feature_scale: npt.ArrayLike | None) -> Arrays:
    """Return the arrays of the map itself, in double precision."""
    found = {name: fitted.get(f"{name}_") for name in ("components", *_OPTIONAL_ARRAYS)}
    found["feature_scale"] = (
        fitted.get("feature_scale_") if feature_scale is None else feature_scale
    )
    return {
        name: np.array(array, dtype=np.float64, order="C")
        for name, array in found.items()
        if array is not None
    }


def _recipe(*candidates: Any) -> dict[str, Json] | None:
    """Return the first one that has fields, as JSON."""
    for candidate in candidates:
        if isinstance(candidate, dict) or (
            is_dataclass(candidate) and not isinstance(candidate, type)
        ):
            found = to_json(candidate)
            return found if isinstance(found, dict) else None
    return None


def _parameters(group: str, values: dict[str, Any], arrays: Arrays) -> dict[str, Json]:
    """Return values as JSON; arrays go to ``arrays``, and the JSON says their shape."""
    for name, value in values.items():
        if _is_storable(value, _LARGEST_PARAMETER):
            arrays[f"{group}.{name}"] = np.array(value, order="C")
    return {name: to_json(value) for name, value in values.items()}


def _facts(values: dict[str, Any], arrays: Arrays) -> dict[str, Json]:
    """Return what is plain as JSON; small arrays go to ``arrays``, other things are left out."""
    found: dict[str, Json] = {}
    for name, value in values.items():
        if name in _AS_TEXT:
            found[name] = text(value)
        elif isinstance(value, np.ndarray):
            if _is_storable(value, _LARGEST_FACT):
                arrays[f"facts.{name}"] = np.array(value, order="C")
        elif value is not None and not isinstance(value, dict):
            try:
                found[name] = plain(value)
            except NotPlainError:
                continue
    return found


def _is_storable(value: Any, largest: int) -> bool:
    return isinstance(value, np.ndarray) and value.size <= largest and can_hold(value)
