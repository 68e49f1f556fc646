"""
Fewer dimensions
================

With fewer dimensions an index is smaller, and two dimensions can be drawn. `n_components` learns a
metric of that many dimensions from the labels. PCA keeps as many without labels. Linear
discriminants are at most one fewer than the classes.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.model_selection import train_test_split

import calipers
from calipers.evaluation import knn_error

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0)

# %%
# The rows of ``components_`` are ordered by the variance of the training samples under the metric.
# So one fit without `n_components` gives a metric for every k: its first k rows.
whole = calipers.TripletSGD(random_state=0).fit(X_train, y_train)
pca = PCA().fit(X_train)

kept = (2, 3, 4, 6, 8, 16, 32)
maps = {
    "PCA": [pca.components_[:k] for k in kept],
    "discriminants": [
        calipers.Discriminant(n_components=k).fit(X_train, y_train).components_
        for k in kept
        if k < 10
    ],
    "first of all": [whole.components_[:k] for k in kept],
    "learned for k": [
        calipers.TripletSGD(n_components=k, random_state=0).fit(X_train, y_train).components_
        for k in kept
    ],
}

# %%
# Errors on the half that was not learned from. Learning for k dimensions has the lowest error
# of the four ways; from 16 on, the first rows of the full metric do as well.
figure, panel = plt.subplots(figsize=(7, 4.2), layout="constrained")
for (name, matrices), marker in zip(maps.items(), "s^do", strict=True):
    errors = [100 * knn_error(X_train @ L.T, y_train, X_test @ L.T, y_test) for L in matrices]
    panel.plot(kept[: len(errors)], errors, marker=marker, label=name)
    print(f"{name:14}", *(f"{k}: {error:.1f} %" for k, error in zip(kept, errors, strict=False)))
panel.set_xscale("log", base=2)
panel.set_yscale("log")
panel.set_xticks(kept, [str(k) for k in kept])
panel.set_yticks((2, 5, 10, 20, 40), ["2", "5", "10", "20", "40"])
panel.minorticks_off()
panel.set_xlabel("dimensions kept")
panel.set_ylabel("3-NN error, per cent")
panel.legend(frameon=False)
panel.spines[["top", "right"]].set_visible(False)
