"""Columns of a table as features, by scikit-learn's parts; their JSON is what a file keeps."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from datetime import UTC, date, datetime, time
from decimal import Decimal
from math import isfinite
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from calipers.arrays import FloatArray
from calipers.data.samples import is_missing, refuse_kinds

MISSING = (
    *("", "?", "NA", "N/A", "n/a", "<NA>", "NaN", "nan", "-nan", "NULL", "Null", "null", "None"),
    *("#N/A", "#NA", "#NULL!", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!"),
)
"""What stands for a missing number or date; in other columns only an empty cell is missing."""

LARGEST_WHOLE = 2**53
"""From here on whole numbers are not exact in float64."""

FEWEST_NUMBERED = 10
"""Rows from which on different whole numbers may be those of rows."""

MOST_TOLD = 20
"""Columns that a note names."""

_INDEX_NAMES = ("Unnamed: 0", "__index_level_0__", "rownames", "index")
_WORDS = (("false", "true"), ("no", "yes"), ("f", "t"), ("n", "y"))
_NUMBER = re.compile(r"[+-]?(?!0[0-9])([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_GROUPED = re.compile(r"(?=.*[0-9])[+-]?[0-9]*([.,][0-9]{3})*([.,][0-9]*)?")
_SIGNS = "%$€£¥ \u00a0"

_BY_MEAN = "Filled missing values with the mean of the column"
_FILLED = {
    "number": _BY_MEAN,
    "date": _BY_MEAN,
    "boolean": "Filled missing values with the more frequent value",
    "category": "Rows without a value get 0 in each feature of the column",
}


class TableEncoder(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Turn the columns of a table into features without a look at the labels.

    - A column of numbers, or of texts that are numbers, is a feature; digits that begin with 0 are
      codes. The mean fills missing values (:class:`sklearn.impute.SimpleImputer`).
    - A column of texts is one feature of 0 and 1 per category
      (:class:`sklearn.preprocessing.OneHotEncoder`); what is missing, in one row only or was not
      seen is 0 in all of them.
    - A column of booleans, or of one word for true and one for false ("yes" and "no"), is a feature
      of 0 and 1; the more frequent value fills missing ones.
    - A column of dates, or of texts such as ``2024-12-31``, is a feature in days since 1970.
    - A column without values, of row numbers or IDs, of whole numbers from 2^53 on, or of texts of
      which more than half differ is left out; ``left_out_`` says why.

    Parameters
    ----------
    decimal : str, default="."
        Decimal sign of numbers in texts.
    thousands : str or None, default=None
        What groups thousands of numbers in texts.
    max_categories : int, default=50
        Categories of a column at most; rarer ones count as not seen.
    drop_ids : bool, default=True
        Whether row numbers and IDs are left out.

    Attributes
    ----------
    columns_ : list of dict
        How each column that is used becomes features: its ``name`` and ``type``, the ``fill`` for
        missing values or the ``categories``, and the ``words`` for false and true.
    left_out_ : dict of str to str
        Names of columns that are left out, and why.
    notes_ : list of str
        Sentences about what was left out, filled and made categories.
    transformer_ : ColumnTransformer
        scikit-learn's parts, fitted.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_columns,)
        Names of the columns, if they had any.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"size": ["S", "L", "S", None], "price": ["1,200", "900", None, "3"]})
    >>> encoder = TableEncoder(thousands=",").fit(table)
    >>> encoder.transform(table).tolist()
    [[1.0, 1200.0], [0.0, 900.0], [1.0, 701.0], [0.0, 3.0]]
    >>> encoder.get_feature_names_out()
    array(['size=S', 'price'], dtype=object)
    >>> encoder.notes_[0]
    'Read as categories: size (1 of 2 texts).'
    """

    def __init__(
        self,
        *,
        decimal: str = ".",
        thousands: str | None = None,
        max_categories: int = 50,
        drop_ids: bool = True,
    ) -> None:
        self.decimal = decimal
        self.thousands = thousands
        self.max_categories = max_categories
        self.drop_ids = drop_ids

    def fit(self, X: Any, y: object = None) -> Self:
        """Find out what each column holds.

        Parameters
        ----------
        X : table or array-like of shape (n_samples, n_columns)
            A table of pandas, polars or Arrow, or an array.
        y : Ignored
            The labels have no influence.

        Returns
        -------
        TableEncoder
            Itself.
        """
        table = self._columns_of(X, reset=True)
        self.columns_, self.left_out_ = [], {}
        for name, column in table.items():
            entry, reason = self._kind_of(name, column)
            if reason:
                self.left_out_[name] = reason
            else:
                self.columns_.append({"name": name, **entry})
        if not self.columns_:
            found = ", ".join(f"{name!r} ({why})" for name, why in self.left_out_.items())
            raise ValueError(f"X has no column to learn from, only {found}: give other columns.")
        return self._learn(table)

    def refit(self, X: Any) -> TableEncoder:
        """Return an encoder with the same kinds of columns; means and categories are those of X."""
        check_is_fitted(self)
        return copy(self)._learn(self._columns_of(X, reset=False))

    def transform(self, X: Any) -> FloatArray:
        """Return the features of each row.

        Parameters
        ----------
        X : table or array-like of shape (n_samples, n_columns)
            The same columns as in `fit`.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            Finite numbers.

        Raises
        ------
        ValueError
            A column holds something else than in `fit`.
        """
        check_is_fitted(self)
        table = self._columns_of(X, reset=False)
        codes = [self._codes_of(entry, table[entry["name"]]) for entry in self.columns_]
        return np.asarray(self.transformer_.transform(np.column_stack(codes)), dtype=np.float64)

    def get_feature_names_out(self, input_features: object = None) -> npt.NDArray[np.object_]:
        """Return the names of the features: the column's, with the category behind "="."""
        check_is_fitted(self)
        names = [
            f"{entry['name']}={category}" if category is not None else entry["name"]
            for entry in self.columns_
            for category in entry.get("categories", [None])
        ]
        return np.array(names, dtype=object)

    def to_json(self) -> dict[str, Any]:
        """Return the fitted encoder as one object of JSON, which a metric's file keeps."""
        check_is_fitted(self)
        return {"decimal": self.decimal, "thousands": self.thousands, "columns": self.columns_}

    @classmethod
    def from_json(cls, encoder: Any) -> Self:
        """Rebuild a fitted encoder from `to_json`; it takes the columns that were used.

        Raises
        ------
        ValueError
            It is no encoder.
        """
        try:
            rebuilt = cls(decimal=encoder["decimal"], thousands=encoder["thousands"])
            rebuilt.columns_ = [dict(entry) for entry in encoder["columns"]]
            names = [entry["name"] for entry in rebuilt.columns_]
            signs = {type(rebuilt.decimal), type(rebuilt.thousands)}
            is_sound = all(map(_is_entry, rebuilt.columns_)) and signs <= {str, type(None)}
            is_sound &= len({*names}) == len(names) > 0
        except (KeyError, TypeError, ValueError, OverflowError):
            is_sound = False
        if not is_sound:
            raise ValueError("its encoder does not say how columns become features")
        rebuilt.left_out_, rebuilt.notes_ = {}, []
        rebuilt._names, rebuilt.n_features_in_ = names, len(names)
        rebuilt.feature_names_in_ = np.array(names, dtype=object)
        rebuilt.transformer_ = _rebuilt(rebuilt.columns_)
        return rebuilt

    def _columns_of(self, X: Any, *, reset: bool) -> dict[str, npt.NDArray[Any]]:
        """Return the columns by name, each as `plain` has it."""
        refuse_kinds(X, "X", times=True)
        names = getattr(X, "column_names", getattr(X, "columns", None))  # the former of Arrow
        if names is None:
            X = check_array(X, dtype=None, ensure_all_finite=False)
        validate_data(self, X, reset=reset, skip_check_array=True)
        if names is None:
            columns = {f"x{i}": plain(X[:, i]) for i in range(X.shape[1])}
        else:
            columns = {str(name): plain(X[name]) for name in names}
        if reset:
            self._names = [*columns]
        return dict(zip(self._names, columns.values(), strict=True))

    def _kind_of(self, name: str, column: npt.NDArray[Any]) -> tuple[dict[str, Any], str]:
        """Return the type of a column, and why it is left out if it is."""
        if column.dtype == np.float64:
            return {"type": "number"}, self._why_no_feature(name, column)
        n_rows = sum(cell is not None for cell in column)
        given = [cell for cell in dict.fromkeys(column.tolist()) if cell is not None]
        if not given:
            return {}, "empty"
        if int in map(type, given):
            return {}, "whole numbers beyond 2^53, which float64 cannot tell apart"
        words = tuple(sorted({text_of(cell).casefold() for cell in given}))
        if words in _WORDS or {*map(type, given)} == {bool}:
            return {"type": "boolean", "words": list(words if words in _WORDS else _WORDS[0])}, ""
        for kind in ("number", "date"):
            codes = {self._code_of(cell, {"type": kind}) for cell in given}
            if None not in codes:
                numbers = self._codes_of({"name": name, "type": kind}, column)
                return {"type": kind}, self._why_no_feature(name, numbers) * (kind == "number")
        if len(given) == 1 and n_rows == len(column):
            return {}, "the same text in each row"
        texts = [*map(text_of, given)]
        reason = self._hint(texts)
        if not reason and len(given) > max(2, n_rows / 2):
            reason = f"{len(given)} different texts in {n_rows} rows, such as {_example(texts)!r}"
        return {"type": "category"}, reason

    def _why_no_feature(self, name: str, numbers: FloatArray) -> str:
        """Say why a column of numbers is left out; nothing if it is a feature."""
        if np.isnan(numbers).all():
            return "empty"
        if not (self.drop_ids and hasattr(self, "feature_names_in_") and _are_different(numbers)):
            return ""
        if np.ptp(numbers) == len(numbers) - 1:
            return "row numbers"
        is_id = name in _INDEX_NAMES or name.casefold().endswith("id")
        return "an ID by its name, with a different number in each row" if is_id else ""

    def _learn(self, table: Mapping[str, npt.NDArray[Any]]) -> Self:
        """Learn the fill values and categories of columns of known types."""
        told = [("Left out", name, why) for name, why in self.left_out_.items()]
        self.columns_ = [dict(entry) for entry in self.columns_]
        for entry in self.columns_:
            name, column = entry["name"], table[entry["name"]]
            if entry["type"] == "category":
                entry["categories"], how = self._categories(column)
                told.append(("Read as categories", name, how))
                n_missing = sum(not text_of(cell) for cell in column.tolist())
            else:
                codes = self._codes_of(entry, column)
                strategy = "most_frequent" if entry["type"] == "boolean" else "mean"
                imputer = SimpleImputer(strategy=strategy, keep_empty_features=True)
                entry["fill"] = float(imputer.fit(codes[:, None]).statistics_[0])
                n_missing = int(np.isnan(codes).sum())
                if entry["type"] == "number" and self.drop_ids and _are_different(codes):
                    how = "a different whole number in each row: use --ignore if it is an ID"
                    told.append(("Used as numbers", name, how))
            if n_missing:
                told.append((_FILLED[entry["type"]], name, f"{n_missing:,}"))
        self.columns_ = [entry for entry in self.columns_ if entry.get("categories") != []]
        self.notes_ = _notes(told)
        self.transformer_ = _rebuilt(self.columns_)
        return self

    def _categories(self, column: npt.NDArray[Any]) -> tuple[list[str], str]:
        """Return the categories of a column, and a remark on how many of its texts they are."""
        given = [text for text in map(text_of, column.tolist()) if text]
        texts, counts = np.unique(np.array(given, dtype=object), return_counts=True)
        n_repeated = int((counts > 1).sum()) or len(counts)
        frequent = np.argsort(-counts, kind="stable")[: min(n_repeated, self.max_categories)]
        how = f"{len(frequent)}" + f" of {len(texts):,} texts" * (len(frequent) < len(texts))
        return texts[np.sort(frequent)].tolist(), how

    def _codes_of(self, entry: Mapping[str, Any], column: npt.NDArray[Any]) -> FloatArray:
        """Return a column as numbers: NaN is missing, a category is its position or -1."""
        if entry["type"] == "category":
            known = {text: float(i) for i, text in enumerate(entry["categories"])}
            return np.array([known.get(text_of(cell), -1.0) for cell in column.tolist()])
        if column.dtype == np.float64 and entry["type"] == "number":
            return column
        cells = column.tolist()
        code_of = {cell: self._code_of(cell, entry) for cell in {*cells}}
        wrong = [row for row, cell in enumerate(cells) if code_of[cell] is None]
        if wrong:
            raise ValueError(
                f"The column {entry['name']!r} has {str(cells[wrong[0]])[:40]!r} in row "
                f"{wrong[0] + 1}, where {_needed(entry)} is needed: correct it, or leave the cell "
                "empty."
            )
        return np.array([code_of[cell] for cell in cells], dtype=np.float64)

    def _code_of(self, cell: Any, entry: Mapping[str, Any]) -> float | None:
        """Return the number that a cell stands for, NaN, or None if it is of another type."""
        if cell is None or cell != cell or (isinstance(cell, str) and cell in MISSING):
            return np.nan
        if entry["type"] == "number":
            is_number = isinstance(cell, float | bool)
            return self._number(cell) if isinstance(cell, str) else cell if is_number else None
        if entry["type"] == "date":
            return _days(cell)
        word = entry["words"][int(cell)] if cell in (0, 1) else str(cell).casefold()
        return float(entry["words"].index(word)) if word in entry["words"] else None

    def _number(self, text: str) -> float | None:
        """Return a text as a number under the encoder's signs, or None."""
        if self.thousands:
            text = text.replace(self.thousands, "")
        if self.decimal != ".":
            text = text.replace(".", "?").replace(self.decimal, ".")
        number = float(text) if _NUMBER.fullmatch(text) else None
        is_rounded = text.lstrip("+-").isdigit() and abs(float(text)) >= LARGEST_WHOLE
        return None if is_rounded else number

    def _hint(self, texts: Sequence[str]) -> str:
        """Say what would read texts as numbers, or nothing."""
        given = [text for text in texts if text not in MISSING]
        bare = [text.strip(_SIGNS) for text in given]
        if not given or not all(map(_GROUPED.fullmatch, bare)):
            return ""
        other, example = "," if self.decimal == "." else ".", _example(given)
        is_group = re.search(f"[{other}][0-9]{{3}}(?![0-9])", example)
        ways = [f"with --decimal {other}" + f" or --thousands {other}" * bool(is_group)]
        ways = ways * any(other in text for text in bare) + ["without its sign"] * (bare != given)
        return f"{example!r} is a number {' and '.join(ways)}" * bool(ways)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.string = tags.input_tags.categorical = True
        return tags


