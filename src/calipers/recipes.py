"""What a method of TripletSGD does without its numbers: the public name of the recipes."""

from calipers.solvers.recipes import (
    PAPER_METHODS,
    READINGS,
    RECIPES,
    MethodName,
    Recipe,
    all_pairs_sgd,
    as_sgd,
    ha_sgd,
    hr_sgd,
    mini_sgd,
    sgd,
)

__all__ = [
    "PAPER_METHODS",
    "READINGS",
    "RECIPES",
    "MethodName",
    "Recipe",
    "all_pairs_sgd",
    "as_sgd",
    "ha_sgd",
    "hr_sgd",
    "mini_sgd",
    "sgd",
]
