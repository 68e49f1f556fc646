"""Columns of a table as features, by scikit-learn's parts; their JSON is what a file keeps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from calipers.arrays import FloatArray, refuse_lazy, refuse_masked
from calipers.data.encoder.codes import ISO, as_texts, codes_of
from calipers.data.encoder.kinds import Kind, kind_of
from calipers.data.encoder.texts import days
from calipers.data.tables.columns import Columns, plain
from calipers.data.tables.names import listed
from calipers.data.tables.numbers import decimal_sign, grouped_by_points

_BY_MEAN = "Filled missing values with the mean of the column"
_FILLED = {
    "number": _BY_MEAN,
    "date": _BY_MEAN,
    "boolean": "Filled missing values with the more frequent value",
    "category": "Missing values are no category, 0 in each feature of the column",
}


class TableEncoder(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Turn the columns of a table into features without a look at the labels.

    - A column of numbers is a feature; texts such as ``"6,891"`` are numbers, and so are
      ``"1.9 %"``, ``"$ 5"`` and ``"12 kg"`` where all have the same unit. The mean fills missing
      values (:class:`sklearn.impute.SimpleImputer`), and what stands for them: a text in a column
      where nine of ten rows and different texts are numbers. Digits that begin with 0 are codes.
    - A column of texts is one feature of 0 and 1 per category
      (:class:`sklearn.preprocessing.OneHotEncoder`); what is missing, in one row only or was not
      seen is 0 in all of them.
    - A column of booleans, or of "yes" and "no", is a feature of 0 and 1; the more frequent value
      fills missing ones.
    - A column of dates, or of times of day, is a feature in days; ``3/4/2024`` is March 4 unless
      another date of the column says that the day comes first.
    - A column without values, of row numbers or IDs, or of texts of which more than half differ is
      left out; ``left_out_`` says why.

    Parameters
    ----------
    decimal : {"auto", ".", ","}, default="auto"
        Decimal sign of numbers in texts; "auto" is a comma if some text is a number only with one.
    max_categories : int, default=50
        Categories of a column at most; rarer ones count as not seen.
    drop_ids : bool, default=True
        Whether row numbers and IDs are left out.

    Attributes
    ----------
    columns_ : list of dict
        How each column that is used becomes features: ``name``, ``type``, ``fill``, ``categories``
        and, for dates in texts, ``format``; ``missing`` lists texts that stand for no number, and
        ``unit`` is what each number has. A metric's file keeps this list.
    left_out_ : dict of str to str
        Names of columns that are left out, and why.
    notes_ : list of str
        Sentences about what was left out, filled, and read in one of two ways.
    transformer_ : ColumnTransformer
        scikit-learn's parts, fitted.
    decimal_ : str
        The decimal sign that "auto" became.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_columns,)
        Names of the columns, if they had any.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"size": ["S", "L", "S", None], "price": ["1,200", "900", None, "3"]})
    >>> encoder = TableEncoder().fit(table)
    >>> encoder.transform(table).tolist()
    [[1.0, 1200.0], [0.0, 900.0], [1.0, 701.0], [0.0, 3.0]]
    >>> encoder.get_feature_names_out()
    array(['size=S', 'price'], dtype=object)
    >>> encoder.notes_[-1]
    'Read as categories: size (1 of 2 texts).'
    """

    def __init__(
        self, *, decimal: str = "auto", max_categories: int = 50, drop_ids: bool = True
    ) -> None:
        self.decimal = decimal
        self.max_categories = max_categories
        self.drop_ids = drop_ids

    def fit(self, X: Any, y: object = None) -> Self:
        """Find out what each column holds.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_columns)
            A table of pandas or polars, or an array.
        y : Ignored
            The labels have no influence.

        Returns
        -------
        TableEncoder
            Itself.
        """
        if self.decimal not in ("auto", ".", ","):
            raise ValueError(
                f"The 'decimal' parameter of TableEncoder must be 'auto', '.' or ',', "
                f"got {self.decimal!r}."
            )
        if self.max_categories < 1:
            raise ValueError(
                "The 'max_categories' parameter of TableEncoder must be a whole number of at "
                f"least 1, got {self.max_categories!r}."
            )
        table = self._columns_of(X, reset=True)
        self.decimal_ = _sign_of(table) if self.decimal == "auto" else self.decimal
        named = hasattr(self, "feature_names_in_")
        kinds = {
            name: kind_of(name, column, decimal=self.decimal_, drop_ids=self.drop_ids and named)
            for name, column in table.items()
        }
        self.left_out_ = {name: kind.reason for name, kind in kinds.items() if not kind.type}
        used = {name: kind for name, kind in kinds.items() if kind.type}
        if not used:
            found = ", ".join(f"{name!r} ({why})" for name, why in self.left_out_.items())
            raise ValueError(f"X has no column to learn from, only {found}: give other columns.")
        self._fill(used, table)
        if self.decimal == "auto" and self.decimal_ == ",":
            example = grouped_by_points(_texts_of(table))
            how = f"as in {example!r}; if that is wrong, set decimal='.'."
            self.notes_ += [f"Points are read as grouping thousands, {how}"] if example else []
        return self

    def _fill(self, kinds: Mapping[str, Kind], table: Mapping[str, npt.NDArray[Any]]) -> Self:
        """Learn fill values and categories of columns of known kinds."""
        self.columns_, filled, others = [], [], []
        for name, kind in kinds.items():
            entry, n_missing = self._entry(name, kind, table[name])
            self.columns_.append(entry)
            if n_missing:
                filled.append((_FILLED[kind.type], name, f"{n_missing:,}"))
            if kind.type == "category":
                others.append(("Read as categories", name, _counted(entry, table[name])))
            others += [(sentence, name, how) for sentence, how in kind.remarks()]
        left_out = [("Left out", name, why) for name, why in self.left_out_.items()]
        self.notes_ = _notes([*left_out, *filled, *others])
        self.transformer_ = _rebuilt(self.columns_)
        return self

    def refit(self, X: Any) -> TableEncoder:
        """Return an encoder with the same kinds of columns; means and categories are those of X."""
        check_is_fitted(self)
        other = TableEncoder(**self.get_params())
        other.__dict__.update(vars(self))
        kinds = {
            entry["name"]: Kind(
                entry["type"],
                entry.get("format"),
                missing=tuple(entry.get("missing", ())),
                unit=entry.get("unit", ""),
            )
            for entry in self.columns_
        }
        return other._fill(kinds, self._columns_of(X, reset=False))

    def transform(self, X: Any) -> FloatArray:
        """Return the features of each row.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_columns)
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
        decimal = self.decimal_
        if decimal == "auto":  # of a file, which is not bound to one country
            decimal = _sign_of(table)
        codes = [codes_of(entry, table[entry["name"]], decimal) for entry in self.columns_]
        return np.asarray(self.transformer_.transform(np.column_stack(codes)), dtype=np.float64)

    def get_feature_names_out(self, input_features: object = None) -> npt.NDArray[np.object_]:
        """Return the names of the features: the column's, with the category behind "="."""
        check_is_fitted(self)
        names = [
            name
            for entry in self.columns_
            for name in (
                [f"{entry['name']}={category}" for category in entry["categories"]]
                if entry["type"] == "category"
                else [entry["name"]]
            )
        ]
        return np.array(names, dtype=object)

    @classmethod
    def from_columns(cls, columns: Sequence[Mapping[str, Any]]) -> Self:
        """Rebuild a fitted encoder of what a file keeps, ``columns_``."""
        encoder = cls()
        encoder.columns_ = [dict(entry) for entry in columns]
        encoder.left_out_, encoder.notes_, encoder.decimal_ = {}, [], "auto"
        encoder.n_features_in_ = len(encoder.columns_)
        encoder._names = [entry["name"] for entry in encoder.columns_]
        encoder.feature_names_in_ = np.array(encoder._names, dtype=object)
        encoder.transformer_ = _rebuilt(encoder.columns_)
        return encoder

    def _columns_of(self, X: Any, *, reset: bool) -> dict[str, npt.NDArray[Any]]:
        """Return the columns by name, each as `plain` has it."""
        if issparse(X):
            raise TypeError(
                "TableEncoder needs a table or a dense array, got sparse data: pass X.toarray()."
            )
        refuse_masked(X, "X")
        refuse_lazy(X, "X")
        if isinstance(X, Columns):
            if reset:
                self._names, self.n_features_in_ = X.columns, len(X.columns)
                self.feature_names_in_ = np.array(X.columns, dtype=object)
            return {name: plain(X[name]) for name in X.columns}
        if not hasattr(X, "columns"):
            X = check_array(X, dtype=None, ensure_all_finite=False)
        validate_data(self, X, reset=reset, skip_check_array=True)
        if hasattr(X, "columns"):
            columns = {str(name): plain(X[name]) for name in X.columns}
        else:
            columns = {f"x{i}": plain(X[:, i]) for i in range(X.shape[1])}
        if reset:
            self._names = [*columns]
        return dict(zip(self._names, columns.values(), strict=True))

    def _entry(self, name: str, kind: Kind, column: npt.NDArray[Any]) -> tuple[dict[str, Any], int]:
        """Return the JSON of a column, and how many of its values are missing."""
        entry: dict[str, Any] = {
            "name": name,
            "type": kind.type,
            "fill": None,
            "categories": None,
        }
        if kind.format is not None:
            entry["format"] = kind.format
        if kind.missing:
            entry["missing"] = list(kind.missing)
        if kind.unit:
            entry["unit"] = kind.unit
        if kind.type == "category":
            cells = as_texts(column)
            texts, counts = np.unique([*filter(None, cells)], return_counts=True)
            n_repeated = int((counts > 1).sum()) or len(counts)
            frequent = np.argsort(-counts, kind="stable")[: min(n_repeated, self.max_categories)]
            entry["categories"] = texts[np.sort(frequent)].tolist()
            return entry, cells.count("")
        codes = codes_of(entry, column, self.decimal_)
        strategy = "most_frequent" if kind.type == "boolean" else "mean"
        fill = float(SimpleImputer(strategy=strategy).fit(codes[:, None]).statistics_[0])
        entry["fill"] = bool(fill) if kind.type == "boolean" else fill
        return entry, int(np.isnan(codes).sum())

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        text = str(super().__repr__(N_CHAR_MAX))
        if not hasattr(self, "transformer_"):
            return text
        n_features, left_out = len(self.get_feature_names_out()), len(self.left_out_)
        told = f"{text}: {n_features} features of {len(self.columns_)} columns"
        return f"{told}, {left_out} left out" if left_out else told

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.string = tags.input_tags.categorical = True
        return tags