def plain(values: Any) -> npt.NDArray[Any]:
    """Return a column as float64 (NaN is missing), or as objects (None is missing).

    Objects are texts, booleans, datetimes, floats among these, and whole numbers beyond 2^53.

    >>> plain(["a", " ", None, "NA"])
    array(['a', None, None, 'NA'], dtype=object)
    >>> plain([1, None, 2.5])
    array([1. , nan, 2.5])
    """
    if hasattr(values, "isna") and values.dtype.kind in "iuf":  # of pandas, also with gaps
        array: npt.NDArray[Any] = values.to_numpy(np.float64, na_value=np.nan)
    else:
        array = values.to_numpy() if hasattr(values, "to_numpy") else np.asarray(values)
    if array.dtype.kind == "M":
        array = array.astype("datetime64[us]")
    dtype = str(getattr(values, "dtype", getattr(values, "type", "")))
    is_whole = "int" in dtype.lower()  # also with gaps, which make floats of them
    if array.dtype.kind in "iuf":
        numbers = array.astype(np.float64)
        if not is_whole or np.fmax.reduce(np.abs(numbers), initial=0) < LARGEST_WHOLE:
            return numbers
    cells = [_cell(value, is_whole=is_whole) for value in array.tolist()]
    if any(cell is not None and not isinstance(cell, float) for cell in cells):
        return np.array(cells, dtype=object)
    return np.array(cells, dtype=np.float64)


