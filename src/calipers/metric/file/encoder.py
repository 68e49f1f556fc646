"""How the columns of a table became features, as JSON: one object per column.

A column has a ``name``, a ``type``, a ``fill`` for missing values (or null), and the
``categories`` of a column of categories in the order of their features (else null). A column of
dates that are texts has their ``format``, too, and one of numbers may have a list of texts that are
``missing`` values, and the ``unit`` behind each number.
"""

from __future__ import annotations

from typing import Any

from calipers.metric.file.values import is_number, is_scalar, is_scalars, is_text

TYPES = ("number", "category", "boolean", "date")

_ENTRIES = {"name", "type", "fill", "categories"}


def encoder_problem(columns: Any) -> str | None:
    """Return what is wrong with an encoder, as the end of a sentence; None if nothing is.

    >>> encoder_problem([{"name": "age", "type": "number", "fill": 41.5, "categories": None}])
    >>> encoder_problem([{"name": "age", "type": "text", "fill": None, "categories": None}])
    "column 'age' of its encoder is of type 'text', not number, category, boolean or date"
    """
    if not isinstance(columns, list) or not columns:
        return "its encoder is not a list of columns"
    for number, column in enumerate(columns):
        problem = _column_problem(number, column)
        if problem is not None:
            return problem
    names = [column["name"] for column in columns]
    if len(set(names)) < len(names):
        return "its encoder has two columns of one name"
    return None


def n_features_of(columns: list[dict[str, Any]]) -> int:
    """Return the number of features that an encoder makes."""
    return sum(len(column["categories"] or [0]) for column in columns)


def _column_problem(number: int, column: Any) -> str | None:
    if not isinstance(column, dict) or set(column) - {"format", "missing", "unit"} != _ENTRIES:
        return f"column {number} of its encoder does not have {', '.join(sorted(_ENTRIES))}"
    if not is_text(column["name"]):
        return f"column {number} of its encoder has no name"
    which = f"column {column['name'][:100]!r} of its encoder"
    type_, fill, categories = column["type"], column["fill"], column["categories"]
    if type_ not in TYPES:
        return f"{which} is of type {str(type_)[:40]!r}, not {', '.join(TYPES[:-1])} or {TYPES[-1]}"
    if "format" in column and (type_ != "date" or not is_text(column["format"])):
        return f"{which} has a format that is none of dates"
    if "unit" in column and (type_ != "number" or not is_text(column["unit"])):
        return f"{which} has a unit that is none of numbers"
    missing = column.get("missing", [])
    if not isinstance(missing, list) or not all(map(is_text, missing)):
        return f"{which} has missing values that are no texts"
    if type_ == "category":
        if not is_scalars(categories) or not categories or _has_doubles(categories):
            return f"{which} has no list of distinct categories"
    elif categories is not None:
        return f"{which} is of type {type_!r} and has categories"
    if fill is not None and not _fits(fill, type_):
        return f"{which} has a fill value that is no {type_}"
    return None


def _fits(fill: Any, type_: str) -> bool:
    if type_ == "boolean":
        return isinstance(fill, bool)
    if type_ == "number":
        return is_number(fill) and not isinstance(fill, bool)
    if type_ == "date":  # a number of time units, or a date as text
        return is_text(fill) or (is_number(fill) and not isinstance(fill, bool))
    return is_scalar(fill)


def _has_doubles(categories: list[Any]) -> bool:
    return len({(type(category), category) for category in categories}) < len(categories)
