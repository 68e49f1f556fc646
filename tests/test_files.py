"""Metrics as files: what is written is read, and what is not a metric is refused."""

from __future__ import annotations

import errno
import io
import os
import pickle
import stat
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save as save_tensors
from sklearn.datasets import load_iris

import calipers
from calipers import FileError, load
from calipers.files import contents_of, read, write, written_whole
from metric_files import joined, parts, small_contents, small_file, with_header

X, Y = load_iris(return_X_y=True)
PAIRS = np.stack([X[:75], X[75:]], axis=1)

LEARNERS: list[Any] = [
    calipers.TripletSGD(n_triplets=200, random_state=0),
    calipers.TripletSGD("as-sgd", n_triplets=200, n_components=2, random_state=0),
    calipers.SPML(n_triplets=200, random_state=0),
    calipers.OASIS(n_triplets=200, n_components=3, random_state=0),
    calipers.LEGO(n_triplets=200, random_state=0),
    calipers.ITML(n_triplets=20, random_state=0),
    calipers.LMNN(max_iter=2),
    calipers.Euclidean(),
]
NAMES = np.array(["Iris setosa", "Iris versicolor", "Iris virginica"])


def fitted(learner: Any) -> Any:
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that two iterations are not enough
        return learner.fit(X, NAMES[Y])


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_every_estimator_comes_back_bit_for_bit(learner: Any, tmp_path: Path) -> None:
    path = tmp_path / "m.safetensors"
    metric = fitted(learner)
    metric.save(path, X=X)
    again = load(path)
    assert again.components_.dtype == np.float64
    assert again.components_.tobytes() == np.ascontiguousarray(metric.components_).tobytes()
    np.testing.assert_array_equal(again.transform(X), metric.transform(X))
    np.testing.assert_array_equal(again.pair_distance(PAIRS), metric.pair_distance(PAIRS))
    np.testing.assert_array_equal(again.pair_score(PAIRS), metric.pair_score(PAIRS))
    np.testing.assert_array_equal(again.get_mahalanobis_matrix(), metric.get_mahalanobis_matrix())
    assert again.get_metric()(X[0], X[99]) == metric.get_metric()(X[0], X[99])
    assert again.get_feature_names_out().tolist() == metric.get_feature_names_out().tolist()
    np.testing.assert_array_equal(again.feature_scale_, X.std(axis=0))
    assert again.learner_ == type(metric).__name__
    assert again.parameters_ == metric.get_params()
    assert again.facts_["n_updates_"] == metric.n_updates_
    assert again.notes_ == getattr(metric, "notes_", [])
    for name in ("loss_curve_", "update_curve_", "objective_curve_"):
        if hasattr(metric, name):
            np.testing.assert_array_equal(again.facts_[name], getattr(metric, name))
    if hasattr(metric, "classes_"):
        assert again.classes_.tolist() == metric.classes_.tolist()
    again.save(tmp_path / "again.safetensors")
    assert (tmp_path / "again.safetensors").read_bytes() == path.read_bytes()


@pytest.mark.parametrize(
    "labels", [[3, 5], [0.5, 1.5], ["a", "ä"], [True, False]], ids=["int", "float", "str", "bool"]
)
def test_labels_of_every_kind(labels: list[Any], tmp_path: Path) -> None:
    metric = calipers.TripletSGD(n_triplets=20).fit(X[:100], np.array(labels)[Y[:100]])
    metric.save(tmp_path / "m")
    classes = load(tmp_path / "m").classes_
    assert classes.dtype.kind == metric.classes_.dtype.kind
    assert classes.tolist() == metric.classes_.tolist()


def test_what_json_does_not_have_is_a_text(tmp_path: Path) -> None:
    generator = np.random.RandomState(0)
    metric = calipers.TripletSGD(n_triplets=20, random_state=generator).fit(X, Y)
    metric.save(tmp_path / "m")
    assert load(tmp_path / "m").parameters_["random_state"] == "RandomState(MT19937)"


def test_unfitted_and_infinite_metrics_are_not_saved(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="not fitted yet"):
        calipers.TripletSGD().save(tmp_path / "m")
    metric = calipers.Euclidean().fit(X)
    metric.components_[0, 0] = np.inf
    with pytest.raises(FileError, match="components are not finite: fit it again"):
        metric.save(tmp_path / "m")
    assert list(tmp_path.iterdir()) == []


def test_a_file_written_in_float32_is_read(tmp_path: Path) -> None:
    contents = small_contents(components=np.eye(3, dtype=np.float32), feature_scale=None)
    write(contents, tmp_path / "m")
    metric = load(tmp_path / "m")
    assert metric.components_.dtype == np.float64
    np.testing.assert_array_equal(metric.components_, np.eye(3))


# --- what is refused


def message(path: Path) -> str:
    with pytest.raises(FileError) as caught:
        load(path)
    told = str(caught.value)
    assert "\n" not in told
    assert told.endswith(".")
    assert repr(str(path)) in told
    return told


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


