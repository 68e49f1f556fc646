"""
A table whose columns have unlike units
=======================================

The wine data have alcohol in per cent beside proline in milligrams per litre, a thousand times
larger. The Euclidean distance then is that of proline and nearly nothing else. A learned
metric finds the columns that tell the classes apart.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import calipers
from calipers.plot import feature_importances

X, y = load_wine(return_X_y=True, as_frame=True)
model = {
    "as they are": KNeighborsClassifier(3),
    "standardised": make_pipeline(StandardScaler(), KNeighborsClassifier(3)),
    "learned": make_pipeline(
        StandardScaler(), calipers.TripletSGD(random_state=0), KNeighborsClassifier(3)
    ),
}
accuracy = {name: cross_val_score(each, X, y, cv=5) for name, each in model.items()}
for name, folds in accuracy.items():
    print(f"{name:14} {100 * folds.mean():.1f} % of wines recognised")

# %%
# What each column adds to squared distances: before, all that counts is its spread.
spread = X.std(axis=0)
metric = calipers.TripletSGD(random_state=0).fit(X / spread, y)
metric.components_ = metric.components_ / spread.to_numpy()  # back to the columns' own units

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.8), layout="constrained")
euclidean = calipers.Euclidean().fit(X)
for panel, learned, title in ((left, euclidean, "Before"), (right, metric, "Learned")):
    feature_importances(learned, spread=spread, axes=panel)
    panel.set_title(title, loc="left", fontweight="bold")
