"""Other learners beside ours, by the same splits."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks import peers
from benchmarks.__main__ import main

from benchmark_rows import finite, run

pytestmark = pytest.mark.usefixtures("no_data_folder")


@pytest.mark.slow
def test_peers(tmp_path: Path) -> None:
    wanted = ["calipers TripletSGD ha-sgd"]
    rows = run("peers", tmp_path, "--only", "wine", "--seeds", "0", "--peers", *wanted)
    assert [row["peer"] for row in rows] == wanted
    assert all(finite(row, "error", "seconds") for row in rows)


def test_means_are_over_seeds_and_without_what_was_skipped() -> None:
    row = {"data": "a", "peer": "b", "seconds": 1.0, "cpu_seconds": 1.0, "megabytes": 2.0}
    (line,) = peers.means([row | {"error": 4.0}, row | {"error": 6.0}, row | {"skipped": "no"}])
    assert (line["n_runs"], line["error"], line["deviation"]) == (2, 5.0, 1.0)


def test_a_peer_that_fails_is_a_row_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = peers.CONTESTANTS[0]._replace(settings={"learner": "Nobody"})
    foreign = next(one for one in peers.CONTESTANTS if one.home == "torch")
    monkeypatch.setattr(peers, "CONTESTANTS", (wrong, foreign))
    words = ["peers", "--rows", str(tmp_path / "rows.jsonl"), "--only", "wine", "nothing"]
    failed, without, unknown = main([*words, "--seeds", "0", "--peers", wrong.name, foreign.name])
    assert "no attribute 'Nobody'" in failed["skipped"]
    assert "--environments DIR" in without["skipped"]
    assert "nothing" in unknown["skipped"]