def test_a_file_of_the_future(tmp_path: Path) -> None:
    path = small_file(tmp_path)
    path.write_bytes(with_header(path.read_bytes(), format=2, calipers="9.0", facts="changed"))
    assert message(path) == (
        f"{str(path)!r} was written by calipers 9.0, in a format later than 1, the last that "
        f"calipers {calipers.__version__} reads: upgrade calipers."
    )


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"format": ...}, "its header names no format"),
        ({"format": True}, "its header names no format"),
        ({"format": "1"}, "its header names no format"),
        ({"learner": 3}, "'learner' in its header is not a text"),
        ({"parameters": [1]}, "'parameters' in its header is not an object of plain values"),
        ({"parameters": {"a": {}}}, "'parameters' in its header is not"),
        ({"facts": {"a": ["b"]}}, "'facts' in its header is not"),
        ({"facts": {"a": float("nan")}}, "'facts' in its header is not"),
        ({"facts": {"a": [10**400]}}, "'facts' in its header is not"),
        ({"classes": [1 << 64]}, "'classes' in its header is not a list of plain values"),
        ({"classes": "ab"}, "'classes' in its header is not a list of plain values"),
        ({"notes": None}, "'notes' in its header is not a list of texts"),
        ({"feature_names": ["a"]}, "it names 1 features, but has 3"),
        ({"sha256": "0" * 64}, "its matrices do not have the checksum in its header"),
    ],
    ids=str,
)
def test_headers_that_do_not_fit(change: dict[str, Any], expected: str, tmp_path: Path) -> None:
    path = small_file(tmp_path)
    path.write_bytes(with_header(path.read_bytes(), **change))
    told = message(path)
    assert f"is not a whole metric file ({expected}" in told
    assert told.endswith("save the metric again, or copy the file anew.")


def test_matrices_of_another_kind_or_shape(tmp_path: Path) -> None:
    path = tmp_path / "m"
    header = parts(small_file(tmp_path).read_bytes())[0]["__metadata__"]
    for tensors, expected in (
        ({"components": np.eye(3, dtype=np.int64)}, "'components' is of kind I64, not F64 or F32"),
        ({"components": np.ones(3)}, "'components' has shape (3,), not"),
        ({"components": np.ones((0, 3))}, "'components' has shape (0, 3), not"),
        ({"weights": np.eye(3)}, "it has no matrix 'components'"),
        ({"components": np.eye(3), "feature_scale": np.ones(2)}, "'feature_scale' has shape (2,)"),
        ({"components": np.eye(3), "similarity": np.ones(3)}, "'similarity' has shape (3,)"),
    ):
        path.write_bytes(save_tensors(tensors, metadata=header))
        assert expected in message(path)


def test_numbers_that_are_not_finite(tmp_path: Path) -> None:
    path = tmp_path / "m"
    from calipers.files import header, store

    components = np.array([[np.nan, 1.0, 1.0]])
    text = header.as_text(small_contents(), store._checksum({"components": components}))
    path.write_bytes(save_tensors({"components": components}, metadata={"calipers": text}))
    assert "'components' has values that are not finite" in message(path)


def test_a_declared_size_beyond_the_file_allocates_nothing(tmp_path: Path) -> None:
    import tracemalloc

    path = small_file(tmp_path)
    outer, body = parts(path.read_bytes())
    outer["components"] = {
        "dtype": "F64",
        "shape": [1 << 20, 1 << 20],
        "data_offsets": [0, 1 << 43],
    }
    path.write_bytes(joined(outer, body))
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


def no_space(*_: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize("step", ["os.fsync", "pathlib.Path.replace"])
def test_a_full_disk_leaves_the_old_file(
    step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = small_file(tmp_path)
    before = path.read_bytes()
    monkeypatch.setattr(step, no_space)
    with pytest.raises(FileError) as caught:
        calipers.Euclidean().fit(X).save(path)
    assert str(caught.value) == (
        f"Cannot write {str(path)!r} (No space left on device): name another place, or free "
        "this one; what was there before is unchanged."
    )
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_an_interrupt_while_writing_leaves_the_old_file(tmp_path: Path) -> None:
    path = small_file(tmp_path)
    before = path.read_bytes()

    def stopped_halfway() -> None:
        with written_whole(path) as stream:
            stream.write(b"half of a")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stopped_halfway()
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_new_file_never_has_its_name_before_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "new"
    with written_whole(path) as stream:
        stream.write(b"all")
        stream.flush()
        assert not path.exists()
    assert path.read_bytes() == b"all"


@pytest.mark.skipif(os.name == "nt", reason="rights and links are other ones on Windows")
def test_rights_are_kept_and_links_are_followed(tmp_path: Path) -> None:
    path, link = small_file(tmp_path), tmp_path / "link"
    path.chmod(0o640)
    link.symlink_to(path)
    write(small_contents(notes=[]), link)
    assert link.is_symlink()
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert read(path).notes == []


def test_places_that_cannot_be_written(tmp_path: Path) -> None:
    contents = contents_of(calipers.Euclidean().fit(X))
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


def test_a_header_that_could_not_be_read_back_is_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("calipers.files.header.LONGEST", 100)
    with pytest.raises(FileError, match="of at most 100 in a file: fit with shorter names"):
        write(small_contents(), tmp_path / "m")
