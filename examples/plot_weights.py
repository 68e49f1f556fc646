"""
What the metric weighs
======================

A metric is a matrix, and a matrix of thirteen rows says nothing to the eye. Three pictures do. All
of them measure a feature by its standard deviation in training, which every fitted metric keeps as
`feature_scale_`: a weight on proline, in milligrams, is then comparable with one on alcohol, in
per cent.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine

import calipers
from calipers.plot import feature_directions, feature_importances, feature_interactions

X, y = load_wine(return_X_y=True, as_frame=True)
metric = calipers.MetricCV(random_state=0).fit(X, y)
print(metric.reason_)

# %%
# **Which features?** Each bar is the share of a feature in squared distances. Before learning, the
# feature with the largest unit has all of it; after, those that tell the classes apart.
figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4.8), layout="constrained")
feature_importances(calipers.Euclidean().fit(X), axes=left)
feature_importances(metric, axes=right)
left.set_title("Raw features", loc="left", fontweight="bold")
right.set_title("Learned distance", loc="left", fontweight="bold")

# %%
# A small share does not mean that a feature is useless. Of two features that say the same thing,
# a metric may use either.
#
# **Which features work together?** On the diagonal is the weight of a feature alone. Blue beside
# it: a difference in both features, in the same sense, counts for more than each alone. Red: it
# counts for less, because the two usually rise together in all classes.
figure, panel = plt.subplots(figsize=(8, 6.5), layout="constrained")
feature_interactions(metric, top=10, axes=panel)

# %%
# **In which directions does it see?** Each colour is one direction. Bars of the same sign work
# together, bars of opposite signs against each other; the legend says how much of all weight a
# direction has. Where two directions have it all, a map of two dimensions
# (`MetricCV(n_components=2)`) loses nothing.
figure, panel = plt.subplots(figsize=(9, 5), layout="constrained")
feature_directions(metric, axes=panel)

# %%
# The same without Python: `calipers inspect metric.safetensors` prints the shares, and
# `calipers evaluate table.csv --label COLUMN --html page.html` has them on its page.
