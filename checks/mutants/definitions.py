"""Losses, policies, projections, triplets and neighbours: what is defined before it is fast."""

from __future__ import annotations

from checks.mutants.mutant import Mutant, tests

_LOSSES = tests("losses")
_SAMPLING = tests("sampling")
_PROJECTIONS = tests("projections")
_DRAW = tests("triplets_draw")
_CHECK = tests("triplets_check")
_KNN = tests("evaluation")

DEFINITIONS: tuple[Mutant, ...] = (
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
    Mutant(
        "triplets/draw.py",
        "numbers // k % k], self._other[places, numbers % k]",
        "numbers % k], self._other[places, numbers % k]",
        "crossed triplets: the same number of near and far row",
        tests("triplets_crossed"),
    ),
    Mutant("triplets/rows.py", 'side="right"', 'side="left"', "lonely anchors", _DRAW),
    Mutant(
        "triplets/draw.py",
        "far_rng)\n            yield np.column_stack([anchors, near, far])",
        "far_rng)\n            yield np.column_stack([anchors, far, near])",
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
        tests("triplets_search", "ties_and_extremes"),
    ),
    Mutant(
        "votes.py",
        "votes.argmax(axis=1)]",
        "votes.shape[1] - 1 - votes[:, ::-1].argmax(axis=1)]",
        "ties of votes go to the farthest",
        _KNN,
    ),
    Mutant(
        "evaluation/knn.py", "predicted != truth", "predicted == truth", "error is 1 - error", _KNN
    ),
)
