"""Numbers and labels in a text: exact, and no more than a table writes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

MISSING = frozenset(
    {"", "na", "n/a", "n.a.", "nan", "null", "(null)", "none", "?", "-nan", "<na>"}
    | {"#n/a", "#null!", "#div/0!", "#value!", "#wert!", "#ref!", "#name?", "#num!"}
)
"""What stands for a missing value, in any case."""

DASHES = frozenset({"-", "--", "\u2013", "\u2014", ".", ":"})
"""What stands for no value among numbers, dates and booleans; among texts it may be a category."""

LONGEST_LABEL = 200
"""Characters of a label; a longer text is no name of a class."""

PER_CENT = "%"
"""The unit of shares, which are a hundredth of what is written."""

_SEPARATOR_OF = {".": ",", ",": "."}  # of thousands, by the decimal sign
_SIGNS = str.maketrans({"\u2212": "-", "\u2019": "'", "\u00a0": " ", "\u202f": " "})
_GROUPED = {
    decimal: re.compile(
        rf"[+-]?[1-9][0-9]{{0,2}}(?:([{separator}' ])[0-9]{{3}})(?:\1[0-9]{{3}})*"
        rf"(?:[{decimal}][0-9]*)?"
    )
    for decimal, separator in _SEPARATOR_OF.items()
}
_LAKHS = re.compile(r"[+-]?[1-9][0-9]?(?:,[0-9]{2})+,[0-9]{3}(?:\.[0-9]*)?")
_CURRENCY = r"(?:[A-Z]{0,2}[$¢£¥₠-₿]|AUD|CAD|CHF|CNY|EUR|GBP|INR|JPY|USD|Rs\.?|kr\.?|zł)"
_MONEY = re.compile(
    rf"(?P<sign>[+-]?)(?P<before>{_CURRENCY}) ?(?P<rest>[^A-Za-z$].*)"
    rf"|(?P<amount>.*[^A-Za-z ]) *(?P<behind>{_CURRENCY})"
)
_SAME_CURRENCY = {"EUR": "€", "GBP": "£", "INR": "₹", "USD": "US$", "Rs.": "Rs", "kr.": "kr"}
_MEASURED = re.compile(  # a unit has no digits but a power, as in m2
    r"([+-]?[0-9](?:[0-9.,' ]*[0-9])?(?:[eE][+-]?[0-9]+)?) *(?![eE][+-]?[0-9])"
    r"((?:[^\W\d_]|[°‰\"\u2032\u2033])\D*[23]?)"
)
_AMBIGUOUS = re.compile(r"[0-9]{1,3}(?: [0-9]{3})+|[0-9]+-|\([0-9]+\)")
_CODE = re.compile(r"\s*0[0-9]+\s*")
_WHOLE = re.compile(r"(-?(?:0|[1-9][0-9]*))(?:\.0*)?")


def as_number(cell: str, decimal: str = ".") -> float | None:
    r"""Return a number as tables write it, or None.

    Thousands may be grouped: by a comma where the decimal sign is a point, by a point where it is
    a comma, by an apostrophe or a space, and as in India. A per cent sign divides by 100. A
    currency may stand in front or behind. A minus may stand behind, and parentheses for it. Python
    also reads ``1_234`` and digits of other scripts; to a table those are texts.

    >>> as_number(" 1.5e3 "), as_number("6,891"), as_number("1.9 %"), as_number("1_234")
    (1500.0, 6891.0, 0.019, None)
    >>> as_number("6.891,5", ","), as_number("0,25", ","), as_number("0,25")
    (6891.5, 0.25, None)
    >>> as_number("-$1,200.50"), as_number("1.200,50- €", ","), as_number("₹ 20,77,037")
    (-1200.5, -1200.5, 2077037.0)
    """
    text = cell.strip().translate(_SIGNS)
    if not text or not (text[0].isdigit() and text[-1].isdigit()):
        text, _ = _amount(text)
    is_share = text.endswith(PER_CENT)
    if is_share:
        text = text[:-1].rstrip()
    if _GROUPED[decimal].fullmatch(text) or (decimal == "." and _LAKHS.fullmatch(text)):
        text = re.sub(f"[{_SEPARATOR_OF[decimal]}' ]", "", text)
    elif decimal == "," and "." in text:
        return None  # what groups thousands is no decimal sign as well
    if decimal == ",":
        text = text.replace(",", ".")
    try:
        number = float(text) if is_plain(text) else None
    except ValueError:
        return None
    return number / 100 if is_share and number is not None else number


def _amount(text: str) -> tuple[str, str]:
    """Return an amount with a minus in front, and its currency."""
    if text.startswith("(") and text.endswith(")"):
        text = f"-{text[1:-1].strip()}"
    money, currency = _MONEY.fullmatch(text), ""
    if money is not None:
        text = money["amount"] or f"{money['sign']}{money['rest']}"
        currency = money["before"] or money["behind"]
    is_minus_behind = text.endswith("-") and text[:1].isdigit()
    return f"-{text[:-1]}" if is_minus_behind else text, _SAME_CURRENCY.get(currency, currency)


def bare_number(cell: str, decimal: str = ".") -> float | None:
    """Return a number that has no unit, no per cent sign and no currency, or None.

    >>> bare_number("1,200"), bare_number("12 %"), bare_number("€ 12"), bare_number("12 kg")
    (1200.0, None, None, None)
    """
    return None if number_and_unit(cell)[1] else as_number(cell, decimal)


def reading(cell: str, number: float) -> str:
    """Say how a cell is read that may be no number: whole, with blanks, a minus behind or in ().

    >>> reading("694 251 703", 694251703.0), reading("2-", -2.0), reading("2,5-", -2.5)
    ("'694 251 703' as 694251703", "'2-' as -2", '')
    """
    text = cell.strip().translate(_SIGNS)
    return f"{text!r} as {number:.15g}" if _AMBIGUOUS.fullmatch(text) else ""


def number_and_unit(cell: str) -> tuple[str, str]:
    """Return the number and the unit of a text, or the whole text and nothing.

    A per cent sign and a currency are units, too, which `as_number` takes with the number.

    >>> number_and_unit("1,5 kg"), number_and_unit("30m²"), number_and_unit("kg")
    (('1,5', 'kg'), ('30', 'm²'), ('kg', ''))
    >>> number_and_unit("3e3  kg"), number_and_unit("1.9 %"), number_and_unit("5 EUR")
    (('3e3', 'kg'), ('1.9 %', '%'), ('5 EUR', '€'))
    """
    text = cell.strip().translate(_SIGNS)
    amount, currency = _amount(text)
    if currency or amount.endswith(PER_CENT):
        return cell, currency or PER_CENT
    found = _MEASURED.fullmatch(text)
    return (cell, "") if found is None else (found[1], found[2])


def is_code(cell: str) -> bool:
    """Whether digits begin with a zero, as postcodes may do and numbers do not.

    >>> is_code("01234"), is_code("0"), is_code("0.5")
    (True, False, False)
    """
    return _CODE.fullmatch(cell) is not None


def decimal_sign(cells: Iterable[str], *, likely: str = ".") -> str:
    """Return the decimal sign of a table.

    It is a comma where some cell is a number only with one, or could be one with a comma and a
    comma is ``likely``. Without commas, several points in a cell say so, too, unless another cell
    is a number whose point cannot group thousands: they may be those of an ID.

    >>> decimal_sign(["6,891", "12"]), decimal_sign(["6,891", "0,5"]), decimal_sign(["1.234.567"])
    ('.', ',', ',')
    >>> decimal_sign(["6,891", "12"], likely=","), decimal_sign(["1.234.567", "2.51"])
    (',', '.')
    """
    texts = [cell for cell in cells if "," in cell or "." in cell]
    for cell in texts:
        number, _ = number_and_unit(cell) if "," in cell else ("", "")
        if as_number(number, ",") is not None and (likely == "," or as_number(number) is None):
            return ","
    several = (cell for cell in texts if cell.count(".") > 1)
    if any(_needs(",", cell) for cell in several):
        return "." if any(_needs(".", cell) for cell in texts) else ","
    return "."


def _needs(decimal: str, cell: str) -> bool:
    """Whether a cell is a number with that decimal sign, and none with the other."""
    number, _ = number_and_unit(cell)
    other = _SEPARATOR_OF[decimal]
    return as_number(number, decimal) is not None and as_number(number, other) is None


def grouped_by_points(cells: Iterable[str]) -> str:
    """Return the first number of several points, if no number has the comma that is the sign.

    >>> grouped_by_points(["May, 1", "1.234.567"]), grouped_by_points(["0,5", "1.234.567"])
    ('1.234.567', '')
    """
    signs = [cell for cell in cells if "," in cell or cell.count(".") > 1]
    numbers = [cell for cell in signs if as_number(number_and_unit(cell)[0], ",") is not None]
    return "" if any("," in cell for cell in numbers) else next(map(str.strip, numbers), "")


def are_grouped(cells: Iterable[str], decimal: str) -> bool:
    """Whether all cells are numbers of which some are in groups, if ``decimal`` is that sign.

    >>> are_grouped(["1.234", "980"], ","), are_grouped(["1.234", "9.5"], ",")
    (True, False)
    """
    signs = [cell.strip() for cell in cells if _SEPARATOR_OF[decimal] in cell]
    return bool(signs) and all(_GROUPED[decimal].fullmatch(sign) for sign in signs)


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
