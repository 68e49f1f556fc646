"""
A table whose features have unlike units
========================================

The wine data have alcohol in per cent beside proline in milligrams per litre, a thousand times
larger. The Euclidean distance then is that of proline and nearly nothing else. A learned
metric finds the features that tell the classes apart.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

import calipers
from calipers.plot import feature_importances

X, y = load_wine(return_X_y=True, as_frame=True)
metrics = {
    "as they are": calipers.Euclidean(),
    "standardised": calipers.Scaled(),
    "TripletSGD": calipers.TripletSGD(random_state=0),
    "MetricCV": calipers.MetricCV(random_state=0),
}
for name, metric in metrics.items():
    model = make_pipeline(metric, KNeighborsClassifier(3))
    print(f"{name:14} {100 * cross_val_score(model, X, y, cv=5).mean():.1f} % of wines recognised")

# %%
# Nothing has to be standardised before: `init="auto"` compares the features as they are with
# standardised ones, and the division becomes a part of the one matrix.
metric = calipers.TripletSGD(random_state=0).fit(X, y)
print(f"init_ = {metric.init_!r}")

# %%
# What each feature adds to squared distances: before, all that counts is its standard deviation.
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.8), layout="constrained")
euclidean = calipers.Euclidean().fit(X)
for panel, learned, title in ((left, euclidean, "Before"), (right, metric, "Learned")):
    feature_importances(learned, axes=panel)
    panel.set_title(title, loc="left", fontweight="bold")