def _cell(value: Any, *, is_whole: bool) -> float | int | str | bool | datetime | None:
    if isinstance(value, str):
        return value.strip() or None
    if is_missing(value):
        return None
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if is_whole or isinstance(value, int | np.integer):
        return float(value) if abs(value) < LARGEST_WHOLE else int(value)
    if isinstance(value, float | np.floating | Decimal):
        return float(value)
    if isinstance(value, datetime):
        return value
    return datetime.combine(value, time()) if isinstance(value, date) else str(value)


def text_of(cell: Any) -> str:
    """Return a cell of `plain` as a text: nothing for a missing one, no point in whole numbers."""
    if isinstance(cell, float):
        return "" if cell != cell else repr(cell).removesuffix(".0")
    return "" if cell is None else str(cell)


def _days(cell: Any) -> float | None:
    """Return the days since 1970 of a datetime or an ISO date; a time without a zone is UTC.

    >>> _days("1970-01-02 12:00"), _days("1970-02"), _days("2/1/1970")
    (1.5, 31.0, None)
    """
    if isinstance(cell, str):
        try:
            cell = datetime.fromisoformat(f"{cell}-01" if len(cell) == len("2024-12") else cell)
        except ValueError:
            return None
    if not isinstance(cell, datetime):
        return None
    moment = cell if cell.tzinfo is not None else cell.replace(tzinfo=UTC)
    return moment.timestamp() / 86_400


