"""Rows made into cells, and into sentences."""

from __future__ import annotations

import pytest

from calipers.paper import remarks
from calipers.paper.datasets.paper import SETS
from calipers.paper.summary import Cell, Summary
from paper_rows import DATA, row, some


def test_cells_are_means_beside_the_papers() -> None:
    summary = Summary(some())
    assert summary.names == ["semeion", "letter", "sensit"]
    updates = summary.updates["semeion", "as-sgd"]
    assert (updates.ours, updates.paper, updates.runs) == (145, 142.2, 2)
    assert updates.std == pytest.approx(50**0.5)
    assert updates.per_cent == pytest.approx(100 * (145 / 142.2 - 1))
    error = summary.errors["semeion", "ha-sgd"]
    assert error.difference == pytest.approx(9.0 - 6.2)
    assert error.std is None
    assert summary.errors["sensit", "sgd"] == Cell(paper=24.0, why="sensit is not here.")
    assert summary.mining_seconds["semeion", "sgd"].ours == 0.5


def test_an_absent_number_has_a_reason() -> None:
    summary = Summary(some())
    assert summary.errors["letter", "lmnn"].why == "too many rows"
    assert summary.errors["letter", "sgd"].why == "ValueError: no"
    assert summary.errors["letter", "hr-sgd"].why == "not run"
    assert summary.seconds["letter", "euclidean"].why == ""  # there is none to be had


def test_not_a_number_in_the_paper_is_none() -> None:
    summary = Summary([row("poker", "lmnn")])
    assert summary.errors["poker", "lmnn"].paper is None
    assert summary.errors["poker", "lmnn"].difference is None
    assert summary.errors["poker", "lmnn"].says_none
    assert not summary.errors["poker", "sgd"].says_none


def test_speed_up_is_relative_to_sgd_on_both_sides() -> None:
    summary = Summary(some())
    cell = summary.speed_up("semeion", "as-sgd")
    assert cell.ours == pytest.approx(10.0)
    assert cell.paper == pytest.approx(2172.4 / 45.2)
    assert summary.speed_up("letter", "as-sgd").ours is None


def test_stand_ins_are_named_as_such() -> None:
    assert SETS["poker"].npz is not None
    note = SETS["poker"].npz.note
    rows = [row("poker", "sgd", data={**DATA, "note": note}), row("dna", "sgd")]
    rows.append(row("protein", "sgd", data={**DATA, "note": "the complete files of LIBSVM"}))
    stand_in = {data.name: data.is_stand_in for data in Summary(rows).datasets}
    assert stand_in == {"dna": False, "protein": False, "poker": True}
    sentences = remarks.unmatched(Summary(rows))
    assert f"poker is a stand-in for the paper's data: {note}." in sentences
    assert "protein: the complete files of LIBSVM." in sentences


def test_sentences_are_only_about_what_was_run() -> None:
    text = " ".join(remarks.unmatched(Summary(some())))
    assert "HA-SGD finds W" in text
    assert "LEGO" in text
    assert "letter is scaled" in text
    assert "connect4" not in text
    alone = " ".join(remarks.unmatched(Summary([row("dna", "as-sgd")])))
    assert "LEGO" not in alone
    assert "compare ratios" in alone
    digits = remarks.unmatched(Summary([row("digits", "as-sgd")]))
    assert "digits is not one of the paper's data sets: nothing to compare." in digits


def test_what_was_not_run_is_told_with_the_reason() -> None:
    sentences = remarks.not_run(Summary(some()))
    assert sentences[0] == "sensit: sensit is not here."
    assert "LMNN on letter: too many rows." in sentences
    assert any(text.startswith("MMC, MCML, SPML, Mini-SGD, HR-SGD") for text in sentences)
    assert "SGD on letter: ValueError: no." in sentences


def test_protocol_counts_runs_and_owns_up_to_other_settings() -> None:
    text = " ".join(remarks.protocol(Summary(some())))
    assert "semeion 2, letter 1" in text
    assert "nothing here can be expected" not in text
    few = row("dna", "sgd", settings={"n_triplets": 500})
    assert "with 500 triplets nothing here can be" in " ".join(remarks.protocol(Summary([few])))


def test_the_farthest_errors_come_first() -> None:
    first, *rest = remarks.farthest(Summary(some()))
    assert first == "LEGO on semeion: 6.0 %, paper 11.9 % (-5.9 points)"
    assert rest[0].startswith("AS-SGD on letter: 6.0 %, paper 2.1 % (+3.9")
    assert remarks.said(Summary(some())) == ["HA-SGD on semeion: One note."]
