"""What a fresh interpreter loads, and when."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from metric_files import small_file

HEAVY = (
    "matplotlib",
    "dask",
    "rich",
    "sklearn",
    "scipy",
    "pandas",
    "polars",
    "pyarrow",
    "safetensors",
    "onnx",
    "faiss",
)


def loaded_after(code: str) -> set[str]:
    """Names of the heavy packages that a fresh interpreter has loaded after ``code``."""
    report = f"import sys; print(*[name for name in {HEAVY} if name in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", f"{code}\n{report}"],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return set(done.stdout.splitlines()[-1].split())


def test_importing_calipers_loads_nothing_heavy() -> None:
    assert loaded_after("import calipers; calipers.__version__; dir(calipers)") == set()


def test_a_fit_loads_no_compiler_and_no_pictures() -> None:
    code = (
        "import calipers; from sklearn.datasets import load_iris\n"
        "calipers.TripletSGD.paper('as-sgd', n_triplets=20).fit(*load_iris(return_X_y=True))"
    )
    loaded = loaded_after(code)
    assert "sklearn" in loaded
    assert loaded.isdisjoint({"matplotlib", "dask", "safetensors"})


def test_a_metric_is_read_and_used(tmp_path: Path) -> None:
    path = str(small_file(tmp_path))
    code = f"import calipers; calipers.load({path!r}).get_mahalanobis_matrix()"
    loaded = loaded_after(code)
    assert "safetensors" in loaded
    assert loaded.isdisjoint({"matplotlib", "onnx", "faiss"})
