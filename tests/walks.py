"""The former name of `solver_runs`, for checks/long.py and test_benchmarks_solvers.py."""

from solver_runs import METHODS, Settings, assert_same_matrix, noise

__all__ = ["METHODS", "Settings", "assert_same_matrix", "noise"]
