"""``calipers inspect``."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from calipers import Scaled
from calipers.metric.file import write
from commands import FEATURES, X, quick_fit, run
from metric_files import small_contents


@pytest.mark.usefixtures("folder")
def test_inspect(capsys: pytest.CaptureFixture[str]) -> None:
    metric = quick_fit("--n-components", "3")
    run("inspect", "m", "--json")
    facts = json.loads(capsys.readouterr().out)
    M = metric.get_mahalanobis_matrix()
    np.testing.assert_allclose(facts["spectrum"], np.linalg.eigvalsh(M)[:0:-1])
    assert (facts["features"], facts["components"], facts["rank"]) == (4, 3, 3)
    shares = np.diag(M) * X.var(axis=0)
    assert list(facts["importances"]) == [FEATURES[i] for i in np.argsort(-shares)]
    told = list(facts["importances"].values())
    np.testing.assert_allclose(told, np.sort(shares / shares.sum())[::-1])
    run("inspect", "m")
    shown = capsys.readouterr().out
    assert "4 features to 3 components, rank 3" in shown
    assert "3 classes: setosa, versicolor, virginica" in shown
    assert f"n_updates_: {metric.facts_['n_updates_']}" in shown


@pytest.mark.usefixtures("folder")
def test_long_names_are_shortened(capsys: pytest.CaptureFixture[str]) -> None:
    names = [f"{i}: the parcel was returned because nobody was at home" for i in range(12)]
    Scaled().fit(pd.DataFrame(np.random.default_rng(0).random((20, 12)), columns=names)).save("m")
    run("inspect", "m")
    shown = capsys.readouterr().out
    lines = [line for line in shown.splitlines() if "the parcel" in line]
    assert len(lines) == 10
    assert shown.count("and 2 more") == 1
    assert max(map(len, lines)) < 80


@pytest.mark.usefixtures("folder")
def test_what_was_chosen_comes_first(capsys: pytest.CaptureFixture[str]) -> None:
    write(small_contents(facts={"chosen_": "euclidean", "reason_": "Nothing beats it."}), "m")
    run("inspect", "m")
    assert capsys.readouterr().out.startswith("Nothing beats it.\n\nTripletSGD: ")
