"""The fingerprint: its verdicts, and on the quick data sets the numbers themselves."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

import pytest
from rich.console import Console

from calipers.paper import fingerprint
from calipers.paper.datasets import DatasetError
from calipers.paper.fingerprint import Comparison, plan
from calipers.paper.progress import Meter, meter
from calipers.paper.tables import fingerprint_remarks, fingerprint_table
from data_folder import FOLDER, needs_data

NEAR = Comparison(
    dataset="dna",
    method="as-sgd",
    runs=4,
    updates=714.07,
    published_updates=707,
    error=8.8,
    published_error=8.4,
    update_tolerance=10,
    error_tolerance=1.0,
)


def run(chosen: dict[str, int]) -> dict[tuple[str, str], Comparison]:
    with meter(1, console=Console(file=io.StringIO())) as bar:
        rows = list(fingerprint.run(chosen, data_dir=str(FOLDER), meter=bar))
    return {(row.dataset, row.method): row for row in rows}


def test_differences_are_per_cent_and_points() -> None:
    assert NEAR.update_difference == pytest.approx(1.0)
    assert NEAR.error_difference == pytest.approx(0.4)


@pytest.mark.parametrize(
    ("change", "within"),
    [
        ({}, True),
        ({"updates": 777.0}, True),
        ({"updates": 779.0}, False),
        ({"updates": 600.0}, False),
        ({"updates": 600.0, "update_tolerance": None}, True),
        ({"error": 9.5}, False),
        ({"error": 9.5, "error_tolerance": None}, True),
    ],
)
def test_verdict(change: dict[str, float], within: bool) -> None:
    assert replace(NEAR, **change).within == within  # type: ignore[arg-type]


def test_plan_takes_what_is_asked() -> None:
    assert plan() == fingerprint.FINGERPRINT_RUNS
    assert plan(["letter"], quick=True) == {"letter": 1}
    assert plan(quick=True, runs=3) == {"semeion": 3, "dna": 3}
    with pytest.raises(DatasetError, match="The paper has no numbers for 'iris': choose among sem"):
        plan(["iris"])


def test_table_and_remarks_say_what_was_missed() -> None:
    far = replace(NEAR, dataset="letter", updates=900.0, note="half of it")
    console = Console(file=io.StringIO(), width=110)
    console.print(fingerprint_table([NEAR, far]))
    assert isinstance(console.file, io.StringIO)
    text = console.file.getvalue()
    assert "+1.0 %" in text
    assert "10 % yes" in text
    assert "10 % NO" in text
    remarks = fingerprint_remarks([NEAR, far])
    assert remarks[0] == "1 of 2 rows with a tolerance are within it."
    assert remarks[1] == "letter: half of it."
    assert remarks[2].startswith("Means of fewer than ten runs: dna, letter ")


class Untouched(Meter):
    """A meter that no step may reach."""

    def __init__(self) -> None:
        pass

    def step(self, name: str, **_: object) -> NoReturn:
        pytest.fail(f"work began with {name}")


def test_a_missing_file_is_told_before_any_work(tmp_path: Path) -> None:
    (tmp_path / "dna.npz").touch()
    rows = fingerprint.run({"dna": 1, "letter": 1}, data_dir=str(tmp_path), meter=Untouched())
    with pytest.raises(DatasetError, match=r"needs letter\.npz or letter-recognition\.data, which"):
        next(rows)


def test_downloads_move_the_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    untouched = Untouched()

    class AskedError(Exception):
        pass

    def require(name: str, *, report: object, **_: object) -> None:
        assert report == untouched.download
        raise AskedError(name)

    monkeypatch.setattr("calipers.paper.datasets.require", require)
    with pytest.raises(AskedError, match="dna"):
        next(fingerprint.run({"dna": 1}, meter=untouched))


@needs_data
def test_semeion_and_dna_bear_the_fingerprint() -> None:
    rows = run({"semeion": 2, "dna": 1})
    dna, semeion = rows["dna", "as-sgd"], rows["semeion", "as-sgd"]
    assert dna.within, dna
    # two splits of semeion scatter more than the ten that the tolerance is for
    assert abs(semeion.update_difference) <= 20, semeion
    assert abs(semeion.error_difference) <= 2, semeion
    assert abs(rows["dna", "hr-sgd"].update_difference) <= 15
