"""
A table whose features have unlike units
========================================

The wine table has alcohol in per cent beside proline in milligrams per litre. Proline's numbers are
the largest by far, so the Euclidean distance sees proline and hardly anything else. A learned
metric weighs the features that tell the classes apart.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

import calipers

X, y = load_wine(return_X_y=True, as_frame=True)
metrics = {
    "raw": calipers.Euclidean(),
    "standardised": calipers.Scaled(),
    "TripletSGD": calipers.TripletSGD(random_state=0),
    "MetricCV": calipers.MetricCV(random_state=0),
}

# %%
# Every metric is a step of a pipeline. Five folds are held out in turn, and 3-NN classifies their
# wines.
errors = {}
for name, metric in metrics.items():
    model = make_pipeline(metric, KNeighborsClassifier(3))
    errors[name] = 100 * (1 - cross_val_score(model, X, y, cv=5).mean())
    print(f"{name:13} {errors[name]:4.1f} % of wines misclassified")

figure, panel = plt.subplots(figsize=(7, 2.8), layout="constrained")
bars = panel.barh(list(errors), list(errors.values()))
panel.bar_label(bars, [f" {error:.1f} %" for error in errors.values()])
panel.invert_yaxis()
panel.set_xlabel("3-NN error of held-out wines, per cent")
panel.spines[["top", "right"]].set_visible(False)

# %%
# You need not standardise first. `init="auto"` compares raw with standardised features, and the
# division becomes a part of the matrix. :doc:`plot_weights` shows what the metric weighs.
metric = calipers.TripletSGD(random_state=0).fit(X, y)
print(f"init_ = {metric.init_!r}")
