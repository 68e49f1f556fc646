"""What is installed here, for reports of bugs."""

from __future__ import annotations

import platform
import sys
from importlib import metadata

PACKAGES = (
    "calipers",
    "numpy",
    "scipy",
    "scikit-learn",
    "threadpoolctl",
    "safetensors",
    "rich",
    "matplotlib",
    "pyarrow",
    "pandas",
    "polars",
    "onnx",
    "onnxruntime",
    "faiss-cpu",
    "dask",
)


def show_versions() -> None:
    """Print versions of Python, of Calipers and of what it works with.

    Nothing is imported for it, so that it also answers where a package is broken.
    """
    from calipers.threads import n_threads

    facts = {
        "python": platform.python_version(),
        "executable": sys.executable,
        "machine": platform.platform(),
        "threads": str(n_threads()),
    }
    facts.update({name: _version(name) for name in PACKAGES})
    width = max(map(len, facts))
    sys.stdout.writelines(f"{name:>{width}}: {fact}\n" for name, fact in facts.items())


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        if package == "calipers":  # run from its folder, without being installed
            from calipers.version import __version__

            return __version__
        return "not installed"
