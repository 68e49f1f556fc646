"""Samples on a cluster: every answer is that of the same samples in memory."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

da = pytest.importorskip("dask.array", reason="needs the extra dask")
distributed = pytest.importorskip("distributed", reason="needs the extra dask")

import pandas as pd  # noqa: E402
from dask import dataframe, delayed  # noqa: E402

from calipers.data import memmap  # noqa: E402
from calipers.data.dask.samples import ClusterSamples, client_of, cluster_samples  # noqa: E402
from calipers.data.samples import MemorySamples, Samples  # noqa: E402
from dask_cluster import bounded, cluster_of  # noqa: E402

RNG = np.random.default_rng(0)
X = RNG.normal(size=(150, 4))
CODES = np.append(RNG.integers(0, 3, 149), 3)  # the last sample is a singleton
NAMES = np.array(["ash", "birch", "cedar", "dogwood"])
CUTS = [40, 40, 90]  # the second partition is empty


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with cluster_of(2) as opened:
        yield opened


def parts(values: Any, cuts: list[int] = CUTS) -> list[Any]:
    return [delayed(part, pure=False) for part in np.split(values, cuts)]


def on_cluster(client: Any, X: Any, y: Any = None) -> tuple[ClusterSamples, Any]:
    return bounded(lambda: cluster_samples(client, X, y))


def refused(client: Any, sentence: str, X: Any, y: Any = None) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        on_cluster(client, X, y)
    assert str(caught.value) == sentence


def test_answers_are_those_in_memory(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memmap, "BLOCK_ELEMENTS", 4 * 32)
    found, classes = on_cluster(client, parts(X), parts(NAMES[CODES]))
    assert classes.tolist() == NAMES.tolist()
    expected: Samples = MemorySamples(X, CODES)
    for samples, true in (
        (found, expected),
        (found.transformed(np.negative), expected.transformed(np.negative)),
    ):
        assert samples.shape == true.shape
        np.testing.assert_array_equal(samples.class_sizes, true.class_sizes)
        np.testing.assert_array_equal(samples.singletons, [149])
        np.testing.assert_array_equal(samples.limits(), true.limits())
        indices = RNG.permutation(150)[:40]
        np.testing.assert_array_equal(samples.take(indices), true.take(indices))
        np.testing.assert_array_equal(samples.labels_of(indices), true.labels_of(indices))
        for got, lists in zip(
            samples.nearest(indices, n_same=3, n_other=2),
            true.nearest(indices, n_same=3, n_other=2),
            strict=True,
        ):
            np.testing.assert_array_equal(got, lists)
        blocks, others = list(samples.blocks()), list(true.blocks())
        assert [first for first, _ in blocks] == [first for first, _ in others]
        for (_, got), (_, block) in zip(blocks, others, strict=True):
            np.testing.assert_array_equal(got, block)
        examples = RNG.integers(0, 150, (20, 3))
        taken, local = samples.local(examples, n_columns=3)
        np.testing.assert_array_equal(taken[local], true.take(examples.ravel()).reshape(20, 3, 4))
    assert found.take(np.empty(0, dtype=np.intp)).shape == (0, 4)
    assert found.labels_of(np.empty(0, dtype=np.intp)).shape == (0,)


def test_without_labels_there_are_no_classes(client: Any) -> None:
    samples, classes = on_cluster(client, da.from_array(X.astype(np.float32), chunks=(40, 3)))
    assert classes is None
    assert samples.class_sizes.tolist() == []
    assert samples.feature_names is None
    assert samples.take(np.arange(3)).dtype == np.float32


MISSING: dict[str, npt.NDArray[Any] | pd.Series] = {
    "NaN": np.where(np.arange(150) == 131, np.nan, CODES),
    "None": np.array([None if i == 131 else code for i, code in enumerate(CODES)]),
    "NaT": np.where(np.arange(150) == 131, np.datetime64("NaT"), np.datetime64("2020-01-01")),
    "NA of numbers": pd.Series(CODES, dtype="Int64").mask(np.arange(150) == 131),
    "NA of texts": pd.Series(NAMES[CODES], dtype="string").mask(np.arange(150) == 131),
    "a gap in categories": pd.Series(NAMES[CODES], dtype="category").mask(np.arange(150) == 131),
}


@pytest.mark.parametrize("kind", MISSING)
def test_a_missing_label_is_named_by_index_and_partition(client: Any, kind: str) -> None:
    y = MISSING[kind]
    cuts = [0, *CUTS, 150]
    labels = [delayed(y[a:b], pure=False) for a, b in pairwise(cuts)]
    refused(
        client,
        "Input y contains NaN or another sign of a missing label at index 131 (partition 4): leave "
        "out such samples.",
        parts(X),
        labels,
    )


def test_labels_of_two_kinds_are_refused(client: Any) -> None:
    labels = [delayed(CODES[:75]), delayed(NAMES[CODES[75:]])]
    refused(
        client,
        "partition 2 of y has texts for labels, but the first has numbers: give all labels the "
        "same type.",
        parts(X, [75]),
        labels,
    )


def frames(*columns: str) -> list[Any]:
    """One partition of 75 samples for each string of one-letter names."""
    return [
        delayed(pd.DataFrame(part, columns=list(names)), pure=False)
        for part, names in zip(np.split(X, len(columns)), columns, strict=True)
    ]


def test_partitions_have_the_same_columns_in_the_same_order(client: Any) -> None:
    samples, _ = on_cluster(client, frames("abcd", "abcd"))
    assert samples.feature_names is not None
    assert samples.feature_names.tolist() == ["a", "b", "c", "d"]
    end = "but the first has the columns 'a', 'b', 'c', 'd': give all the same names in the same "
    for names in ("bacd", "abcz"):
        listed = ", ".join(map(repr, names))
        refused(
            client,
            f"partition 2 of X has the columns {listed}, {end}order.",
            frames("abcd", names),
        )
    refused(
        client,
        f"partition 2 of X has no column names, {end}order.",
        [frames("abcd", "abcd")[0], delayed(X[75:])],
    )


def test_a_dataframe_must_have_the_columns_that_it_announces(client: Any) -> None:
    meta = pd.DataFrame(X[:0], columns=list("abcd"))
    table = dataframe.from_delayed(frames("bacd", "bacd"), meta=meta, verify_meta=False)
    refused(
        client,
        "the partitions of X have the columns 'b', 'a', 'c', 'd', but X announces the columns 'a', "
        "'b', 'c', 'd': give both the same names in the same order.",
        table,
    )


class OurError(ValueError):
    """An error of the block."""


def test_an_error_in_the_block_reaches_the_user_and_starts_no_cluster(
    client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(distributed, "LocalCluster", None)  # calling it would raise a TypeError
    with client.as_current():
        with client_of(None) as used:
            assert used is client
        with pytest.raises(OurError, match=r"^as it is$"), client_of(None):
            raise OurError("as it is")
        with (
            pytest.raises(ValueError, match=r"^partition 2 of X has 3 features"),
            client_of(None) as used,
        ):
            on_cluster(used, [delayed(X), delayed(X[:, :3])])
    with pytest.raises(OurError), client_of(client):
        raise OurError("as it is")


def test_an_error_in_the_block_closes_a_cluster_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    closed = []

    class Opened:
        def __init__(self, *arguments: Any, **settings: Any) -> None: ...

        def __enter__(self) -> Opened:
            return self

        def __exit__(self, *error: Any) -> None:
            closed.append(type(self).__name__)

    class Local(Opened): ...

    monkeypatch.setattr(distributed, "LocalCluster", Local)
    monkeypatch.setattr(distributed, "Client", Opened)
    with pytest.raises(OurError), client_of(None):
        raise OurError("as it is")
    assert closed == ["Opened", "Local"]
