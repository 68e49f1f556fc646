"""What comes with the package and what it asks for: no network, whole archives, true bounds."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

import pytest

mutations = pytest.importorskip("checks.mutations", reason="the checks are not beside the tests")
from checks import versions, wheel  # noqa: E402
from checks.mutants import MUTANTS  # noqa: E402

from metric_files import small_file  # noqa: E402

PACKAGE = Path(__file__).parents[1] / "src" / "calipers"

CUT_OFF = """
import socket

def refuse(*_, **__):
    raise AssertionError("the network was asked for")

socket.socket.connect = socket.socket.connect_ex = socket.getaddrinfo = refuse
"""

USE = """
import sys, numpy as np, calipers
X = np.random.default_rng(0).standard_normal((40, 3))
metric = calipers.TripletSGD("as-sgd", n_triplets=50).fit(X, np.arange(40) % 2)
metric.transform(X)
calipers.load(sys.argv[1])
calipers.show_versions()
from calipers.cli import main
sys.exit(main(["inspect", sys.argv[1]]))
"""


def without_network(code: str, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", CUT_OFF + code, *words],
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
        env={name: value for name, value in os.environ.items() if name != "CALIPERS_OFFLINE"},
    )


def test_import_fit_and_files_need_no_network(tmp_path: Path) -> None:
    done = without_network(USE, str(small_file(tmp_path)))
    assert done.returncode == 0, done.stderr


def test_a_network_that_is_asked_for_would_be_noticed() -> None:
    code = "import urllib.request; urllib.request.urlopen('http://127.0.0.1:9/')"
    assert "the network was asked for" in without_network(code).stderr


def test_archives_hold_what_belongs_there(tmp_path: Path) -> None:
    pytest.importorskip("hatchling", reason="needs the build backend")
    archives = wheel.built(tmp_path)
    assert [file.suffix for file in archives] == [".whl", ".gz"]
    for file in archives:
        assert wheel.wrong_names(file) == [], file.name


def test_lowest_versions_are_those_of_every_requirement() -> None:
    constraints = versions.lowest()
    assert "scikit-learn==1.9" in constraints
    assert all(text.count("==") == 1 and ">" not in text for text in constraints)
    assert len({text.split("==")[0] for text in constraints}) == len(constraints)


# The mutants of ``python -m checks mutations``


@pytest.mark.parametrize("number", range(len(MUTANTS)))
def test_every_mutant_still_applies(number: int) -> None:
    mutant = MUTANTS[number]
    text = (PACKAGE / mutant.file).read_text()
    changed = mutations.mutated(mutant, text)
    assert changed != text
    compile(changed, mutant.file, "exec")
    file = Path(__file__).parents[1] / mutant.tests[0]
    assert file.is_file()


def test_a_mutant_that_no_longer_applies_is_told() -> None:
    with pytest.raises(ValueError, match=r"^'.*' occurs 0 times in losses.py, not once"):
        mutations.mutated(MUTANTS[0], "nothing of it")


@pytest.mark.parametrize("word", [str(len(MUTANTS)), "-1", "1.5", "all"])
def test_numbers_that_no_mutant_has(word: str) -> None:
    parser = argparse.ArgumentParser(exit_on_error=False)
    mutations.add_arguments(parser)
    with pytest.raises((argparse.ArgumentError, SystemExit)):
        parser.parse_args([word])
    assert parser.parse_args(["0", "7"]).numbers == [0, 7]


def test_there_are_enough_of_them() -> None:
    assert len(MUTANTS) >= 40
    assert len({(mutant.file, mutant.old, mutant.new) for mutant in MUTANTS}) == len(MUTANTS)
