"""The arithmetic of the loop, and the compiled parts."""

from __future__ import annotations

from checks.mutants.mutant import Mutant, tests

_ALGEBRA = tests("kernels_algebra")
_CHOLESKY = tests("kernels_cholesky")
_TRIDIAGONAL = tests("kernels_tridiagonal")
_REFLECTIONS = tests("kernels_reflections")
_PARTS = tests("kernels_parts")
_SPML = tests("solver_rules", "spml")

ARITHMETIC: tuple[Mutant, ...] = (
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
        "gaps[t, a] = far[t, a] - near[t, a]",
        "gaps[t, a] = near[t, a] - far[t, a]",
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
        "kernels/algebra.py",
        "add_squares(M, vectors[first : k + 1], signs[k])",
        "add_squares(M, vectors[first : k + 1], 1.0)",
        "many outer products without signs",
        _ALGEBRA,
    ),
    Mutant(
        "kernels/algebra.py",
        "2.0 * dot(row, row) - row[0] * row[0]",
        "2.0 * dot(row, row)",
        "the diagonal counts twice in the norm",
        _ALGEBRA,
    ),
    Mutant(
        "kernels/algebra.py",
        "    _mirror(M)\n",
        "    pass\n",
        "the lower half of M stays as it was",
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
        "factorise(factors, 0.0)",
        "factorise(factors, -np.inf)",
        "negative pivots pass",
        _CHOLESKY,
    ),
    Mutant("kernels/cholesky.py", "out[i, i] += shift", "out[i, i] -= shift", "sign", _CHOLESKY),
    Mutant(
        "kernels/cholesky.py",
        "range(d - 1, whole - 1, -1)",
        "range(d - 1, whole, -1)",
        "off by one in solving",
        _CHOLESKY,
    ),
    Mutant(
        "kernels/cholesky.py",
        "if largest <= GROWTH * norm else -1",
        "if largest < np.inf else -1",
        "pivots believed that have grown beyond measure",
        _CHOLESKY,
    ),
    Mutant(
        "kernels/cholesky.py",
        "known[i - k] - near",
        "known[i - k]",
        "three of four rows are not solved for each other",
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
    Mutant(
        "kernels/reflections.py",
        "        A[k, k + 1] = 1.0\n",
        "        pass\n",
        "reflections whose first number is that of the tridiagonal form",
        _REFLECTIONS,
    ),
    Mutant(
        "kernels/tridiagonal.py",
        "(abs(beta[i]) if",
        "(beta[i] if",
        "a radius below 0",
        _TRIDIAGONAL,
    ),
    Mutant(
        "kernels/spectrum.py",
        "if not (is_pair and is_apart(vectors, k)):",
        "if not is_pair:",
        "two vectors for one direction",
        tests("kernels_spectrum", "meet_one_after_another"),
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
        tests("logdet", "itml_goes"),
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
)
