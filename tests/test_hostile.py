"""Hostile input against every learner: a metric, or one sentence with the cause.

``python -m checks hostile`` draws as many cases as one likes; here they are the same at every
run.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from sklearn.base import clone

from calipers import TripletSGD
from hostile import (
    BAD_FLAWS,
    BAD_LABELS,
    BAD_LAYOUTS,
    BAD_ROWS,
    BAD_UNITS,
    HARD_FLAWS,
    HARD_LABELS,
    HARD_LAYOUTS,
    HARD_ROWS,
    HARD_UNITS,
    LEARNERS,
    STEPLESS,
    Case,
    cases,
    check,
    make,
)

N_GENERATED = 80  # for each of the learners, which are 25: 2,000 in all

each_learner = pytest.mark.parametrize("name", LEARNERS)

HARD: dict[str, Case] = {
    **{f"rows: {kind}": make(kind) for kind in HARD_ROWS},
    **{f"unit: {unit:g}": make(unit=unit) for unit in HARD_UNITS},
    **{f"flaw: {flaw}": make(flaw=flaw) for flaw in HARD_FLAWS},
    **{f"layout: {layout}": make(layout=layout) for layout in HARD_LAYOUTS},
    **{f"labels: {kind}": make(labels=kind) for kind in HARD_LABELS},
    "more features than rows": make(n=5, d=40),
    "one feature": make(d=1),
    "three rows": make(n=3),
    "every row twice, labels at odds": make("few distinct", n=6, seed=3),
}
BAD: dict[str, Case] = {
    **{f"rows: {kind}": make(kind) for kind in BAD_ROWS},
    **{f"unit: {unit:g}": make(unit=unit) for unit in BAD_UNITS},
    **{f"flaw: {flaw}": make(flaw=flaw) for flaw in BAD_FLAWS},
    **{f"layout: {layout}": make(layout=layout) for layout in BAD_LAYOUTS},
    **{f"labels: {kind}": make(labels=kind) for kind in BAD_LABELS},
    "two rows": make(n=2),
}


@each_learner
@pytest.mark.parametrize("case", HARD)
def test_hard_but_sound_input_gives_a_metric(case: str, name: str) -> None:
    if name in ("LEGO", "ITML") and case == "every row twice, labels at odds":
        pytest.skip("few distances may be one and the same, which leaves no limits between them")
    if name == "in a small ball" and case == "more features than rows":
        pytest.skip("the identity, where walks start, is outside of the ball")
    assert check(name, HARD[case]) == "fitted"


@each_learner
@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_refused_with_its_cause(case: str, name: str) -> None:
    assert check(name, BAD[case]) == "refused" or name in STEPLESS


@each_learner
def test_any_input(name: str) -> None:
    seen: Counter[str] = Counter()

    @settings(max_examples=N_GENERATED)
    @given(cases())
    def any_case(case: Case) -> None:
        seen[check(name, case)] += 1

    any_case()
    assert sum(seen.values()) >= N_GENERATED
    assert min(seen["fitted"], seen["refused"]) >= N_GENERATED // 20


@each_learner
def test_a_thousand_classes(name: str) -> None:
    case = make(labels="many classes", n=2000, d=4)
    assert len(np.unique(case.y)) == 1000
    assert check(name, case) == "fitted"


@pytest.mark.parametrize("mode", ["r", "c"])
def test_rows_on_a_disk(tmp_path: Path, mode: Any) -> None:
    rows = make(n=20).X
    rows.tofile(tmp_path / "rows")
    mapped = np.memmap(tmp_path / "rows", dtype=rows.dtype, mode=mode, shape=rows.shape)
    before = (tmp_path / "rows").read_bytes()
    for name, learner in LEARNERS.items():
        expected = clone(learner).fit(rows, make(n=20).y).components_
        fitted = clone(learner).fit(mapped, make(n=20).y)
        np.testing.assert_array_equal(fitted.components_, expected, err_msg=name)
    assert (tmp_path / "rows").read_bytes() == before


def test_masked_values_are_counted_and_refused_everywhere() -> None:
    case = make(n=20)
    rows, labels = np.asarray(case.X), case.y
    masked = np.ma.MaskedArray(rows, mask=np.arange(60).reshape(20, 3) < 2)
    sentence = (
        "X has 2 masked values, and the numbers below the mask have no meaning: fill them in, or "
        "leave out their samples."
    )
    learner = clone(LEARNERS["as-sgd"]).fit(rows, labels)
    for call, arguments in (
        (clone(learner).fit, (masked, labels)),
        (clone(learner).fit_triplets, (masked, [[0, 1, 2]])),
        (learner.transform, (masked,)),
    ):
        with pytest.raises(ValueError) as caught:  # noqa: PT011
            call(*arguments)
        assert str(caught.value) == sentence
    with pytest.raises(ValueError, match=r"^pairs has 2 masked values"):
        learner.pair_distance(np.ma.stack([masked, rows], axis=1))


def test_labels_of_two_types_are_refused_in_one_sentence() -> None:
    case = make(labels="texts and numbers")
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        TripletSGD().fit(case.X, case.y)
    assert str(caught.value) == (
        "TripletSGD needs labels of one type, got labels of types int, str: make them one, e.g. "
        "by y.astype(str), and leave out samples without a label."
    )


@pytest.mark.parametrize("unit", [1e-170, 1.0, 1e160])
def test_distances_neither_overflow_nor_vanish(unit: float) -> None:
    learner = clone(LEARNERS["Euclidean"]).fit(np.eye(2))
    pairs = unit * np.array([[[3.0, 0.0], [0.0, 4.0]], [[1.0, 1.0], [1.0, 1.0]]])
    np.testing.assert_allclose(learner.pair_distance(pairs), [5.0 * unit, 0.0], rtol=1e-15)
    metric = learner.get_metric()
    np.testing.assert_allclose([metric(*pair) for pair in pairs], [5.0 * unit, 0.0], rtol=1e-15)
