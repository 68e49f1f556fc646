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
NAMES = ("ci", "release", "wheels")
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PYTHONS = [
    found[1]
    for text in PYPROJECT["project"]["classifiers"]
    if (found := re.fullmatch(r"Programming Language :: Python :: (3\.\d+)", text))
]

pytestmark = pytest.mark.skipif(not WORKFLOWS.is_dir(), reason="needs the repository")


def jobs(name: str) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((WORKFLOWS / f"{name}.yml").read_text("utf-8"))["jobs"]
    return found


def test_every_workflow_is_tested() -> None:
    assert sorted(file.stem for file in WORKFLOWS.iterdir()) == list(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_scripts_are_there_and_can_be_run(name: str) -> None:
    for job in jobs(name).values():
        for step in job.get("steps", []):
            for script in re.findall(r"(?:^|\s)(\.ci/[\w.]+)", step.get("run", "")):
                file = ROOT / script
                assert file.is_file(), script
                assert os.access(file, os.X_OK) or f"python3 {script}" in step["run"], script


def test_lint_tests_and_pages_are_the_parts_of_one_script() -> None:
    runs = {name: job["steps"][-1].get("run") for name, job in jobs("ci").items() if "steps" in job}
    assert (runs["lint"], runs["test"]) == (".ci/run lint", ".ci/run test")
    assert any(step.get("run") == ".ci/run docs" for step in jobs("ci")["docs"]["steps"])
    text = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert re.findall(r"if wanted (\w+)", text) == ["lint", "test", "docs"]


def test_tests_and_wheels_are_of_every_python() -> None:
    assert jobs("ci")["test"]["strategy"]["matrix"]["python"] == PYTHONS
    tags = [f"cp{version.replace('.', '')}-*" for version in PYTHONS]
    assert PYPROJECT["tool"]["cibuildwheel"]["build"].split() == tags


@pytest.mark.parametrize("python", PYTHONS)
def test_runners_on_arm_are_asked_for_nothing_that_has_no_wheel_there(python: str) -> None:
    requirements = pytest.importorskip("packaging.requirements")
    on_arm = {"platform_machine": "aarch64", "sys_platform": "linux", "python_version": python}
    asked = set()
    for text in PYPROJECT["project"]["optional-dependencies"]["stores"]:
        requirement = requirements.Requirement(text)
        if requirement.marker is None or requirement.marker.evaluate(on_arm):
            asked.add(requirement.name)
    assert "duckdb" in asked
    assert not asked & {"pysqlite3-binary", "pgserver"}


def test_actions_are_of_a_version_that_runners_still_run() -> None:
    """Earlier ones need Node.js 20, announced to leave the runners in September 2026."""
    first = {"checkout": 5, "setup-python": 6, "upload-artifact": 6, "download-artifact": 7}
    used = [
        re.fullmatch(r"actions/([\w-]+)@v(\d+)", step["uses"])
        for name in NAMES
        for job in jobs(name).values()
        for step in job.get("steps", [])
        if step.get("uses", "").startswith("actions/")
    ]
    assert len(used) > 10
    assert [found[0] for found in used if found and int(found[2]) < first[found[1]]] == []
    assert all(used)


def test_nothing_is_published_before_it_was_built_and_audited() -> None:
    release = jobs("release")
    assert set(release["publish"]["needs"]) == set(release) - {"publish"}
    assert release["publish"]["permissions"] == {"id-token": "write"}
    assert any(".ci/audit" in step.get("run", "") for step in release["audit"]["steps"])


def test_the_version_that_meson_reads_is_not_executable() -> None:
    """Else the system's Python would be asked for, under whatever name it has."""
    assert not os.access(ROOT / ".ci" / "version.py", os.X_OK)
