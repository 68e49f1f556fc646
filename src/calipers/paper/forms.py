"""The form of a row: what tables and pictures may rely on, also after somebody edited the file."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import isfinite
from typing import Any, NamedTuple

from calipers.data.files import FileError
from calipers.paper.runs import RunFile
from calipers.paper.systems import STUDIED, SYSTEMS

ANY_METHOD = "*"
"""Stands for every method in a row about a data set that cannot be had."""

LARGEST = 10**15
"""Of counts, errors and seconds."""


class Form(NamedTuple):
    """What a part of a row must be, in code and in words."""

    fits: Callable[[Any], bool]
    words: str


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= LARGEST


def _is_finite(value: Any) -> bool:
    """A number, or null, which stands for what is none."""
    return value is None or _is_count(value) or (isinstance(value, float) and isfinite(value))


def _is_number(value: Any) -> bool:
    """The same, of a size that can be summed and squared."""
    return _is_finite(value) and (value is None or abs(value) <= LARGEST)


def _is_list(value: Any, of: Callable[[Any], bool], length: int | None = None) -> bool:
    if not isinstance(value, list) or not all(map(of, value)):
        return False
    return length is None or len(value) == length


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_object(value: Any, **parts: Callable[[Any], bool]) -> bool:
    return isinstance(value, dict) and all(
        name in value and of(value[name]) for name, of in parts.items()
    )


def _are_lists(value: Any, **parts: Callable[[Any], bool]) -> bool:
    """An object of lists of one length."""
    lists = {name: partial(_is_list, of=of) for name, of in parts.items()}
    return _is_object(value, **lists) and len({len(value[name]) for name in parts}) == 1


_is_training = partial(_are_lists, triplets=_is_count, loss=_is_finite)
_is_curve = partial(_is_training, updates=_is_count)


def _is_label(value: Any) -> bool:
    return value is not None and (_is_text(value) or isinstance(value, bool) or _is_number(value))


def _is_point(value: Any) -> bool:
    return _is_list(value, lambda v: isinstance(v, int | float) and abs(v) <= LARGEST, 2)


_is_picture = partial(_are_lists, classes=_is_label, before=_is_point, after=_is_point)


def _or_null(form: Form) -> Form:
    return Form(lambda value: value is None or form.fits(value), f"{form.words}, or null")


_COUNT_COLUMNS = dict.fromkeys(("n_classes", "n_features", "n_train", "n_test"), _is_count)
_BOUNDS = dict.fromkeys(("updates", "sharp", "contraction"), _is_finite)

FORMS: dict[str, Form] = {
    "method": Form(
        lambda v: v in SYSTEMS or v in STUDIED or v == ANY_METHOD,
        f"one of {', '.join(SYSTEMS)}, {ANY_METHOD}, or one of the parameter study",
    ),
    "run": Form(_is_count, "a count"),
    **dict.fromkeys(
        ("error", "seconds", "mining_seconds", "updates", "projections"),
        Form(_is_number, f"a number up to {LARGEST:.0e}, or null"),
    ),
    **dict.fromkeys(("skipped", "failed", "when", "commit"), _or_null(Form(_is_text, "a text"))),
    **dict.fromkeys(("versions", "machine"), Form(_is_object, "an object")),
    "settings": Form(partial(_is_object, n_triplets=_is_count), "an object with n_triplets"),
    "data": Form(
        partial(_is_object, **_COUNT_COLUMNS, note=_is_text),
        f"an object with counts {', '.join(_COUNT_COLUMNS)} and a text note",
    ),
    "notes": _or_null(Form(partial(_is_list, of=_is_text), "a list of texts")),
    "spectrum": _or_null(Form(partial(_is_list, of=_is_finite), "a list of numbers")),
    "curve": _or_null(
        Form(_is_curve, "an object with lists triplets, loss and updates of one length")
    ),
    "training": _or_null(Form(_is_training, "an object with lists triplets and loss")),
    "trained_on": _or_null(Form(_is_count, "a count")),
    "bound": _or_null(
        Form(partial(_is_object, **_BOUNDS), f"an object with numbers {', '.join(_BOUNDS)}")
    ),
    "picture": _or_null(
        Form(_is_picture, "an object with lists classes, before and after of one length")
    ),
}
"""Parts that a row may have; others are nobody's business."""


def check(file: RunFile, identity: str) -> None:
    """Look at the rows of one identity, which a report is about to be made of.

    Raises
    ------
    FileError
        A part of a row is not what tables and pictures can show.
    """
    for number, row in file.numbered():
        for name in row.keys() & FORMS.keys() if row["identity"] == identity else ():
            if not FORMS[name].fits(row[name]):
                raise FileError(
                    f"{str(file.path)!r}, line {number}: {name!r} must be {FORMS[name].words}, got "
                    f"{_short(row[name])}: mend the line or remove it."
                )


def _short(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) <= 60 else f"{shown[:60]}..."
