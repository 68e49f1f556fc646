"""Queries of a new model in an old index: chosen and measured on texts that were held out."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from scipy.stats import ortho_group
from sklearn.base import clone
from sklearn.datasets import load_digits

from calipers import Bridge, load
from calipers.search.bridge import Candidate, HeldOut, Moments, solve
from calipers.search.query_map import QueryMap

RNG = np.random.default_rng(0)
TOPICS = RNG.standard_normal((30, 12))
OLD = TOPICS[RNG.integers(30, size=400)] + 0.4 * RNG.standard_normal((400, 12))
ROTATION = np.linalg.qr(RNG.standard_normal((12, 12)))[0]
NEW = OLD @ ROTATION


def fit(new: Any, old: Any, **how: Any) -> Bridge:
    bridge = Bridge(random_state=0, **how)
    bridge.fit(new, old)
    return bridge


def test_a_rotation_is_found_and_nothing_is_lost() -> None:
    bridge = fit(NEW, OLD)
    assert bridge.method_ == "procrustes"
    np.testing.assert_allclose(bridge.map_.query_components, ROTATION, atol=1e-10)
    assert bridge.report_.recall[10] == (1.0, 1.0, 1.0)
    assert bridge.score(NEW, OLD) == 1.0


def test_the_same_model_needs_no_map() -> None:
    assert fit(OLD, OLD).method_ == "identity"


@pytest.mark.parametrize("n_new", [8, 12, 30])
def test_widths_may_differ(n_new: int) -> None:
    new = OLD @ RNG.standard_normal((12, n_new)) + 0.1 * RNG.standard_normal((400, n_new))
    bridge = fit(new, OLD)
    assert bridge.map_.query_components.shape == (12, n_new)
    assert bridge.report_.recall[10].mean > 0.4
    assert bridge.score(new, OLD) == pytest.approx(bridge.report_.recall[10].mean, abs=0.1)


def test_the_report_is_true_of_new_texts() -> None:
    """Pixels as the old model, some of them with noise as the new one."""
    X = load_digits().data
    new = np.hstack([X[:, ::2], 4 * RNG.standard_normal((len(X), 5))])
    bridge = fit(new[:900], X[:900])
    assert bridge.method_ in ("ridge", "low-rank")
    share = bridge.report_.recall[10]
    documents = HeldOut.of(new[900:1100], X[:1100], np.arange(900, 1100), 10)
    assert share.low - 0.05 < documents.recalls(bridge.map_, 10).mean() < share.high + 0.05
    recalls = bridge.report_.candidates
    assert recalls[bridge.report_.chosen] == max(recalls.values())
    assert bridge.report_.chosen == (bridge.method_, bridge.alpha_, bridge.rank_)


def test_recall_is_the_share_of_the_truth_that_is_found() -> None:
    texts = np.arange(5)
    held_out = HeldOut.of(OLD[texts], OLD, texts, 10)
    assert held_out.recalls(QueryMap(np.eye(12)), 10).tolist() == [1.0] * 5
    half = held_out._replace(truth=np.where(np.arange(10) < 4, held_out.truth, -1))
    np.testing.assert_allclose(half.recalls(QueryMap(np.eye(12)), 10), 0.4)


@pytest.mark.parametrize("method", ["identity", "procrustes", "ridge", "low-rank"])
def test_a_fit_with_what_was_chosen_gives_the_same_map(method: str) -> None:
    noisy = NEW + 0.5 * RNG.standard_normal(NEW.shape)
    first = fit(noisy, OLD, method=method)
    assert {candidate.method for candidate in first.report_.candidates} == {method}
    again = fit(noisy, OLD, method=first.method_, alpha=first.alpha_, rank=first.rank_)
    assert len(again.report_.candidates) == 1
    np.testing.assert_array_equal(again.map_.query_components, first.map_.query_components)


def test_clone_pickle_and_file(tmp_path: Path) -> None:
    bridge = fit(NEW.astype(np.float32), OLD, method="ridge", alpha=0.5)
    assert clone(bridge).get_params() == bridge.get_params()
    again = pickle.loads(pickle.dumps(bridge))
    assert again.report_ == bridge.report_
    assert np.array_equal(again.transform(NEW), bridge.transform(NEW))
    bridge.save(tmp_path / "bridge.safetensors")
    loaded = load(tmp_path / "bridge.safetensors")
    assert np.array_equal(loaded.transform(NEW), bridge.transform(NEW))
    assert loaded.kind == "bridge"
    assert loaded.facts["report"] == json.loads(json.dumps(bridge.report_.to_dict()))
    assert bridge.transform(NEW[0].astype(np.float32)).dtype == np.float32


def test_the_report_says_the_verdict_first() -> None:
    lines = str(fit(NEW, OLD).report_).splitlines()
    assert lines[0] == (
        "The bridge keeps 100.0% of the old model's recall at 10 (95 % interval 100.0% to 100.0%)."
    )
    assert lines[1] == "Measured with 80 held-out texts among 400 documents; chosen: procrustes."
    assert any(line.startswith("ridge, alpha=0.1 ") for line in lines)


@pytest.mark.parametrize(
    ("new", "old", "how", "told"),
    [
        (NEW[:99], OLD, {}, r"inconsistent numbers of samples: \[99, 400\]"),
        (NEW[:9], OLD[:9], {}, r"Found array with 9 sample\(s\) .* a minimum of 50 is required"),
        (np.where(NEW[3, 3] == NEW, np.nan, NEW), OLD, {}, r"new\[3\] has values that are not fin"),
        (NEW, np.where(np.arange(400)[:, None] == 7, 0, OLD), {}, r"old\[7\] is zero, so it has"),
        (NEW[:, :5], OLD, {"method": "identity"}, "needs as many new features as old ones, got 5"),
        (NEW, OLD, {"method": "svd"}, "The 'method' parameter of Bridge must be a str among"),
    ],
)
def test_bad_input_is_told_in_a_sentence(new: Any, old: Any, how: Any, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        fit(new, old, **how)


# Each closed form is the minimum that its formula names


def unit(vectors: np.ndarray) -> np.ndarray:
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))


X, Y = unit(RNG.standard_normal((40, 5))), unit(RNG.standard_normal((40, 3)))
MOMENTS = Moments.of(X, Y)


def test_moments_are_sums_over_unit_vectors_and_parts_of_them() -> None:
    scaled = Moments.of(7 * X, Y.astype(np.float16))
    np.testing.assert_allclose(scaled.gram, X.T @ X, atol=1e-12)
    np.testing.assert_allclose(scaled.cross, Y.T @ X, atol=1e-2)
    rest = MOMENTS.without(Moments.of(X[:10], Y[:10]))
    np.testing.assert_allclose(rest.cross, Y[10:].T @ X[10:], atol=1e-12)


def test_no_orthogonal_map_is_nearer_than_procrustes() -> None:
    W = solve(Candidate("procrustes"), MOMENTS)
    np.testing.assert_allclose(W @ W.T, np.eye(3), atol=1e-12)
    least = np.linalg.norm(Y - X @ W.T)
    for seed in range(50):
        other = ortho_group.rvs(5, random_state=seed)[:3]
        assert np.linalg.norm(Y - X @ other.T) >= least


def test_procrustes_is_zero_where_no_text_says_anything() -> None:
    few = Moments.of(X[:2], Y[:2])
    values = np.linalg.svd(solve(Candidate("procrustes"), few), compute_uv=False)
    np.testing.assert_allclose(values, [1, 1, 0], atol=1e-12)


@pytest.mark.parametrize("alpha", [1e-3, 1.0])
def test_ridge_has_no_slope(alpha: float) -> None:
    P, W = solve(Candidate("procrustes"), MOMENTS), solve(Candidate("ridge", alpha), MOMENTS)
    strength = alpha * np.trace(X.T @ X) / 5

    def objective(flat: np.ndarray) -> float:
        map_ = flat.reshape(3, 5)
        return float(np.sum((Y - X @ map_.T) ** 2) + strength * np.sum((map_ - P) ** 2))

    np.testing.assert_allclose(approx_fprime(W.ravel(), objective), 0, atol=1e-5)


def test_low_rank_keeps_the_principal_part_of_the_images() -> None:
    full, cut = (solve(Candidate("low-rank", 0.1, rank), MOMENTS) for rank in (3, 2))
    np.testing.assert_allclose(full, solve(Candidate("ridge", 0.1), MOMENTS), atol=1e-12)
    left, values, right = np.linalg.svd(X @ full.T, full_matrices=False)
    values[2] = 0
    np.testing.assert_allclose(X @ cut.T, (left * values) @ right, atol=1e-12)
