"""
Digits in two dimensions
========================

Images of handwritten digits, 64 pixels each, drawn in the plane: by the two principal components
of the pixels, and by two dimensions that were learned from the labels of half of the images. The
other half is drawn and scored.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import calipers
from calipers.evaluation import knn_error
from calipers.plot import before_after

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0)

# %%
# `n_components` asks every learner for so many dimensions. Those of `Euclidean` are the principal
# components.
plain = calipers.Euclidean(n_components=2).fit(X_train)
learned = calipers.TripletSGD(n_components=2, random_state=0).fit(X_train, y_train)

# %%
# `transform` maps samples so that the Euclidean distance between images is the learned distance.
# Anything that works with Euclidean distances can go on from there: k nearest neighbours,
# k-means, an index for search, or a picture.
before, after = (
    100 * knn_error(metric.transform(X_train), y_train, metric.transform(X_test), y_test)
    for metric in (plain, learned)
)
print(f"3-NN error of the other half: {before:.1f} % before, {after:.1f} % after")

# %%
# The classes that overlapped before lie apart.
figure, axes = plt.subplots(1, 2, figsize=(11, 4.8), layout="constrained")
panels = before_after(plain.transform(X_test), y_test, learned.transform(X_test), axes=axes)
for panel, error in zip(panels, (before, after), strict=True):
    panel.set_title(f"{panel.get_title('left')}: {error:.1f} % errors", loc="left")
