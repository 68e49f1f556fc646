"""
Which learner learns from what
==============================

Every learner has ``fit(X, y)``, and some also ``fit_pairs``, ``fit_triplets`` or ``partial_fit``.
The table is made from the classes themselves. :doc:`/choosing` says when to take which.
"""

import matplotlib.pyplot as plt

import calipers
from calipers import estimators

# %%
# What each learner has, by name.
learners = ["MetricCV", *estimators.__all__]
methods = ("fit", "fit_pairs", "fit_triplets", "partial_fit")
titles = ("fit\nlabels", "fit_pairs\npairs", "fit_triplets\ntriplets", "partial_fit\nbatches")

# %%
# `MLKR` learns from numbers where the others learn from classes; `Euclidean` and `Scaled` need
# no labels.
figure, axes = plt.subplots(figsize=(7, 0.34 * len(learners)), layout="constrained")
for row, name in enumerate(learners):
    learner = getattr(calipers, name)
    has = [column for column, method in enumerate(methods) if hasattr(learner(), method)]
    axes.scatter(has, [row] * len(has), s=70, c="tab:blue", zorder=2)
axes.set_yticks(range(len(learners)), learners)
axes.set_xticks(range(len(methods)), titles)
axes.tick_params(length=0, top=True, labeltop=True, bottom=False, labelbottom=False)
axes.grid(axis="y", alpha=0.4)
axes.spines[:].set_visible(False)
axes.set(xlim=(-0.5, len(methods) - 0.5), ylim=(len(learners) - 0.5, -0.5))
