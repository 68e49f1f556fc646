"""
What was learned, and how
=========================

A metric's file holds the matrix and how it was learned: the loss on the way, the updates and the
parameters. :func:`calipers.load` needs neither the learner nor the data to show them.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits

import calipers
from calipers.paper.theory import Theory
from calipers.plot import loss_curve, spectrum

X, y = load_digits(return_X_y=True)
X /= 16  # pixels from 0 to 1: the paper's margin is in units of X
fitted = calipers.TripletSGD.paper("as-sgd", n_triplets=30_000, random_state=0).fit(X, y)

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "metric.safetensors"
    fitted.save(path)
    print(f"{path.stat().st_size / 1000:.1f} kB")
    metric = calipers.load(path)
print(metric)

# %%
# The parameters that the fit used. A fit with these values gives the same bits.
print(metric.resolved_)

# %%
# On the left is the mean loss of the triplets since the point before. A dot marks a point with
# updates. AS-SGD updates with probability the slope, which is small where the loss is small, so
# updates become rare. On the right are the eigenvalues of M, the largest first.
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
loss_curve(metric, axes=left)
spectrum(metric, axes=right)

# %%
# Theorem 2 of the paper bounds the number of updates. `Theory` evaluates the bound for this fit.
print(f"{fitted.n_updates_} updates, at most {Theory.of(fitted).sharp_update_bound:,.0f} by theory")
