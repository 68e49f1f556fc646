"""
Digits before and after
=======================

Images of handwritten digits, 64 pixels each, compared pixel by pixel and then under a metric
that was learned from the labels of half of them. What is drawn and scored is the other half.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import calipers
from calipers.evaluation import knn_error
from calipers.plot import before_after

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0)

metric = calipers.TripletSGD(random_state=0).fit(X_train, y_train)

# %%
# `transform` maps rows so that the Euclidean distance between images is the learned distance.
# Anything that works with Euclidean distances can go on from there: k nearest neighbours,
# k-means, an index for search, or a picture.
before = 100 * knn_error(X_train, y_train, X_test, y_test)
after = 100 * knn_error(metric.transform(X_train), y_train, metric.transform(X_test), y_test)
print(f"3-NN error on the other half: {before:.2f} % before, {after:.2f} % after")

# %%
# Two principal components each. The classes lie apart that overlapped before.
figure, axes = plt.subplots(1, 2, figsize=(11, 4.8), layout="constrained")
panels = before_after(X_test, y_test, metric.transform(X_test), axes=axes)
for panel, error in zip(panels, (before, after), strict=True):
    panel.set_title(f"{panel.get_title('left')}: {error:.1f} % errors", loc="left")
