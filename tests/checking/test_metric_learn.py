"""The command that runs metric-learn's tests with our classes; here with an archive of our own."""

from __future__ import annotations

import json
import subprocess
import tarfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from checks import ROOT, metric_learn, switched
from checks.__main__ import main

import calipers

PAGE = (ROOT / "docs" / "metric_learn.rst").read_text()
ARCHIVE = {
    "metric_learn/__init__.py": "ITML = NCA = object",
    "metric_learn/base_metric.py": "",
    "test/test_all.py": """
import numpy as np
import pytest
from metric_learn import ITML, NCA

X, y = np.random.default_rng(0).normal(size=(40, 3)), np.arange(40) % 2

@pytest.mark.parametrize("n", [1, 2])
def test_dimensions(n):
    assert NCA(n_components=n, verbose=True).fit(X, y).transform(X).shape == (40, n)

def test_pairs():
    pairs = np.arange(40).reshape(20, 2)
    model = ITML(gamma=2.0, preprocessor=X).fit(pairs, y[:20], calibration_params={})
    assert model.slack_weight == 2.0
    with pytest.raises(ValueError) as raised:
        model.fit(pairs, y[:3])
    assert str(raised.value) == "words of its own"

def test_random():
    NCA(init="random").fit(X, y)

def test_of_its_own():
    assert False
""",
}


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    folder = tmp_path / "metric-learn-0.0"
    for name, text in ARCHIVE.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    with tarfile.open(tmp_path / "archive.tar.gz", "w:gz") as made:
        made.add(folder, folder.name)
    return tmp_path / "archive.tar.gz"


def held(archive: Path) -> tuple[int, dict[str, Any]]:
    file = archive.parent / "rows.jsonl"
    code = main(["metric-learn", "--archive", str(archive), "--rows", str(file)])
    return code, {row["behaviour"]: row for row in map(json.loads, file.read_text().splitlines())}


def test_behaviours_are_counted_and_differences_have_a_reason(
    archive: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, rows = held(archive)
    assert code == 0
    assert {name: (row["tried"], row["held"]) for name, row in rows.items()} == {
        "all::test_dimensions": (2, 2),
        "all::test_pairs": (1, 1),
        "all::test_random": (1, 0),  # a test that makes no class of ours is not counted
    }
    assert rows["all::test_random"]["reasons"] == "nothing starts at random"
    assert "3 of 4 tests hold; 0 do not and have no reason" in capsys.readouterr().out


def test_a_difference_without_a_reason_does_not_hold(
    archive: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = {"file": "test_all", "test": "test_x", "is_ours": True, "outcome": "failed", "said": "?"}
    monkeypatch.setattr(metric_learn, "tested", lambda folder: [row])
    code, rows = held(archive)
    assert code == 1
    assert rows["all::test_x"]["unexplained"] == "test_all::test_x"


def test_offline_it_says_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    failed = subprocess.CompletedProcess([], 1, "", "no network")
    monkeypatch.setattr(subprocess, "run", lambda *words, **more: failed)
    with pytest.raises(SystemExit, match=r"^The source archive of metric-learn .* go online, or "):
        metric_learn.downloaded(tmp_path)


def on_page(*needed: str) -> bool:
    """Whether a line of the page's tables has the words: the last on the right, others left."""
    lines: list[list[str]] = []
    for line in PAGE.splitlines():
        if line.startswith("``"):
            lines.append([line[:51], line[51:]])
        elif line.startswith(" " * 51):
            lines[-1][1] += line
    *left, right = (f"``{word}" for word in needed)
    return any(all(word in line[0] for word in left) and right in line[1] for line in lines)


@pytest.mark.parametrize("name", switched.CLASSES)
def test_the_page_has_the_classes_and_words(name: str) -> None:
    switch = switched.CLASSES[name]
    theirs = name if f"``{name}" in PAGE else name.removesuffix("_Supervised")
    assert on_page(theirs, switch.ours)
    for word, ours in switch.words.items():
        assert on_page(word, ours)
        assert ours in getattr(calipers, switch.ours)().get_params()
    assert not on_page(theirs, "NoSuchLearner")


def test_stand_ins_take_indices_of_a_preprocessor() -> None:
    X, y = np.random.default_rng(0).normal(size=(40, 3)), np.arange(40) % 2
    made = switched.stand_in("NCA", switched.CLASSES["NCA"])
    model = made(preprocessor=X, random_state=0).fit(np.arange(40), y)
    np.testing.assert_array_equal(model.transform([1, 0]), model.transform(X[[1, 0]]))
    plain = calipers.NCA(random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.components_, plain.components_)