def _are_different(numbers: FloatArray) -> bool:
    """Whether each of enough rows has a whole number of its own."""
    if len(numbers) < FEWEST_NUMBERED or not np.isfinite(numbers).all():
        return False
    is_whole = bool((numbers == np.rint(numbers)).all())
    return is_whole and len(np.unique(numbers)) == len(numbers)


def _example(texts: Sequence[str]) -> str:
    """Return the first text that is no number, or else the first."""
    return next((text for text in texts if not _NUMBER.fullmatch(text)), texts[0])[:40]


def _needed(entry: Mapping[str, Any]) -> str:
    if entry["type"] == "boolean":
        return " or ".join(map(repr, entry["words"]))
    return "a date such as 2024-12-31" if entry["type"] == "date" else "a number"


def _notes(told: Iterable[tuple[str, str, str]]) -> list[str]:
    """Return one note for each sentence: names of columns, and how it shows there."""
    columns: dict[str, list[str]] = {}
    for sentence, name, how in told:
        columns.setdefault(sentence, []).append(f"{name} ({how})")
    return [f"{sentence}: {listed(names)}." for sentence, names in columns.items()]


def listed(columns: Sequence[str]) -> str:
    """Return names of columns for a remark, not all of very many."""
    n_more = len(columns) - MOST_TOLD
    more = f", and {n_more:,} more" if n_more > 0 else ""
    return ", ".join(columns[:MOST_TOLD]) + more


