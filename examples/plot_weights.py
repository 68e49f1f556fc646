"""
What the metric weighs
======================

A metric is a matrix. Two pictures show which features it weighs. Both measure a feature by
its standard deviation in training, which every fitted metric keeps as `feature_scale_`. So a weight
on proline, in milligrams, can be compared with one on alcohol, in per cent.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine

import calipers
from calipers.plot import feature_importances, feature_interactions

X, y = load_wine(return_X_y=True, as_frame=True)
metric = calipers.MetricCV(random_state=0).fit(X, y)
print(metric.reason_)

# %%
# **Which features?** Each bar is the share of a feature in squared distances. With raw features,
# proline has nearly all of it, because its numbers are the largest. The learned distance spreads it
# over the features that tell the classes apart.
figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4.8), layout="constrained")
feature_importances(calipers.Euclidean().fit(X), axes=left)
feature_importances(metric, axes=right)
left.set_title("Raw features", loc="left", fontweight="bold")
right.set_title("Learned distance", loc="left", fontweight="bold")

# %%
# A small share does not mean that a feature is useless. Of two features that say the same thing,
# a metric may use either.
#
# **Which features work together?** The diagonal has the weight of each feature alone. A blue cell
# off the diagonal says: if two samples differ in both features in the same direction, the distance
# is larger than the two weights alone make it. Red: it is smaller.
figure, panel = plt.subplots(figsize=(8, 6.5), layout="constrained")
# sphinx_gallery_thumbnail_number = 2
feature_interactions(metric, top=10, axes=panel)

# %%
# Without Python: `calipers inspect metric.safetensors` prints the shares, and
# `calipers evaluate table.csv --label COLUMN --html page.html` writes them to a page.
