"""A build that lacks something says in one sentence what to install; one that does not, links."""

from __future__ import annotations

import importlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

pytestmark = [
    pytest.mark.skipif(not (ROOT / "meson.build").is_file(), reason="needs the repository"),
    pytest.mark.skipif(os.name != "posix", reason="replaces programs by scripts"),
]


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """A folder with all that a build runs, and nothing else; a test takes some of it away."""
    pytest.importorskip("mesonbuild", reason="needs the build tools")
    pytest.importorskip("Cython", reason="needs the build tools")
    folder = tmp_path / "tools"
    folder.mkdir()
    for name in ("cc", "gcc", "clang", "ar", "as", "ld", "ninja"):
        if found := shutil.which(name):
            (folder / name).symlink_to(found)
    script(folder / "cython", f'exec "{sys.executable}" -m cython "$@"')
    return folder


def script(file: Path, line: str) -> None:
    file.write_text(f"#!/bin/sh\n{line}\n")
    file.chmod(0o755)


def setup(tools: Path, tmp_path: Path, **environment: str) -> tuple[int, str]:
    """How the set-up of a build ends, and what it says."""
    inherited = {name: os.environ[name] for name in ("HOME", "LANG") if name in os.environ}
    done = subprocess.run(
        [sys.executable, "-m", "mesonbuild.mesonmain", "setup", str(tmp_path / "build"), str(ROOT)],
        env={**inherited, "PATH": str(tools), **environment},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def error_of_setup(tools: Path, tmp_path: Path, **environment: str) -> str:
    code, said = setup(tools, tmp_path, **environment)
    assert code, said
    (error,) = re.findall(r"ERROR: Problem encountered: (.*)", said) or [said]
    return str(error)


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_loops_in_several_versions_are_found_by_other_files(
    compiler: str, tools: Path, tmp_path: Path
) -> None:
    """Clang 14 knows such loops, but under a name that other files do not find."""
    if not (tools / compiler).exists():
        pytest.skip(f"needs {compiler}")
    code, said = setup(tools, tmp_path, CC=compiler)
    assert code == 0, said
    core = ROOT / "src" / "calipers" / "_core"
    assert 'Checking if "target_clones" links: ' in said
    flags = ["-DCALIPERS_CLONES"] if 'Checking if "target_clones" links: YES' in said else []
    caller = tmp_path / "caller.c"
    caller.write_text(
        '#include "kernels.h"\nint main(void) { double x = 0.0; return (int)cal_dot(&x, &x, 1); }'
    )
    program = str(tmp_path / "caller")
    files = [str(core / "sums.c"), str(caller)]
    subprocess.run([compiler, f"-I{core}", *flags, *files, "-lm", "-o", program], check=True)
    subprocess.run([program], check=True)


def test_a_missing_compiler(tools: Path, tmp_path: Path) -> None:
    for name in ("cc", "gcc", "clang"):
        (tools / name).unlink(missing_ok=True)
    error = error_of_setup(tools, tmp_path)
    assert error.startswith("Calipers is built with a C compiler and none was found: install one")


def test_a_missing_cython(tools: Path, tmp_path: Path) -> None:
    (tools / "cython").unlink()
    error = error_of_setup(tools, tmp_path)
    assert error.startswith("Calipers is built with Cython 3.1 or later and none was found: pip")


def test_an_old_cython(tools: Path, tmp_path: Path) -> None:
    """It would end in a traceback of Cython about an option that it does not know."""
    old = f'[ "$1" = -V ] && echo Cython version 3.0.11 || exec "{sys.executable}" -m cython "$@"'
    script(tools / "cython", old)
    error = error_of_setup(tools, tmp_path)
    assert error.startswith("Calipers is built with Cython 3.1 or later and 3.0.11 was found: pip")


def test_a_missing_scipy(tools: Path, tmp_path: Path) -> None:
    """It would end in eighty lines of Cython about a file that is not found."""
    (tmp_path / "absent" / "scipy").mkdir(parents=True)
    (tmp_path / "absent" / "scipy" / "__init__.py").write_text("raise ImportError")
    error = error_of_setup(tools, tmp_path, PYTHONPATH=str(tmp_path / "absent"))
    assert error.startswith("Calipers is built with SciPy 1.13 or later and none can be imported")


def test_a_missing_build_backend(tmp_path: Path) -> None:
    """Pip would end in a traceback of its own."""
    (tmp_path / "mesonpy.py").write_text("raise ModuleNotFoundError(name='mesonpy')")
    done = subprocess.run(
        [sys.executable, "-c", "import backend"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT / ".ci")])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.startswith("Calipers is built with meson-python and none was found: pip")
    assert len(done.stderr.splitlines()) == 1


def test_the_backend_has_every_hook(monkeypatch: pytest.MonkeyPatch) -> None:
    mesonpy = pytest.importorskip("mesonpy", reason="needs the build backend")
    monkeypatch.syspath_prepend(ROOT / ".ci")
    backend = importlib.import_module("backend")
    hooks = [name for name in vars(mesonpy) if name.startswith(("build_", "get_requires_for_"))]
    assert sorted(hooks) == sorted(backend.__all__)