def _is_entry(entry: Mapping[str, Any]) -> bool:
    """Whether JSON says how a column becomes features."""
    kind = entry["type"]
    texts = entry["categories"] if kind == "category" else entry.get("words", _WORDS[0])
    is_known = kind in _FILLED and (kind != "boolean" or tuple(entry["words"]) in _WORDS)
    has_texts = len(texts) > 0 and all(isinstance(text, str) for text in [entry["name"], *texts])
    return is_known and has_texts and (kind == "category" or isfinite(entry["fill"]))


def _rebuilt(columns: Sequence[Mapping[str, Any]]) -> ColumnTransformer:
    """Return scikit-learn's parts for the numbers that the encoder makes of cells.

    The mean of one row is that row, so that an imputer fitted to the fill values has them.
    """
    parts: list[tuple[str, Any, list[int]]] = []
    for place, entry in enumerate(columns):
        if entry["type"] == "category":
            known = [np.arange(len(entry["categories"]), dtype=np.float64)]
            part = OneHotEncoder(categories=known, handle_unknown="ignore", sparse_output=False)
            parts.append((str(place), part, [place]))
        elif parts and isinstance(parts[-1][1], SimpleImputer):
            parts[-1][2].append(place)
        else:
            parts.append((str(place), SimpleImputer(), [place]))
    row = [entry.get("fill", 0.0) for entry in columns]
    return ColumnTransformer(parts, verbose_feature_names_out=False).fit(np.array([row]))
