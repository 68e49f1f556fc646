"""
Five algorithms: updates and errors
===================================

The paper's algorithms see the same triplets and differ in when they update the metric: SGD at
every triplet, Mini-SGD at every batch, the other three at random, the more probably the more
there is to learn. An update costs a projection, so that few updates save time. All of them learn
nearly the same, from very different numbers of updates.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import calipers
from calipers.evaluation import knn_error
from calipers.plot import CLASS_COLORS

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0)
X_train, X_test = (
    X_train / 16,
    X_test / 16,
)  # pixels from 0 to 1: the paper's margin is in units of X

# %%
# ``TripletSGD.paper`` has the paper's settings: single nearest neighbours, the identity to start
# from, one round. Further arguments override them.
print("method     updates  projections  3-NN error %")
figure, panel = plt.subplots(figsize=(7, 4.2), layout="constrained")
for method, colour in zip(
    ("sgd", "mini-sgd", "as-sgd", "hr-sgd", "ha-sgd"), CLASS_COLORS, strict=False
):
    metric = calipers.TripletSGD.paper(method, n_triplets=30_000, random_state=0)
    metric.fit(X_train, y_train)
    error = knn_error(metric.transform(X_train), y_train, metric.transform(X_test), y_test)
    print(f"{method:9}{metric.n_updates_:9,}{metric.n_projections_:13,}{100 * error:14.2f}")
    panel.plot(metric.triplet_curve_, metric.loss_curve_, color=colour, label=method)
panel.set_yscale("log")
panel.set_xlabel("triplets seen")
panel.set_ylabel("mean loss")
panel.legend(frameon=False)
panel.spines[["top", "right"]].set_visible(False)
