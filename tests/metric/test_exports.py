"""The same map in onnxruntime and faiss."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_digits

from metric_files import FakeLearner

X = load_digits().data[:500] / 16
SINGLE = X.astype(np.float32)


@pytest.fixture(params=[64, 5])
def metric(request: Any) -> Any:
    names = [f"pixel {i}" for i in range(64)]
    map_ = np.random.default_rng(0).standard_normal((request.param, 64)) / 8
    return FakeLearner().fit(X, components_=map_, feature_names_in_=np.array(names, dtype=object))


def expected(metric: FakeLearner) -> Any:
    return X @ metric.components_.T


def test_onnx_maps_as_transform_does(metric: FakeLearner) -> None:
    pytest.importorskip("onnx", reason="needs calipers[onnx]")
    onnxruntime = pytest.importorskip("onnxruntime", reason="needs onnxruntime")
    session = onnxruntime.InferenceSession(metric.to_onnx())
    (given,), (made,) = session.get_inputs(), session.get_outputs()
    assert (given.name, given.type, given.shape) == ("X", "tensor(float)", ["N", 64])
    assert (made.name, made.shape) == ("transformed", ["N", len(metric.components_)])
    for rows in (SINGLE, SINGLE[:1], SINGLE[:0]):
        images = session.run(None, {"X": rows})[0]
        np.testing.assert_allclose(images, expected(metric)[: len(rows)], atol=1e-5)
    told = session.get_modelmeta().custom_metadata_map
    assert told["learner"] == "FakeLearner"
    assert told["feature_names"].split("\n")[:2] == ["pixel 0", "pixel 1"]


def test_faiss_maps_as_transform_does(metric: FakeLearner) -> None:
    faiss = pytest.importorskip("faiss", reason="needs calipers[faiss]")
    transform = metric.to_faiss()
    np.testing.assert_allclose(transform.apply(SINGLE), expected(metric), atol=1e-5)
    index = faiss.IndexPreTransform(transform, faiss.IndexFlatL2(len(metric.components_)))
    index.add(SINGLE[:400])
    _, found = index.search(SINGLE[400:], 1)
    images = expected(metric)
    squared = ((images[400:, None] - images[None, :400]) ** 2).sum(axis=2)
    assert np.mean(found[:, 0] == squared.argmin(axis=1)) > 0.98


@pytest.mark.parametrize(("method", "package"), [("to_onnx", "onnx"), ("to_faiss", "faiss")])
def test_without_the_package_the_error_says_how_to_install_it(
    method: str, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError) as caught:
        getattr(FakeLearner().fit(X), method)()
    home = f"'calipers[{package}]'"
    assert str(caught.value) == f"{method} needs the package {package}: pip install {home}."


@pytest.mark.parametrize("method", ["to_onnx", "to_faiss"])
def test_numbers_beyond_float32_are_refused(method: str) -> None:
    pytest.importorskip("onnx" if method == "to_onnx" else "faiss")
    metric = FakeLearner().fit(X)
    metric.components_ *= 1e39
    with pytest.raises(ValueError, match="components up to 1e\\+39, more than float32 holds"):
        getattr(metric, method)()
