"""The mutants: one small break each, and the tests that are to notice it.

A mutant replaces a text that occurs once in its file. Tests are those that ought to notice, and
as few as that takes: pytest's own words, so that one case of many may be named.
"""

from __future__ import annotations

from typing import NamedTuple


class Mutant(NamedTuple):
    """A break of the core."""

    file: str  # below src/calipers
    old: str
    new: str
    why: str
    tests: tuple[str, ...]


def _test(name: str, *words: str) -> tuple[str, ...]:
    return f"tests/test_{name}.py", *(("-k", " or ".join(words)) if words else ())


_LOSSES, _SAMPLING = _test("losses"), _test("sampling")
_PROJECTIONS, _METRIC = _test("projections"), _test("metric")
_ALGEBRA, _CHOLESKY = _test("kernels_algebra"), _test("kernels_cholesky")
_TRIDIAGONAL, _PARTS = _test("kernels_tridiagonal"), _test("kernels_parts")
_DRAW, _CHECK = _test("triplets_draw"), _test("triplets_check")
_KNN, _THEORY = _test("evaluation"), _test("theory")
_SGD = _test("solver", "test_any_size and mini-sgd-5]", "first_iterate")
_AS = _test("solver", "test_any_size and as-sgd-5]")
_BALL = _test("solver", "test_the_ball_is_active and mini-sgd-16]")
_LENGTH = _test("solver", "test_any_setting and hr-sgd and (twice or shortened)")
_CONE = _test("solver_projection", "full_decomposition", "nearly_meet", "test_one_step and 42-4")
_SPML = _test("solver_rules", "spml")
_RULES = _test("solver_rules", "one_projection", "projection_free")
_LOGDET, _BILINEAR = _test("logdet", "plain_way"), _test("bilinear", "plain_loop", "one_update")

