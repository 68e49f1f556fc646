"""Competitors: each takes a `benchmarks.problem.Problem` and returns an `Outcome`."""