def _sign_of(table: Mapping[str, npt.NDArray[Any]]) -> str:
    """Return the decimal sign of the texts of a table."""
    return decimal_sign(_texts_of(table))


def _texts_of(table: Mapping[str, npt.NDArray[Any]]) -> Iterator[str]:
    objects = (column for column in table.values() if column.dtype == object)
    return (cell for column in objects for cell in as_texts(column))


def _counted(entry: Mapping[str, Any], column: npt.NDArray[Any]) -> str:
    """Return how many categories a column has; rare texts are none."""
    n, n_texts = len(entry["categories"]), len({*as_texts(column)} - {""})
    return f"{n} of {n_texts:,} texts" if n < n_texts else f"{n}"


def _notes(told: list[tuple[str, str, str]]) -> list[str]:
    """Return one note for each sentence: names of columns, and how it shows there."""
    columns: dict[str, list[str]] = {}
    for sentence, name, how in told:
        columns.setdefault(sentence, []).append(f"{name} ({how})" if how else name)
    return [f"{sentence}: {listed(names)}." for sentence, names in columns.items()]


def _fill(entry: Mapping[str, Any]) -> float:
    """Return the number that stands for a missing value; a file may have none, or a date."""
    fill = entry["fill"]
    if isinstance(fill, str):
        fill = days(fill, entry.get("format") or ISO)
    return 0.0 if fill is None else float(fill)


def _rebuilt(columns: Sequence[Mapping[str, Any]]) -> ColumnTransformer:
    """Return scikit-learn's parts for the numbers that `codes_of` makes.

    The mean of one row is that row, so that an imputer fitted to the fill values has them.
    """
    parts: list[tuple[str, Any, list[int]]] = []
    places = enumerate(columns)
    for is_category, run in groupby(places, key=lambda place: place[1]["type"] == "category"):
        at, entries = zip(*run, strict=True)
        if is_category:
            known = [np.arange(len(e["categories"]), dtype=np.float64) for e in entries]
            part: Any = OneHotEncoder(
                categories=known, handle_unknown="ignore", sparse_output=False
            )
        else:
            part = SimpleImputer()
        parts.append((f"part{len(parts)}", part, list(at)))
    row = [0.0 if entry["categories"] else _fill(entry) for entry in columns]
    return ColumnTransformer(parts, verbose_feature_names_out=False).fit(np.array([row]))
