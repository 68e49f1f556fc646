"""Metrics as files: what is written is read, and what is not a metric is refused."""

from __future__ import annotations

import io
import pickle
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save as save_tensors
from sklearn.datasets import load_iris

from calipers import FileError, load
from calipers.metric.file import container, contents_of, header, read, write
from metric_files import (
    FakeLearner,
    joined,
    message,
    parts,
    sealed,
    small_contents,
    small_file,
)

X, Y = load_iris(return_X_y=True)


@pytest.mark.parametrize(
    "labels", [[3, 5], [0.5, 1.5], ["a", "ä"], [True, False]], ids=["int", "float", "str", "bool"]
)
def test_labels_of_every_kind(labels: list[Any], tmp_path: Path) -> None:
    metric = FakeLearner().fit(X, classes_=np.unique(np.array(labels)))
    write(contents_of(metric), tmp_path / "m")
    classes = load(tmp_path / "m").classes_
    assert classes.dtype.kind == metric.classes_.dtype.kind
    assert classes.tolist() == metric.classes_.tolist()


def test_what_json_does_not_have_is_a_text(tmp_path: Path) -> None:
    generator = np.random.RandomState(0)
    write(contents_of(FakeLearner(init=generator).fit(X)), tmp_path / "m")
    assert load(tmp_path / "m").parameters_["init"] == "RandomState(MT19937)"


def test_unfitted_and_infinite_metrics_are_not_saved(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="not fitted yet"):
        FakeLearner().save(tmp_path / "m")
    metric = FakeLearner().fit(X)
    metric.components_[0, 0] = np.inf
    with pytest.raises(FileError) as caught:
        write(contents_of(metric), tmp_path / "m")
    assert str(caught.value) == (
        "The metric cannot be saved ('components' has values that are not finite): correct that, "
        "or fit it again."
    )
    assert list(tmp_path.iterdir()) == []


def test_a_file_written_in_float32_is_read(tmp_path: Path) -> None:
    contents = small_contents(components=np.eye(3, dtype=np.float32), feature_scale=None)
    write(contents, tmp_path / "m")
    metric = load(tmp_path / "m")
    assert metric.components_.dtype == np.float64
    np.testing.assert_array_equal(metric.components_, np.eye(3))


# --- what is refused


def foreign_files() -> dict[str, bytes]:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as opened:
        opened.writestr("a", "b")
    array = io.BytesIO()
    np.save(array, np.eye(3))
    return {
        "a PNG picture": b"\x89PNG\r\n\x1a\n" + bytes(100),
        "a pickle": pickle.dumps({"components": np.eye(3)}),
        "a zip archive": archive.getvalue(),
        "a NumPy array": array.getvalue(),
        "a safetensors file without a calipers header": save_tensors({"components": np.eye(3)}),
    }


@pytest.mark.parametrize("kind", foreign_files())
def test_foreign_files_are_named(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "m.safetensors"
    path.write_bytes(foreign_files()[kind])
    assert message(path) == (
        f"{str(path)!r} is {kind}, not a metric: give a file that metric.save or "
        "'calipers fit' wrote."
    )


def test_a_header_of_any_length_is_not_taken_for_another_format(tmp_path: Path) -> None:
    path, starts = tmp_path / "m", set()
    for length in range(0, 1000, 8):  # a header of 1152 bytes begins with 80 04, as pickles do
        write(small_contents(notes=["x" * length]), path)
        assert load(path).notes_ == ["x" * length]
        starts.add(path.read_bytes()[:2])
    assert b"\x80\x04" in starts


@pytest.mark.parametrize(
    ("arrays", "expected"),
    [
        ({"components": np.eye(3, dtype=np.int64)}, "'components' is of dtype int64, not float64"),
        ({"components": np.ones(3)}, "'components' has shape (3,), not"),
        ({"components": np.ones((0, 3))}, "'components' has shape (0, 3), not"),
        ({"weights": np.eye(3)}, "it has no array 'components'"),
        ({"components": np.eye(3), "feature_scale": np.ones(2)}, "'feature_scale' has shape (2,)"),
        ({"components": np.eye(3), "similarity": np.ones(3)}, "'similarity' has shape (3,)"),
        (
            {"components": np.ones((2, 3)), "offset": np.ones(3)},
            "'offset' has shape (3,), not (2,)",
        ),
        ({"components": np.array([[np.nan, 1, 1]])}, "'components' has values that are not finite"),
        ({"components": np.ones((1, 4))}, "its encoder makes 3 features, but it has 4"),
    ],
    ids=str,
)
def test_arrays_of_another_dtype_or_shape(
    arrays: dict[str, Any], expected: str, tmp_path: Path
) -> None:
    path = tmp_path / "m"
    text = header.to_text(small_contents())
    path.write_bytes(container.pack("calipers", text, arrays))
    assert expected in message(path)
    with pytest.raises(FileError, match="cannot be saved"):
        write(replace(small_contents(), arrays=arrays), tmp_path / "again")


def test_arrays_of_other_names_are_kept(tmp_path: Path) -> None:
    """Kinds of files that come later may need them."""
    write(small_contents(arrays={"later": np.array([1, 2])}), tmp_path / "m")
    assert read(tmp_path / "m").arrays["later"].tolist() == [1, 2]


@pytest.mark.parametrize("seal", [joined, sealed])
def test_a_declared_size_beyond_the_file_allocates_nothing(seal: Any, tmp_path: Path) -> None:
    import tracemalloc

    path = small_file(tmp_path)
    outer, body = parts(path.read_bytes())
    outer["components"] = {
        "dtype": "F64",
        "shape": [1 << 20, 1 << 20],
        "data_offsets": [0, 1 << 43],
    }
    path.write_bytes(seal(outer, body))
    tracemalloc.start()
    told = message(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert "is not a whole metric file" in told
    assert peak < 10 << 20


def test_what_is_no_file(tmp_path: Path) -> None:
    assert message(tmp_path / "none").startswith("There is no file")
    assert message(tmp_path / "m\0").startswith(("There is no file", "Cannot read"))
    assert message(tmp_path).endswith("is not a file: give the name of a saved metric.")
    (tmp_path / "empty").touch()
    assert "(it is empty)" in message(tmp_path / "empty")


# --- writing


def test_places_that_cannot_be_written(tmp_path: Path) -> None:
    contents = small_contents()
    for place, expected in (
        (tmp_path, "is a folder: give the name of a file in it."),
        (tmp_path / "no" / "m", "does not exist: create it first."),
        (tmp_path / ("m" * 300), "File name too long"),
        (tmp_path / "m\0", "is no name for a file"),
    ):
        with pytest.raises(FileError) as caught:
            write(contents, place)
        assert "\n" not in str(caught.value)
        assert expected in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_the_same_contents_give_the_same_bytes(tmp_path: Path) -> None:
    write(read(small_file(tmp_path)), tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == small_file(tmp_path).read_bytes()
