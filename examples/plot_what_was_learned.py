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
from sklearn.preprocessing import StandardScaler

import calipers
from calipers.plot import loss_curve, spectrum

X, y = load_breast_cancer(return_X_y=True)
X = StandardScaler().fit_transform(X)
fitted = calipers.TripletSGD("ha-sgd", n_triplets=20_000, random_state=0).fit(X, y)

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "metric.safetensors"
    fitted.save(path, X=X)
    print(f"{path.stat().st_size / 1000:.1f} kB")
    metric = calipers.load(path)  # what follows works without the learner, or the data
print(metric)

# %%
# The loss at the triplets met since the point before, and the eigenvalues of M: a few
# directions carry the distance.
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
loss_curve(metric, axes=left)
spectrum(metric, axes=right)

# %%
# Theorem 2 of the paper bounds the number of updates; `theory` evaluates it for this fit.
print(f"{fitted.n_updates_} updates, at most {fitted.theory().sharp_update_bound:,.0f} by theory")
