"""The report for bugs."""

from __future__ import annotations

import pytest

import calipers


def test_what_is_and_what_is_not_installed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("calipers.versions.PACKAGES", ("calipers", "numpy", "no-such-package"))
    calipers.show_versions()
    lines = capsys.readouterr().out.splitlines()
    facts = dict(line.strip().split(": ", 1) for line in lines)
    assert {"python", "executable", "machine", "threads"} <= facts.keys()
    assert facts["calipers"]
    assert facts["numpy"] == __import__("numpy").__version__
    assert facts["no-such-package"] == "not installed"
