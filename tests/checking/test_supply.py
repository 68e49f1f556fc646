"""What comes with the package and what it asks for: no network, whole archives, true bounds."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from importlib import metadata
from pathlib import Path

import pytest
from checks import ROOT, wheel

import calipers
from metric_files import small_file

CUT_OFF = """
import socket

def refuse(*_, **__):
    raise AssertionError("the network was asked for")

socket.socket.connect = socket.socket.connect_ex = socket.getaddrinfo = refuse
"""

USE = """
import sys, numpy as np, calipers
X = np.random.default_rng(0).standard_normal((40, 3))
metric = calipers.TripletSGD("as-sgd", n_rounds=1, n_triplets=50).fit(X, np.arange(40) % 2)
metric.transform(X)
calipers.load(sys.argv[1])
from calipers.cli.main import main
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


@pytest.mark.slow
def test_a_source_archive_holds_what_belongs_there(tmp_path: Path) -> None:
    pytest.importorskip("mesonpy", reason="needs the build backend")
    if not shutil.which("meson", path=wheel.tools()):
        pytest.skip("needs meson")
    if not (ROOT / ".git").exists():
        pytest.skip("a source archive is made of what git has committed")
    (archive,) = wheel.built(tmp_path, "sdist")
    assert wheel.wrong_names(wheel.names_in(archive), is_wheel=False) == []


def test_the_wheel_that_was_installed_held_what_belongs_there() -> None:
    names = wheel.names_installed()
    home = Path(str(metadata.distribution("calipers").locate_file("calipers")))
    if "calipers/__init__.py" not in names or home != Path(calipers.__file__).parent:
        pytest.skip("installed in place, not from a wheel")
    assert wheel.wrong_names(names, is_wheel=True) == []


def test_what_is_missing_or_does_not_belong_there_is_named(tmp_path: Path) -> None:
    core = "calipers/_core"
    kept = [name for name in wheel._expected(True) if name != f"{core}/compiled.library"]
    names = [name.replace(".library", ".cpython-311-x86_64-linux-gnu.so") for name in kept]
    file = tmp_path / "calipers-0.1.0-cp311-cp311-linux_x86_64.whl"
    with zipfile.ZipFile(file, "w") as archive:
        for name in [*names, f"{core}/compiled.pyx", f"{core}/sgd.pxi", f"{core}/compiled.c"]:
            archive.writestr(name, "")
    assert wheel.wrong_names(wheel.names_in(file), is_wheel=True) == [
        f"{core}/compiled.pyx",
        f"{core}/sgd.pxi",
        f"{core}/compiled.c",
        f"-{core}/compiled.library",
        "-LICENSE",
    ]
