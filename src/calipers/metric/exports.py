"""The linear map ``X @ components.T`` for onnxruntime and faiss, in their float32."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from calipers.arrays import FloatArray
from calipers.data.files import needs_package

OPSET, IR_VERSION = 17, 8
"""Versions of 2022, so that older runtimes read the model."""

INPUT, OUTPUT = "X", "transformed"


def onnx_model(
    components: FloatArray,
    *,
    feature_names: list[str] | None = None,
    learner: str,
    to_unit_length: bool = False,
) -> bytes:
    """Return a model with input ``X`` (float32, [N, d]) and output ``transformed`` ([N, k])."""
    try:
        from onnx import TensorProto, helper, numpy_helper
    except ImportError as missing:
        raise ImportError(needs_package("to_onnx", "onnx", "onnx")) from missing
    from importlib.metadata import version

    weights = numpy_helper.from_array(np.ascontiguousarray(_single(components).T), "components_T")
    k, d = components.shape
    product = "product" if to_unit_length else OUTPUT
    nodes = [helper.make_node("MatMul", [INPUT, "components_T"], [product])]
    if to_unit_length:
        nodes.append(helper.make_node("LpNormalization", [product], [OUTPUT], axis=1, p=2))
    graph = helper.make_graph(
        nodes,
        "calipers_metric",
        [helper.make_tensor_value_info(INPUT, TensorProto.FLOAT, ["N", d])],
        [helper.make_tensor_value_info(OUTPUT, TensorProto.FLOAT, ["N", k])],
        [weights],
    )
    model = helper.make_model(
        graph,
        producer_name="calipers",
        producer_version=version("calipers"),
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=IR_VERSION,
    )
    properties = {"learner": learner}
    if feature_names is not None:
        properties["feature_names"] = "\n".join(feature_names)
    helper.set_model_props(model, properties)
    written: bytes = model.SerializeToString()
    return written


def faiss_transform(components: FloatArray) -> Any:
    """Return a trained ``faiss.LinearTransform`` from d to k dimensions."""
    try:
        import faiss
    except ImportError as missing:
        raise ImportError(needs_package("to_faiss", "faiss", "faiss")) from missing
    k, d = components.shape
    transform = faiss.LinearTransform(d, k, False)
    faiss.copy_array_to_vector(np.ascontiguousarray(_single(components)).ravel(), transform.A)
    transform.is_trained = True
    transform.set_is_orthonormal()
    return transform


def _single(components: FloatArray) -> npt.NDArray[np.float32]:
    with np.errstate(over="ignore"):
        single = components.astype(np.float32)
    if not np.isfinite(single).all():
        raise ValueError(
            f"The metric has components up to {np.abs(components).max():.3g}, more than float32 "
            "holds (3.4e38): divide components_ by a number first, neighbours stay the same."
        )
    return single
