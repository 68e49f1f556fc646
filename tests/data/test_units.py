"""Units, shares, amounts and times of day: one for all numbers of a column, then and now."""

from __future__ import annotations

import json
from datetime import datetime, time
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from calipers import TableEncoder
from table_rows import samples_of


def frame(cells: list[Any]) -> pd.DataFrame:
    return pd.DataFrame({"a": pd.Series(cells, dtype=object)})


def fitted(cells: list[Any]) -> list[TableEncoder]:
    """An encoder, one as a file gives it back, and one of other rows."""
    encoder = TableEncoder().fit(frame(cells))
    rebuilt = TableEncoder.from_columns(json.loads(json.dumps(encoder.columns_)))
    return [encoder, rebuilt, encoder.refit(frame(cells))]


@pytest.mark.parametrize(
    ("cells", "told"),
    [
        (["40", "31%", "29 %", "7", "12%"], "numbers with different units, such as '%' and none"),
        (["€40", "$42", "€7", "$ 8", "9 €"], "numbers with different units, such as '€' and '$'"),
        (["€40", "42", "€7", "8", "9 €"], "numbers with different units, such as '€' and none"),
    ],
)
@pytest.mark.parametrize("is_file", [False, True])
def test_several_units_in_a_column(
    cells: list[str], told: str, is_file: bool, tmp_path: Path
) -> None:
    if is_file:
        rows = [f"{cell},{i / 4},{'xy'[i % 2]}" for i, cell in enumerate(cells)]
        (tmp_path / "a.csv").write_text("\n".join(["a,b,y", *rows]))
        left_out = samples_of(tmp_path / "a.csv", label="y").left_out
    else:
        left_out = TableEncoder().fit(frame(cells).assign(b=[1.5, 2, 3, 4, 5])).left_out_
    assert left_out == {"a": told}


@pytest.mark.parametrize(
    ("cells", "unit", "alike", "others"),
    [
        (["1%", "2 %", "(5%)"], "%", ["50 %"], ["50", "€ 50", "50 kg"]),
        (["€ 1", "2 EUR", "3  €"], "€", ["0.5 EUR"], ["¥ 5", "$5", "5", "5%"]),
        (["-$1,200", "$3", "4$"], "$", ["$0.5"], ["C$5", "5"]),
        (["1 kg", "2  kg", "3e3 kg"], "kg", ["5e-1   kg"], ["5%", "5"]),
        (["1", "2", "30"], "", ["0.5"], ["5%", "€ 5", "5 kg"]),
    ],
)
def test_new_numbers_have_the_unit_of_the_old_ones(
    cells: list[str], unit: str, alike: list[str], others: list[str]
) -> None:
    needed = f"a number in {unit!r}" if unit else "a number without a unit"
    for encoder in fitted(cells):
        assert encoder.columns_[0].get("unit", "") == unit
        assert encoder.transform(frame(alike)).tolist() == [[0.5]]
        for other in others:
            with pytest.raises(ValueError, match="in row 2, where ") as caught:
                encoder.transform(frame([alike[0], other]))
            assert f"has {other!r} in row 2, where {needed} is needed" in str(caught.value)


def test_bare_numbers_are_no_shares() -> None:
    for encoder in fitted(["1%", "2%", "5%"]):
        with pytest.raises(ValueError, match="'a' has '50' in row 2, where a number in '%' is"):
            encoder.transform(pd.DataFrame({"a": [None, 50.0]}))
        assert encoder.transform(pd.DataFrame({"a": [None, float("nan")]})).shape == (2, 1)


def test_shares_and_amounts_of_a_file(tmp_path: Path) -> None:
    rows = ["€ 1.234,50;1,9 %;x", "12 €;50%;z", "7,25 EUR;3 %;x"]
    (tmp_path / "a.csv").write_text("\n".join(["price;rate;y", *rows]))
    data = samples_of(tmp_path / "a.csv", label="y")
    assert data.X.tolist() == [[1234.5, 0.019], [12, 0.5], [7.25, 0.03]]
    assert data.notes == ["Read as numbers with a unit: price (€), rate (%)."]


def test_times_of_day_are_shares_of_a_day() -> None:
    for encoder in fitted(["06:00", "18:00", "12:30"]):
        new = ["06:00:00", "6:00 PM", "12:00:00 am", time(12), time(0, 0, 0, 1)]
        images = encoder.transform(frame(new)).ravel().tolist()
        assert images == pytest.approx([0.25, 0.75, 0, 0.5, 0], abs=1e-9)
        for wrong in ("2024-01-31", "2024-01-31 06:00", datetime(2024, 1, 31, 6)):
            with pytest.raises(ValueError, match="where a time of day such as 00:00 is needed"):
                encoder.transform(frame([wrong, "06:00"]))
    for encoder in fitted(["6:00 AM", "12:30 PM", "11:59 pm"]):
        assert encoder.transform(frame(["6:00 PM"])).tolist() == [[0.75]]


@pytest.mark.parametrize("cells", [["2024-01-31", "2023-12-01"], [datetime(2024, 1, 31)] * 2])
def test_a_time_of_day_is_no_date(cells: list[Any]) -> None:
    for encoder in fitted(cells):
        with pytest.raises(ValueError, match="'12:30' in row 1, where a date such as 2024-12-31"):
            encoder.transform(frame(["12:30"]))


def test_a_text_in_many_rows_is_no_missing_number() -> None:
    numbers = [f"{i}.5" for i in range(30)]
    encoder = TableEncoder().fit(frame([*numbers, *["<5"] * 3]))
    assert encoder.columns_[0]["missing"] == ["<5"]
    other = frame([*numbers, *["<5"] * 20]).assign(b=range(0, 100, 2))
    told = "'<5' stands among numbers: write it as a number, or leave it empty"
    assert TableEncoder().fit(other).left_out_ == {"a": told}
