"""Compiled code of other sources is removed, and only that."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

from calipers.compiled import MARK, PARTS, forget_stale, sources, sources_digest


def kernel(folder: Path) -> SimpleNamespace:
    return SimpleNamespace(stats=SimpleNamespace(cache_path=str(folder)))


def test_code_of_other_sources_is_removed_and_the_folder_marked(tmp_path: Path) -> None:
    for name in ("walk.py311.nbi", "walk.py311.1.nbc", "walk.cpython-311.pyc"):
        (tmp_path / name).write_text("old")
    (tmp_path / MARK).write_text("other sources")
    forget_stale(kernel(tmp_path))
    assert sorted(file.name for file in tmp_path.iterdir()) == [MARK, "walk.cpython-311.pyc"]
    assert (tmp_path / MARK).read_text() == sources_digest()


def test_code_of_these_sources_is_kept(tmp_path: Path) -> None:
    forget_stale(kernel(tmp_path))
    (tmp_path / "walk.py311.nbi").write_text("new")
    forget_stale(kernel(tmp_path))
    assert (tmp_path / "walk.py311.nbi").read_text() == "new"


def test_a_folder_that_is_not_there_is_made(tmp_path: Path) -> None:
    forget_stale(kernel(tmp_path / "new"))
    assert (tmp_path / "new" / MARK).exists()


def test_a_folder_that_cannot_be_written_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    forget_stale(kernel(tmp_path / "file"))
    assert (tmp_path / "file").read_text() == "not a folder"


def test_every_folder_of_compiled_code_is_asked_for() -> None:
    package = Path(__file__).parents[1] / "src" / "calipers"
    texts = {file: file.read_text() for file in package.rglob("*.py")}
    marks = "njit(", "@kernel(", "@inner(", "@overload("
    compiled = {file for file, text in texts.items() if any(mark in text for mark in marks)}
    folders = {file.parent.name for file in compiled}
    assert compiled <= set(sources())
    asking = {file.parent.name for file, text in texts.items() if "\nforget_stale(" in text}
    assert folders == asking == {"kernels", "triplets"}


def test_every_part_that_compiled_code_is_made_of_is_looked_at() -> None:
    package = Path(__file__).parents[1] / "src" / "calipers"
    texts = [file.read_text() for file in (package / "kernels").glob("*.py")]
    modules = {file.stem for file in package.glob("*.py")} - {"arrays", "compiled"}
    named = {name for text in texts for name in modules if f"from calipers.{name} import" in text}
    assert {f"{name}.py" for name in named} == set(PARTS)
