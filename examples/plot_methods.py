"""
Five algorithms: updates and errors
===================================

The paper's algorithms see the same triplets and differ in when they update the metric. SGD does so
at every triplet, Mini-SGD at every batch. The other three decide at random: the larger the loss,
the more probable is an update. An update costs a projection, so few updates save time.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import calipers
from calipers.evaluation import knn_error

X, y = load_digits(return_X_y=True)
X /= 16  # pixels from 0 to 1: the paper's margin is in units of X
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0)

# %%
# ``TripletSGD.paper`` has the paper's settings: single nearest neighbours, the identity to start
# from, one round. Further arguments override them.
methods = ("sgd", "mini-sgd", "as-sgd", "hr-sgd", "ha-sgd")
fits = [
    calipers.TripletSGD.paper(method, n_triplets=30_000, random_state=0).fit(X_train, y_train)
    for method in methods
]
updates = [fit.n_updates_ for fit in fits]
errors = [
    100 * knn_error(fit.transform(X_train), y_train, fit.transform(X_test), y_test) for fit in fits
]
euclidean = 100 * knn_error(X_train, y_train, X_test, y_test)
for method, count, error in zip(methods, updates, errors, strict=True):
    print(f"{method:9}{count:7,} updates, 3-NN error {error:.2f} %")
print(f"Euclidean distance:       3-NN error {euclidean:.2f} %")

# %%
# The numbers of updates differ by a factor of several hundred, the errors by a few samples.
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained", sharey=True)
left.bar_label(left.barh(methods, updates), [f" {count:,}" for count in updates])
left.set(xscale="log", xlim=(10, 300_000), xlabel="updates (log scale)")
left.invert_yaxis()
right.barh(methods, errors)
right.axvline(euclidean, color="black", linestyle="--")
right.text(1.02 * euclidean, 2, "Euclidean\ndistance", va="center")
right.set(xlim=(0, 1.5 * euclidean), xlabel="3-NN error, per cent")
for panel in (left, right):
    panel.spines[["top", "right"]].set_visible(False)
