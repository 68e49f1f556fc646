"""
Digits in two dimensions
========================

Images of handwritten digits have 64 pixels each. Two dimensions are drawn here: the principal
components of the pixels, and two dimensions that were learned from the labels of half of the
images. The pictures and the errors are of the other half.
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
# `n_components` is the number of dimensions, for every learner. Those of `Euclidean` are the
# principal components.
plain = calipers.Euclidean(n_components=2).fit(X_train)
learned = calipers.TripletSGD(n_components=2, random_state=0).fit(X_train, y_train)

# %%
# `transform` maps samples so that the Euclidean distance between images is the learned distance.
# Use the images in any method that works with Euclidean distances: k nearest neighbours, k-means,
# an index for search, or a picture.
before, after = (
    100 * knn_error(metric.transform(X_train), y_train, metric.transform(X_test), y_test)
    for metric in (plain, learned)
)
print(f"3-NN error of the other half: {before:.1f} % before, {after:.1f} % after")

# %%
# The classes overlap less. A linear map into two dimensions does not separate all ten of them:
# :doc:`plot_few_dimensions` has the errors with more dimensions.
figure, axes = plt.subplots(1, 2, figsize=(11, 4.8), layout="constrained")
panels = before_after(plain.transform(X_test), y_test, learned.transform(X_test), axes=axes)
for panel, error in zip(panels, (before, after), strict=True):
    panel.set_title(f"{panel.get_title('left')}: {error:.1f} % errors", loc="left")
