"""The loop, and the solver around it."""

from __future__ import annotations

from checks.mutants.mutant import Mutant, tests

_SGD = tests("solver", "test_any_size and mini-sgd-5]", "first_iterate")
_AS = tests("solver", "test_any_size and as-sgd-5]")
_BALL = tests("solver", "test_the_ball_is_active and mini-sgd-16]")
_LENGTH = tests("solver", "test_any_setting and hr-sgd and (twice or shortened)")
_CONE = tests("solver_projection", "full_decomposition", "nearly_meet", "test_one_step and 42-4")
_RULES = tests("solver_rules", "one_projection", "projection_free")
_LOGDET = tests("logdet", "plain_way")
_BILINEAR = tests("bilinear", "plain_loop", "one_update")

_CROSSED = tests("solver", "crossed_rows_make")

LOOP: tuple[Mutant, ...] = (
    # the loop
    Mutant(
        "kernels/walk.py",
        "slopes[first + c * k + r] if sign > 0.0 else slopes[first + r * k + c]",
        "slopes[first + r * k + c]",
        "slopes of crossed triplets, summed for the other side",
        _CROSSED,
    ),
    Mutant(
        "solver.py",
        "[:, range(k), range(k)].reshape(-1, 3)",
        "[:, range(k), 0].reshape(-1, 3)",
        "crossed rows: one far row in place of all",
        _CROSSED,
    ),
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
        "summed / chance if chance * step.longest > 1.0 else summed * step.longest",
        "summed / chance",
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
        "        carry(block.far[rows], block.near[rows], vectors, signs, block.margins[rest])\n"
        "        _into_ball(iterate, step.radius, block.margins[rest])\n",
        "_into_ball(iterate, step.radius, block.margins[rest])\n"
        "        rank = move(step.rule, iterate, step, room, rank)\n"
        "        vectors, signs = room.vectors[:rank], room.signs[:rank]\n"
        "        carry(block.far[rows], block.near[rows], vectors, signs, block.margins[rest])\n",
        "ball before the step and the cone, in the loop",
        _BALL,
    ),
    Mutant(
        "kernels/walk.py",
        "carry(block.far[rows], block.near[rows], vectors, signs, block.margins[rest])",
        "carry(block.far[rows], block.near[rows], vectors[:1], signs[:1], block.margins[rest])",
        "margins that follow a part of the change",
        tests("solver", "test_any_size and as-sgd-42]"),  # with 5 features none are carried
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
        "if is_positive(M, NIL * tally.norm, square):\n                return",
        "if found >= 0:\n                return",
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
        "kernels/cone.py",
        "tally.changes % period == 0",
        "tally.changes % period == 1",
        "projected after the first of each so many, not the last",
        tests("solver_rules", "now_and_then and 9"),
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
        _AS,
    ),
    Mutant(
        "solver.py",
        "triplets[np.arange(n) * self.recipe.batch_size + picks]",
        "triplets[np.arange(n) * self.recipe.batch_size]",
        "HR-SGD looks at the first of a batch",
        tests("solver", "test_any_size and hr-sgd-5]"),
    ),
    Mutant(
        "solver.py",
        "1.0 if self.recipe.sum_over_batch else 1.0 / self.recipe.batch_size",
        "1.0 / self.recipe.batch_size",
        "sum over the batch forgotten",
        tests("solver", "test_any_setting and mini-sgd and sum"),
    ),
    Mutant(
        "solver.py",
        "part = triplets[first * b : last * b]",
        "part = triplets[first * b : last * b][::-1]",
        "triplets of a block in another order",
        _AS,
    ),
)