MUTANTS: tuple[Mutant, ...] = (
    # losses, policies and projections as they are written for reading
    Mutant("losses.py", "/ self.smoothness)", ")", "loss not divided by L", _LOSSES),
    Mutant(
        "losses.py",
        "expit(-self.smoothness * (margin - 1.0))",
        "expit(self.smoothness * (margin - 1.0))",
        "sign of the slope's exponent",
        _LOSSES,
    ),
    Mutant(
        "losses.py", "margin <= self.threshold", "margin < self.threshold", "hinge's kink", _LOSSES
    ),
    Mutant("sampling.py", "- 2.0 * cross**2", "- cross**2", "factor of the cross term", _SAMPLING),
    Mutant(
        "sampling.py",
        "(-slopes, slopes)",
        "(slopes, slopes)",
        "sign of far differences in the gradient's norm",
        _SAMPLING,
    ),
    Mutant(
        "sampling.py",
        "largest = max(largest, gradient_norm(far, near, slopes))",
        "largest = gradient_norm(far, near, slopes)",
        "the last sample instead of the largest",
        _SAMPLING,
    ),
    Mutant("projections.py", "kept = values > 0", "kept = values != 0", "no cone", _PROJECTIONS),
    Mutant(
        "projections.py",
        "projected = onto_cone(M)\n    norm = float(np.linalg.norm(projected))",
        "norm = float(np.linalg.norm(M))\n    projected = onto_cone(M)",
        "ball measured before the cone",
        _PROJECTIONS,
    ),
    Mutant("projections.py", "(radius / norm)", "(norm / radius)", "ball's factor", _PROJECTIONS),
    Mutant(
        "projections.py", "norm <= radius", "norm <= 2.0 * radius", "ball's bound", _PROJECTIONS
    ),
    # triplets and neighbours
    Mutant("triplets/rows.py", 'side="right"', 'side="left"', "lonely anchors", _DRAW),
    Mutant(
        "triplets/draw.py",
        "column_stack([anchors, near, far])",
        "column_stack([anchors, far, near])",
        "near and far swapped",
        _DRAW,
    ),
    Mutant(
        "triplets/draw.py",
        "rng.integers(n_usable(self._rows), size=count)",
        "rng.integers(n_usable(self._rows) - 1, size=count)",
        "the last anchor is never drawn",
        _DRAW,
    ),
    Mutant(
        "triplets/draw.py",
        "rng.integers(n_found)]",
        "rng.integers(nearest.shape[1], size=len(nearest))]",
        "padding is drawn",
        _DRAW,
    ),
    Mutant("triplets/check.py", "given >= n_rows", "given > n_rows", "one row too many", _CHECK),
    Mutant("triplets/check.py", "given < 0", "given < -1", "row -1 is let in", _CHECK),
    Mutant(
        "triplets/_select.py",
        "and number < numbers[place - 1]",
        "and number > numbers[place - 1]",
        "ties of distance go to the higher row number",
        _test("triplets_search", "ties_and_extremes"),
    ),
    Mutant(
        "evaluation/knn.py",
        "votes.argmax(axis=1)]",
        "votes.shape[1] - 1 - votes[:, ::-1].argmax(axis=1)]",
        "ties of votes go to the farthest",
        _KNN,
    ),
    Mutant(
        "evaluation/knn.py", "predicted != truth", "predicted == truth", "error is 1 - error", _KNN
    ),
    # arithmetic of the loop
    Mutant(
        "kernels/algebra.py",
        "far[t, a] = np.float64(X[i, a]) - np.float64(X[k, a])",
        "far[t, a] = np.float64(X[i, a]) - np.float64(X[j, a])",
        "far difference to the near row",
        _ALGEBRA,
    ),
    Mutant(
        "kernels/algebra.py", "- 2.0 * cross * cross", "+ 2.0 * cross * cross", "sign", _ALGEBRA
    ),
    Mutant(
        "kernels/algebra.py",
        "out[t] = lengths[t] - out[t]",
        "out[t] = out[t] - lengths[t]",
        "sign of the margin",
        _ALGEBRA,
    ),
    Mutant(
        "kernels/algebra.py",
        "entry if r == s else 2.0 * entry",
        "entry",
        "half of the Gram matrix",
        _ALGEBRA,
    ),
    Mutant(
        "kernels/algebra.py", "weight * row[j]", "row[j]", "averaging without weights", _ALGEBRA
    ),
    Mutant(
        "kernels/algebra.py",
        "f, n = dot(far[t], vectors[k]), dot(near[t], vectors[k])",
        "n, f = dot(far[t], vectors[k]), dot(near[t], vectors[k])",
        "margins carried the wrong way",
        _ALGEBRA,
    ),
    Mutant(
        "kernels/cholesky.py",
        "if not row[k] > 0.0:",
        "if row[k] == 0.0:",
        "negative pivots pass",
        _CHOLESKY,
    ),
    Mutant(
        "kernels/cholesky.py", "factors[i, i] += shift", "factors[i, i] -= shift", "sign", _CHOLESKY
    ),
    Mutant(
        "kernels/cholesky.py",
        "range(d - 1, -1, -1)",
        "range(d - 1, 0, -1)",
        "off by one in solving",
        _CHOLESKY,
    ),
    Mutant(
        "kernels/tridiagonal.py",
        "count = 1 if q < 0.0 else 0",
        "count = 0",
        "the first sign of a Sturm sequence",
        _TRIDIAGONAL,
    ),
    Mutant(
        "kernels/tridiagonal.py",
        "low = min(low, alpha[i] - reach)",
        "low = min(low, alpha[i])",
        "Gershgorin without radii",
        _TRIDIAGONAL,
    ),
    Mutant(
        "kernels/tridiagonal.py", "if below > nth:", "if below >= nth:", "off by one", _TRIDIAGONAL
    ),
    # compiled parts
    Mutant(
        "kernels/parts.py",
        "exponent = loss.smoothness * (margin - 1.0)",
        "exponent = loss.smoothness * margin",
        "margin of 1 forgotten",
        _PARTS,
    ),
    Mutant(
        "kernels/parts.py",
        "1.0 if margin <= loss.threshold else 0.0",
        "1.0 if margin < loss.threshold else 0.0",
        "hinge's kink, compiled",
        _PARTS,
    ),
    Mutant(
        "kernels/parts.py",
        "norms, far, near, uniform: slopes[0]",
        "norms, far, near, uniform: 1.0 - slopes[0]",
        "probability upside down",
        _PARTS,
    ),
    Mutant(
        "kernels/parts.py",
        "return min(1.0, gradient_norm(far, near, slopes) / policy.largest)",
        "return gradient_norm(far, near, slopes) / policy.largest",
        "probability above 1",
        _PARTS,
    ),
    Mutant(
        "kernels/parts.py",
        "max(policy.largest[0], norm)",
        "norm",
        "running maximum that forgets",
        _PARTS,
    ),
    Mutant(
        "kernels/parts.py",
        "step.near if sign > 0 else step.far",
        "step.far if sign > 0 else step.near",
        "limits swapped",
        _PARTS,
    ),
    Mutant(
        "kernels/parts.py",
        "sign * alpha / gamma)",
        "-sign * alpha / gamma)",
        "slack moves the wrong way",
        _PARTS,
    ),
    Mutant(
        "kernels/parts.py",
        "1.0 / (schedule.ridge * t)",
        "1.0 / (schedule.ridge * (t + 1))",
        "off by one in the schedule",
        _SPML,
    ),
    Mutant(
        "kernels/parts.py",
        "schedule, t: 1.0 - 1.0 / t",
        "schedule, t: 1.0 - 1.0 / (t + 1.0)",
        "off by one in shrinking",
        _SPML,
    ),
    # the loop
    Mutant("kernels/walk.py", "= uniform < chance", "= uniform > chance", "decision", _AS),
    Mutant(
        "kernels/walk.py",
        "tally.mass += tally.scale\n",
        "tally.mass += tally.scale if tally.seen > 1 else 0.0\n",
        "the first iterate is left out of the average",
        _SGD,
    ),
    Mutant(
        "kernels/walk.py",
        "((1.0, far), (-1.0, near))",
        "((1.0, near), (-1.0, far))",
        "uphill instead of down",
        _SGD,
    ),
    Mutant(
        "kernels/walk.py",
        "slopes[s] / chance if chance * step.longest > 1.0 else slopes[s] * step.longest",
        "slopes[s] / chance",
        "guard of long steps",
        _LENGTH,
    ),
    Mutant(
        "kernels/walk.py",
        "if tally.scale * tally.norm > radius:",
        "if tally.norm > 2.0 * radius:",
        "ball's bound in the loop",
        _BALL,
    ),
    Mutant(
        "kernels/walk.py",
        "rank = move(step.rule, iterate, step, room, rank)\n"
        "        vectors, signs = room.vectors[:rank], room.signs[:rank]\n"
        "        carry(block.far[rest], block.near[rest], vectors, signs, block.margins[rest])\n"
        "        _into_ball(iterate, step.radius, block.margins[rest])\n",
        "_into_ball(iterate, step.radius, block.margins[rest])\n"
        "        rank = move(step.rule, iterate, step, room, rank)\n"
        "        vectors, signs = room.vectors[:rank], room.signs[:rank]\n"
        "        carry(block.far[rest], block.near[rest], vectors, signs, block.margins[rest])\n",
        "ball before the step and the cone, in the loop",
        _BALL,
    ),
    Mutant(
        "kernels/walk.py",
        "carry(block.far[rest], block.near[rest], vectors, signs, block.margins[rest])",
        "carry(block.far[rest], block.near[rest], vectors[:1], signs[:1], block.margins[rest])",
        "margins that follow a part of the change",
        _SGD,
    ),
    Mutant(
        "kernels/cone.py",
        "tally.floor -= removed",
        "tally.floor -= 0.1 * removed",
        "bound by which projections are skipped",
        _SGD,
    ),
    Mutant(
        "kernels/cone.py",
        "if is_positive(M, 1e-12 * tally.norm, room.square):\n                break",
        "if found >= 0:\n                break",
        "Lanczos believed without proof",
        _CONE,
    ),
    Mutant(
        "kernels/cone.py",
        "root = np.sqrt(-values[k])",
        "root = np.sqrt(-0.5 * values[k])",
        "half of a negative eigenvalue is cut off",
        _CONE,
    ),
    Mutant(
        "kernels/cone.py",
        "tally.mass = 0.0\n    tally.changes",
        "tally.mass = tally.scale\n    tally.changes",
        "an iterate counts once too often in the average",
        _SGD,
    ),
    Mutant(
        "kernels/moves.py",
        "np.sqrt(1.0 + tally.seen)",
        "np.sqrt(tally.seen)",
        "off by one in projection-free steps",
        _RULES,
    ),
    Mutant("kernels/moves.py", "(1.0 - rule.damping)", "(1.0 + rule.damping)", "sign", _RULES),
    Mutant(
        "kernels/logdet.py",
        "squared[s] -= c * share * share",
        "squared[s] += c * share * share",
        "distances carried the wrong way",
        _LOGDET,
    ),
    Mutant(
        "kernels/bilinear.py", "loss = 1.0 - scores[t]", "loss = -scores[t]", "margin", _BILINEAR
    ),
    Mutant(
        "kernels/bilinear.py",
        "tau = min(aggressiveness, loss / squared)",
        "tau = loss / squared",
        "aggressiveness without limit",
        _BILINEAR,
    ),
    Mutant(
        "kernels/bilinear.py",
        "dot(Z[t], Z[s])",
        "dot(Z[s], Z[s])",
        "scores carried along the wrong row",
        _BILINEAR,
    ),
    # the solver around the loop
    Mutant(
        "solver.py", "total / self.n_iterations", "total / (self.n_iterations + 1)", "mean", _SGD
    ),
    Mutant(
        "solver.py",
        'total = self.iterate.total + self._tally("mass") * self.iterate.M',
        "total = self.iterate.total",
        "the present iterate is left out of the average",
        _SGD,
    ),
    Mutant(
        "solver.py",
        "triplets[np.arange(n) * self.recipe.batch_size + picks]",
        "triplets[np.arange(n) * self.recipe.batch_size]",
        "HR-SGD looks at the first of a batch",
        _test("solver", "test_any_size and hr-sgd-5]"),
    ),
    Mutant(
        "solver.py",
        "1.0 if self.recipe.sum_over_batch else 1.0 / self.recipe.batch_size",
        "1.0 / self.recipe.batch_size",
        "sum over the batch forgotten",
        _test("solver", "test_any_setting and mini-sgd and sum"),
    ),
    Mutant(
        "solver.py",
        "part = triplets[first * b : last * b]",
        "part = triplets[first * b : last * b][::-1]",
        "triplets of a block in another order",
        _AS,
    ),
    # from solver to metric
    Mutant(
        "metric.py",
        "np.maximum(values[kept], 0.0)",
        "np.abs(values[kept])",
        "negative rounding",
        _METRIC,
    ),
    Mutant("metric.py", "slice(None, None, -1) if", "slice(None) if", "order of rows", _METRIC),
    Mutant("metric.py", "longest * np.sqrt(", "longest * (", "squared distances", _METRIC),
    Mutant(
        "estimators/triplet_sgd.py",
        "float(self.learning_rate) * unit**2",
        "float(self.learning_rate) * unit",
        "steps in the wrong units",
        _test("estimators_notes", "extreme_scales and as-sgd"),
    ),
    Mutant(
        "estimators/triplet_sgd.py",
        '"radius": float(self.radius) * unit,',
        '"radius": float(self.radius),',
        "ball in the wrong units",
        _test("estimators_notes", "the_ball_is_measured"),
    ),
    Mutant(
        "estimators/coordinates.py",
        "self.factors.T @ M @ self.factors",
        "self.factors @ M @ self.factors.T",
        "metric pulled back the wrong way",
        _test("estimators_coordinates", "pulled_back"),
    ),
    Mutant(
        "estimators/inputs.py",
        "largest > LARGEST_VALUE",
        "largest > 1e300",
        "overflow is let in",
        _test("estimators_inputs", "overflow"),
    ),
    Mutant("theory.py", "1.5 * self.smoothness", "1.5 + self.smoothness", "Theorem 2", _THEORY),
    # files
    Mutant(
        "files/store.py",
        "if _checksum(matrices) != checksum:",
        "if not checksum:",
        "checksums are not looked at",
        _test("files_damaged", "every_flipped_bit"),
    ),
    Mutant(
        "files/whole.py",
        'final.with_name(f".{secrets.token_hex(4)}.part")',
        "final",
        "written in place",
        _test("files"),
    ),
)
