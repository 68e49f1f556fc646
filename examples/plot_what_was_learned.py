"""
What was learned, and how
=========================

A fitted metric is one matrix and its story: the loss on the way, the eigenvalues, and what the
paper's theorems say about it. All of it is kept in the file that `save` writes.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer

import calipers
from calipers.plot import loss_curve, spectrum

X, y = load_breast_cancer(return_X_y=True)
fitted = calipers.TripletSGD("as-sgd", n_rounds=1, random_state=0).fit(X, y)

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "metric.safetensors"
    fitted.save(path, X=X)
    print(f"{path.stat().st_size / 1000:.1f} kB")
    metric = calipers.load(path)  # what follows works without the learner, or the data
print(metric)

# %%
# What None and "auto" stood for: a fit with these values gives the same bits.
print(metric.resolved_)

# %%
# The mean loss of the triplets seen since the point before, and the eigenvalues of M: a few
# directions carry the distance.
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
loss_curve(metric, axes=left)
spectrum(metric, axes=right)

# %%
# Theorem 2 of the paper bounds the number of updates; `theory` evaluates it for this fit.
print(f"{fitted.n_updates_} updates, at most {fitted.theory().sharp_update_bound:,.0f} by theory")
