"""Rows on disk: whole lines only, whatever happens to the process that writes them."""

from __future__ import annotations

import json
from math import inf, nan
from pathlib import Path

import pytest

from calipers.paper import runs
from calipers.paper.runs import Identity, RunFile, check_folder, identity, latest, of_identity
from paper_rows import row


def test_rows_come_back_as_they_were(tmp_path: Path) -> None:
    file = RunFile(tmp_path / "runs.jsonl")
    assert file.read() == []
    rows = [row("semeion", "sgd"), row("naïve \u2028", "as-sgd", 1)]
    for one in rows:
        file.append(one)
    assert file.read() == rows
    assert file.n_dropped == 0


@pytest.mark.parametrize("cut", [1, 5, 100])
def test_a_half_written_line_is_dropped_and_then_cut_off(tmp_path: Path, cut: int) -> None:
    file = RunFile(tmp_path / "runs.jsonl")
    first, second = row("semeion", "sgd"), row("dna", "sgd")
    file.append(first)
    with file.path.open("ab") as lines:
        lines.write(json.dumps(second).encode()[:cut])
    assert file.read() == [first]
    assert file.n_dropped == 1
    file.append(second)
    assert file.read() == [first, second]
    assert file.n_dropped == 0


def test_a_first_line_that_was_not_finished_is_cut_off_too(tmp_path: Path) -> None:
    file = RunFile(tmp_path / "runs.jsonl")
    file.path.write_text('{"dataset": "semei')
    file.append(row("dna", "sgd"))
    assert [one["dataset"] for one in file.read()] == ["dna"]


def test_lines_that_are_not_rows_are_counted(tmp_path: Path) -> None:
    file = RunFile(tmp_path / "runs.jsonl")
    good = json.dumps(row("dna", "sgd"))
    wrong = [b"[1, 2]", b'{"dataset": "dna"}', b"\xff\xfe", b'{"dataset": 1, "method": "x"}']
    file.path.write_bytes(b"\n".join([*wrong, good.encode(), b""]))
    assert len(file.read()) == 1
    assert file.n_dropped == len(wrong)


def test_numbers_that_json_does_not_know_become_nothing(tmp_path: Path) -> None:
    file = RunFile(tmp_path / "runs.jsonl")
    file.append(row("dna", "sgd", error=nan, bound={"updates": inf}, spectrum=[1.0, -inf]))
    (read,) = file.read()
    assert (read["error"], read["bound"]["updates"], read["spectrum"]) == (None, None, [1.0, None])


def test_identity_depends_on_settings_versions_and_machine() -> None:
    usual = Identity({"n": 1}, {"numpy": "2"}, {"cores": 2})
    others = [
        Identity({"n": 2}, {"numpy": "2"}, {"cores": 2}),
        Identity({"n": 1}, {"numpy": "3"}, {"cores": 2}),
        Identity({"n": 1}, {"numpy": "2"}, {"cores": 4}),
    ]
    assert len({usual.digest, *(other.digest for other in others)}) == 4
    assert usual.digest == Identity({"n": 1}, {"numpy": "2"}, {"cores": 2}).digest


def test_identity_tells_versions_and_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    facts = identity({"n": 1}).as_row()
    assert {"calipers", "code", "python", "numpy", "scipy", "scikit-learn"} <= set(
        facts["versions"]
    )
    assert not {"rich", "matplotlib", "pytest"} & set(facts["versions"])
    assert set(facts["machine"]) == {"cpu", "cores", "threads", "system"}
    monkeypatch.setenv("CALIPERS_NUM_THREADS", "7")
    assert identity({"n": 1}).digest != facts["identity"]


def test_identity_tells_sources_apart_but_not_those_of_reports(tmp_path: Path) -> None:
    (tmp_path / "paper").mkdir()
    solver, table = tmp_path / "solver.py", tmp_path / "paper" / "table.py"
    solver.write_text("x = 1")
    table.write_text("y = 1")
    before = runs._sources_digest(tmp_path)
    table.write_text("y = 2")
    assert runs._sources_digest(tmp_path) == before
    solver.write_text("x = 2")
    assert runs._sources_digest(tmp_path) != before


def test_the_last_row_about_a_run_counts() -> None:
    rows = [row("dna", "sgd", error=1.0), row("dna", "sgd", error=2.0), row("dna", "lego")]
    other = row("dna", "oasis", identity="other")
    assert [one["error"] for one in of_identity([*rows, other], "abc")] == [2.0, 6.0]
    assert latest([*rows, other]) == [other]
    assert latest([]) == []


def test_a_data_set_whose_files_were_exchanged_starts_afresh() -> None:
    old = [row("poker", "sgd", run, files=[["poker_sim.npz", 1]]) for run in (0, 1)]
    new = row("poker", "sgd", 0, files=[["poker.data", 2]])
    missing = {"dataset": "sensit", "method": "*", "run": 0, "identity": "abc", "skipped": "no"}
    assert of_identity([*old, row("dna", "sgd"), missing], "abc") == [
        *old,
        row("dna", "sgd"),
        missing,
    ]
    assert of_identity([*old, new, missing], "abc") == [new, missing]


def test_folders_that_cannot_be_used_get_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    check_folder(tmp_path / "new" / "folder", create=True)
    assert (tmp_path / "new" / "folder").is_dir()
    with pytest.raises(FileNotFoundError, match=r"There is no folder '.*': run something first"):
        check_folder(tmp_path / "nowhere", create=False)
    (tmp_path / "file").touch()
    with pytest.raises(NotADirectoryError, match="is a file: name a folder with --output"):
        check_folder(tmp_path / "file", create=True)

    def refuse(**_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(runs, "TemporaryFile", refuse)
    with pytest.raises(PermissionError, match=r"\(Permission denied\): name another place"):
        check_folder(tmp_path, create=True)
