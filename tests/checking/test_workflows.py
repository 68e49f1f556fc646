"""The workflows call scripts that are there, for every Python that the package is for."""

from __future__ import annotations

import os
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

yaml = pytest.importorskip("yaml", reason="reads the workflows")

ROOT = Path(__file__).parents[2]
WORKFLOWS = ROOT / ".github" / "workflows"
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
CLASSIFIERS = " ".join(PYPROJECT["project"]["classifiers"])
PYTHONS = re.findall(r"Python :: (3\.\d+)", CLASSIFIERS)

pytestmark = pytest.mark.skipif(not WORKFLOWS.is_dir(), reason="needs the repository")


def jobs(name: str) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((WORKFLOWS / f"{name}.yml").read_text("utf-8"))["jobs"]
    return found


@pytest.mark.parametrize("name", ["ci", "nightly", "release", "wheels"])
def test_scripts_are_there_and_can_be_run(name: str) -> None:
    for job in jobs(name).values():
        for step in job.get("steps", []):
            for script in re.findall(r"(?:^|\s)(\.ci/[\w.]+)", step.get("run", "")):
                file = ROOT / script
                assert file.is_file(), script
                assert os.access(file, os.X_OK) or f"python3 {script}" in step["run"], script


def test_tests_and_wheels_are_of_every_python() -> None:
    assert jobs("ci")["test"]["strategy"]["matrix"]["python"] == PYTHONS
    tags = [f"cp{version.replace('.', '')}-*" for version in PYTHONS]
    assert PYPROJECT["tool"]["cibuildwheel"]["build"].split() == tags
