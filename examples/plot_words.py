"""
The words in one picture
========================

A :term:`triplet` has an :term:`anchor`, a :term:`positive` of its class and a :term:`negative` of
another one. Samples on a dashed line are all at the same distance from the anchor: a circle for the
Euclidean distance, an ellipse for a learned one. A sample of another class that is nearer than the
positive is an :term:`impostor`.
"""

import matplotlib.pyplot as plt
import numpy as np

import calipers

# %%
# Two classes that the first feature tells apart, while the second only adds noise.
rng = np.random.default_rng(0)
y = np.repeat([0, 1], 40)
X = rng.normal(size=(80, 2)) * [0.5, 2.0] + np.where(y == 0, -1.0, 1.0)[:, None] * [1.0, 0.0]
learned = calipers.TripletSGD(random_state=0).fit(X, y)
euclidean = calipers.Euclidean().fit(X, y)

anchor = np.argmin(np.linalg.norm(X[:40] - [-0.6, 0.0], axis=1))
positive = np.argmin(np.linalg.norm(X[:40] - [-0.8, 2.7], axis=1))
negative = 40 + np.argmin(np.linalg.norm(X[40:] - [0.8, -0.6], axis=1))

# %%
# Under the Euclidean distance the negative is an impostor: it is nearer to the anchor than the
# positive. Under the learned one it is beyond the positive by the :term:`margin`.
angle = np.linspace(0.0, 2.0 * np.pi, 200)
circle = np.stack([np.cos(angle), np.sin(angle)])
figure, both = plt.subplots(1, 2, figsize=(11, 5.2), sharey=True, layout="constrained")
for axes, metric, name in zip(
    both, (euclidean, learned), ("Euclidean distance", "learned distance"), strict=True
):
    M = metric.get_mahalanobis_matrix()
    near, far = X[positive] - X[anchor], X[negative] - X[anchor]
    shape = np.linalg.inv(np.linalg.cholesky(M)).T @ circle  # v'Mv = 1 on this line
    margin = far @ M @ far - near @ M @ near
    axes.scatter(*X.T, c=np.where(y == 0, "tab:blue", "tab:orange"), s=18, alpha=0.5)
    axes.plot(*(X[anchor][:, None] + np.sqrt(near @ M @ near) * shape), "k--", lw=1)
    for difference, text, place in (
        (near, "near difference", (6, 5)),
        (far, "far difference", (-52, -16)),
    ):
        axes.annotate("", X[anchor] + difference, X[anchor], arrowprops={"arrowstyle": "->"})
        middle = X[anchor] + 0.5 * difference
        axes.annotate(text, middle, place, textcoords="offset points")
    for index, text in ((anchor, "anchor"), (positive, "positive"), (negative, "negative")):
        axes.scatter(*X[index], c="tab:orange" if y[index] else "tab:blue", s=90, ec="k", zorder=3)
        axes.annotate(text, X[index], (8, 7), textcoords="offset points", weight="bold")
    verdict = "an impostor" if margin < 0.0 else "no impostor"
    axes.set_title(f"{name}: margin {margin:+.1f}, the negative is {verdict}")
    axes.set(xlabel="first feature", aspect="equal", xlim=(-4.5, 4.5), ylim=(-4.5, 4.5))
both[0].set_ylabel("second feature")
