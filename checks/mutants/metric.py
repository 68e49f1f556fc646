"""From the solver to the metric, and to its file."""

from __future__ import annotations

from checks.mutants.mutant import Mutant, tests

_METRIC = tests("metric")
_THEORY = tests("theory")

METRIC: tuple[Mutant, ...] = (
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
        "learning_rate * unit**2",
        "learning_rate * unit",
        "steps in the wrong units",
        tests("estimators_notes", "extreme_scales and as-sgd"),
    ),
    Mutant(
        "estimators/triplet_sgd.py",
        '"radius": float(self.radius) * unit,',
        '"radius": float(self.radius),',
        "ball in the wrong units",
        tests("estimators_notes", "the_ball_is_measured"),
    ),
    Mutant(
        "estimators/coordinates.py",
        "self.factors.T @ M @ self.factors",
        "self.factors @ M @ self.factors.T",
        "metric pulled back the wrong way",
        tests("estimators_coordinates", "pulled_back"),
    ),
    Mutant(
        "estimators/coordinates.py",
        "(winners(classes) != rows.labels_of(anchors))",
        "((classes != rows.labels_of(anchors)[:, None]).sum(axis=1) > 1)",
        "votes by majority alone",
        tests("estimators_coordinates", "vote"),
    ),
    Mutant(
        "estimators/guard.py",
        "difference > by * np.sqrt(np.count_nonzero(one ^ other))",
        "difference > 0",
        "fewer by chance is clearly fewer",
        tests("estimators_guard", "more_than_chance"),
    ),
    Mutant(
        "estimators/guard.py",
        "learn(X[~asked], labels[~asked], fold)",
        "learn(X, labels, fold)",
        "rows that are asked are learned from",
        tests("estimators_guard", "asked_once"),
    ),
    Mutant(
        "estimators/inputs.py",
        "largest > LARGEST_VALUE",
        "largest > 1e300",
        "overflow is let in",
        tests("estimators_inputs", "overflow"),
    ),
    Mutant("theory.py", "1.5 * self.smoothness", "1.5 + self.smoothness", "Theorem 2", _THEORY),
    # files
    Mutant(
        "files/store.py",
        "if _checksum(matrices) != checksum:",
        "if not checksum:",
        "checksums are not looked at",
        tests("files_damaged", "every_flipped_bit"),
    ),
    Mutant(
        "files/whole.py",
        'final.with_name(f".{secrets.token_hex(4)}.part")',
        "final",
        "written in place",
        tests("files"),
    ),
    # means of metrics
    Mutant(
        "estimators/blend.py",
        "many / (of_other * len(self.others)) * other",
        "many / of_other * other",
        "every other metric counts as much as all",
        tests("estimators_blend", "count_by_their_distances"),
    ),
    Mutant(
        "estimators/guarded.py",
        "not guard.fewer(learned, mean, by=HANDICAP)",
        "guard.fewer(mean, learned, by=LEAD)",
        "a mean must be better, however few the rows",
        tests("estimators_guard", "means_where"),
    ),
    Mutant(
        "estimators/guarded.py",
        "self._blend(X, start, others[-1:])",
        "self._blend(X, start, others)",
        "metrics learned from the rows that are asked are in their mean",
        tests("estimators_guard", "same_settings"),
    ),
)
