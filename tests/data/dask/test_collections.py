"""Dask collections: recognised, and transformed lazily."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

da = pytest.importorskip("dask.array", reason="needs the extra dask")

import dask  # noqa: E402
import pandas as pd  # noqa: E402
from dask import bag, dataframe, delayed  # noqa: E402

from calipers.data.dask.samples import is_collection, transform_lazily  # noqa: E402

X = np.random.default_rng(0).normal(size=(60, 4))
L = np.random.default_rng(1).normal(size=(2, 4))
NAMES = ["a", "b", "c", "d"]


def table(names: list[str] = NAMES) -> Any:
    return dataframe.from_pandas(pd.DataFrame(X, columns=names), npartitions=3)


def computed(collection: Any) -> Any:
    return collection.compute(scheduler="synchronous")


def test_collections_are_recognised() -> None:
    for one in (da.zeros((3, 2)), table(), table()["a"], delayed(X), [delayed(X)], (delayed(X),)):
        assert is_collection(one), type(one)
    for other in (
        X,
        X.tolist(),
        [],
        [delayed(X), X],
        pd.DataFrame(X),
        bag.from_sequence([1, 2]),
        None,
        "X.npy",
        iter([delayed(X)]),
    ):
        assert not is_collection(other), type(other)


def test_what_is_no_collection_does_not_import_dask() -> None:
    code = (
        "import sys, numpy as np; from calipers.data.dask.samples import is_collection\n"
        "assert not any(map(is_collection, [np.eye(2), [[1.0]], [], None]))\n"
        "sys.exit('dask' in sys.modules or 'distributed' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_an_array_is_transformed_block_by_block() -> None:
    images = transform_lazily(da.from_array(X, chunks=(25, 3)), L)
    assert images.chunks == ((25, 25, 10), (2,))
    assert images.dtype == np.float64
    np.testing.assert_allclose(computed(images), X @ L.T)


def test_a_dataframe_keeps_its_index_and_gets_the_names_out() -> None:
    images = transform_lazily(table(), L, NAMES, ["first", "second"])
    assert images.npartitions == 3
    got = computed(images)
    assert list(got.columns) == list(images.columns) == ["first", "second"]
    np.testing.assert_allclose(got.to_numpy(), X @ L.T)
    assert got.index.tolist() == list(range(60))


SHOULD = "The feature names should match those that were passed during fit: "


@pytest.mark.parametrize(
    ("names", "sentence"),
    [
        (
            ["b", "a", "c", "d"],
            "the columns of X are the same in another order, pass X[list(feature_names_in_)].",
        ),
        (["a", "b", "c", "z"], "X has 'z', unseen at fit time and lacks 'd', seen at fit time."),
    ],
)
def test_other_names_are_refused(names: list[str], sentence: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        transform_lazily(table(names), L, NAMES)
    assert str(caught.value) == SHOULD + sentence


def test_a_partition_with_columns_in_another_order_is_refused_when_computed() -> None:
    frame = pd.DataFrame(X, columns=NAMES)
    pieces = [delayed(frame), delayed(frame[["b", "a", "c", "d"]])]
    mixed = dataframe.from_delayed(pieces, meta=frame[:0], verify_meta=False)
    images = transform_lazily(mixed, L, NAMES)
    with pytest.raises(ValueError, match="the same in another order"):
        computed(images)


def test_names_on_one_side_only_are_warned_of_as_scikit_learn_does() -> None:
    with pytest.warns(UserWarning, match=r"^X has feature names, but"):
        transform_lazily(table(), L)
    with pytest.warns(UserWarning, match=r"^X does not have valid feature names, but"):
        transform_lazily(da.from_array(X), L, NAMES)


def test_mistakes_are_told() -> None:
    with pytest.raises(ValueError, match=r"^X has 3 features, but the metric is expecting 4 feat"):
        transform_lazily(da.from_array(X[:, :3]), L)
    with pytest.raises(ValueError, match=r"^X has 3 features, but the metric is expecting 4 feat"):
        transform_lazily(table()[["a", "b", "c"]], L, NAMES)
    with pytest.raises(ValueError, match=r"^X must have shape"):
        transform_lazily(da.zeros(4), L)
    for other in (table()["a"], [delayed(X)], X):
        with pytest.raises(TypeError, match=r"^X must be a dask array or a dask dataframe, got"):
            transform_lazily(other, L)


def test_values_that_are_not_finite_are_refused_when_computed() -> None:
    wrong = X.copy()
    wrong[30, 2] = np.nan
    images = transform_lazily(da.from_array(wrong, chunks=(25, 4)), L)
    with pytest.raises(ValueError, match=r"^Input X contains NaN or infinity"):
        computed(images)


def test_dask_is_the_library_and_not_this_folder() -> None:
    assert hasattr(dask, "__version__")
