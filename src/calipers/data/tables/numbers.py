"""Numbers and labels in a text: exact, and no more than a table writes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "?", "-nan", "#n/a", "<na>"})
"""What stands for a missing value, in any case."""

LONGEST_LABEL = 200
"""Characters of a label; a longer text is no name of a class."""

_WHOLE = re.compile(r"(-?(?:0|[1-9][0-9]*))(?:\.0*)?")


def as_number(cell: str) -> float | None:
    r"""Return a number as tables write it, or None.

    Python also reads ``1_234`` and digits of other scripts; to a table those are texts.

    >>> as_number(" 1.5e3 "), as_number("1_234"), as_number("\u0661")
    (1500.0, None, None)
    """
    try:
        return float(cell) if is_plain(cell) else None
    except ValueError:
        return None


def is_plain(text: str) -> bool:
    """Return whether a text has only characters that numbers may have in a table."""
    return "_" not in text and text.isascii()


def labels_of_texts(texts: Sequence[str]) -> npt.NDArray[Any]:
    """Return labels as int64 if each is a whole number without leading zeros, else as they are.

    >>> labels_of_texts(["9007199254740993", "-2.0"])
    array([9007199254740993,               -2])
    >>> labels_of_texts(["7", "07"])
    array(['7', '07'], dtype='<U2')
    """
    found = [_WHOLE.fullmatch(text) for text in texts]
    if all(found):
        whole = [int(match[1]) for match in found if match]
        if all(-(2**63) <= label < 2**63 for label in whole):
            return np.array(whole, dtype=np.int64)
    return as_texts(texts)


def as_texts(texts: Sequence[str]) -> npt.NDArray[Any]:
    """Return texts as an array; NumPy's own texts would all be as long as the longest."""
    is_short = max(map(len, texts), default=0) <= LONGEST_LABEL
    return np.array(texts) if is_short else np.array(texts, dtype=object)
