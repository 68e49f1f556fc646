"""From the solver to the metric, and to its file."""

from __future__ import annotations

from checks.mutants.mutant import Mutant, tests

_METRIC = tests("metric")
_THEORY = tests("theory")

METRIC: tuple[Mutant, ...] = (
    # from solver to metric
    Mutant(
        "metric.py",
        "np.maximum(values, 0.0)",
        "np.abs(values)",
        "negative rounding",
        _METRIC,
    ),
    Mutant("metric.py", "rows[::-1] if", "rows if", "order of rows", _METRIC),
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
        "differences.sum() / standard_error",
        "differences.sum()",
        "a lead of some rows is clear, however many change sides",
        tests("estimators_guard", "standard_errors"),
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
        "share / of_other * other",
        "share / length * other",
        "metrics count by their size, not by their distances",
        tests("estimators_blend", "count_by_their_distances"),
    ),
    Mutant(
        "estimators/guarded.py",
        "shares.many / len(many)",
        "shares.many",
        "every metric of many neighbours counts as much as all",
        tests("estimators_guarded", "all_folds"),
    ),
    Mutant(
        "estimators/guarded.py",
        "0 if guard.lead(learned[0], learned[mean]) > LEAD else mean",
        "mean if guard.lead(learned[mean], learned[0]) > LEAD else 0",
        "a mean must be better, however few the rows",
        tests("estimators_guarded", "clearly_better"),
    ),
    Mutant(
        "estimators/guard.py",
        "+ by_votes >= SURE",
        "+ by_votes >= -SURE",
        "none must be clearly better than a metric",
        tests("estimators_guard", "both_answers"),
    ),
    Mutant(
        "estimators/guarded.py",
        "self._blends(X, y, others[-1:])",
        "self._blends(X, y, others)",
        "metrics learned from the rows that are asked are in their mean",
        tests("estimators_guarded", "same_settings"),
    ),
    Mutant(
        "estimators/guard.py",
        "1.0 / np.arange(1.0, n_nearest + 1.0)",
        "np.ones(n_nearest)",
        "all of the nearest count alike",
        tests("estimators_guard", "nearest_count_most"),
    ),
    Mutant(
        "estimators/coordinates.py",
        "np.where(sample.min(axis=0) < sample.max(axis=0), sample.std(axis=0), 0.0)",
        "sample.std(axis=0)",
        "a constant feature has a spread by rounding",
        tests("estimators_coordinates", "by_rounding"),
    ),
    # anchors beyond reach
    Mutant(
        "kernels/algebra.py",
        "if squared <= k * reach * reach:",
        "if squared <= reach * reach:",
        "reach is of the sum of the far rows",
        tests("kernels_algebra", "brought_back"),
    ),
    Mutant(
        "kernels/walk.py",
        "    shorten(room.far, room.near, 1, step.reach)\n",
        "",
        "a batch of which one was looked at is not brought back",
        tests("solver", "test_any_setting and brought and hr-sgd"),
    ),
    Mutant(
        "estimators/defaults.py",
        "reach: float = 2.0",
        "reach: float = inf",
        "rows far away lead",
        tests("estimators_reach", "spoil"),
    ),
    # whether learning helps
    Mutant(
        "estimators/guard.py",
        "by_votes >= 0.0 and ",
        "",
        "more may be taken for another class under a metric than without",
        tests("estimators_guard", "both_answers"),
    ),
    Mutant(
        "estimators/guard.py",
        "    doubtful *= min(1.0, OF_OTHERS * others)\n",
        "",
        "small classes that are all mistaken are no cause for doubt",
        tests("estimators_guard", "in_doubt_only"),
    ),
    Mutant(
        "estimators/guarded.py",
        "self._doubt, others=others",
        "self._doubt",
        "the guard is not told how large the largest class is",
        tests("estimators_guard", "of_few_others"),
    ),
    # units of features
    Mutant(
        "metric.py",
        "_GRADED = 1e8",
        "_GRADED = 1e300",
        "features of small units drown in the rounding of the largest",
        tests("metric", "keep_their_digits"),
    ),
    Mutant(
        "metric.py",
        "values[0] < -_ROUNDING * values[-1]",
        "values[0] < -np.inf",
        "rounding is taken for a feature of small units",
        tests("metric", "rounding_is_no_feature"),
    ),
    # fewer rows than features
    Mutant(
        "estimators/coordinates.py",
        "pulled + unit * self.rest",
        "pulled + self.rest",
        "what the rows do not see has other units",
        tests("estimators_span"),
    ),
    Mutant(
        "estimators/coordinates.py",
        "else unit * self.rest",
        "else self.rest",
        "a stage forgets the units of the one before",
        tests("estimators_span"),
    ),
    Mutant(
        "estimators/coordinates.py",
        "rest=whole - seen.factors.T @ seen.factors",
        "rest=whole",
        "what the rows see counts twice",
        tests("estimators_span"),
    ),
    Mutant(
        "estimators/guard.py",
        "min(N_NEAREST, len(X) - len(anchors))",
        "N_NEAREST",
        "rows that are not there are looked at",
        tests("estimators_guard", "at_most_all"),
    ),
    Mutant(
        "estimators/guarded.py",
        "min(MANY, len(X) - 1)",
        "MANY",
        "few rows cannot say, for want of 20 neighbours",
        tests("estimators_guarded", "can_be_asked"),
    ),
    Mutant(
        "estimators/guarded.py",
        "len(np.unique(y)) == 1 and others < 0.5",
        "False",
        "what one or two rows of a class teach is taken unseen",
        tests("estimators_guarded", "can_be_asked"),
    ),
    Mutant(
        "estimators/inputs.py",
        "for row in X + 0.0}",
        "for row in X}",
        "two zeros",
        tests("estimators_notes", "one_zero"),
    ),
    Mutant(
        "kernels/algebra.py",
        "range(len(near) - 1, -1, -1):  # backwards: what",
        "range(len(near)):  # backwards: what",
        "what a far row found is overwritten before it is read",
        tests("kernels_algebra"),
    ),
)
