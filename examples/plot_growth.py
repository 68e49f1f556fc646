"""
What grows with the data
========================

With more samples a default fit draws more triplets, though not in proportion, and searches longer
for neighbours. The pictures show the number of triplets, and the seconds of the two parts of a fit.
"""

import matplotlib.pyplot as plt
import numpy as np

from calipers import TripletSGD, recipes
from calipers.solvers.plan import plan_for_labels

# %%
# The number of triplets is a function of the numbers of samples and features. It grows as the root
# of the number of samples, up to a bound that falls with the number of features.
samples = np.geomspace(30, 1_000_000, 200).astype(int)
figure, panel = plt.subplots(figsize=(7, 4.2), layout="constrained")
for d in (5, 20, 100, 500):
    plans = [plan_for_labels((int(n), d), recipes.all_pairs_sgd(), TripletSGD()) for n in samples]
    panel.plot(samples, [plan.n_triplets or 0 for plan in plans], label=f"{d} features")
panel.set(xscale="log", yscale="log", xlabel="samples", ylabel="triplets by default")
panel.set_xticks((100, 1_000, 10_000, 100_000, 1_000_000))
panel.set_yticks((20_000, 50_000, 100_000, 200_000, 500_000))
panel.minorticks_off()
for axis in (panel.xaxis, panel.yaxis):
    axis.set_major_formatter("{x:,.0f}")
panel.legend(frameon=False)
panel.spines[["top", "right"]].set_visible(False)

# %%
# A fit first mines: it searches the neighbours of anchors among all samples. Then it solves. Here
# are the seconds of both, for 20 features, on the machine that made this page.
sizes = (1_000, 4_000, 16_000, 64_000)
rng = np.random.default_rng(0)
X = rng.normal(size=(sizes[-1], 20))
y = X[:, 0] * X[:, 1] > 0
fits = [TripletSGD(init="scaled", random_state=0).fit(X[:n], y[:n]) for n in sizes]
figure, panel = plt.subplots(figsize=(7, 4.2), layout="constrained")
panel.plot(sizes, [fit.mining_seconds_ for fit in fits], marker="o", label="mining")
panel.plot(sizes, [fit.solve_seconds_ for fit in fits], marker="o", label="solving")
panel.set(xscale="log", yscale="log", xlabel="samples", ylabel="seconds")
panel.set_xticks(sizes, [f"{n:,}" for n in sizes])
panel.minorticks_off()
panel.legend(frameon=False)
panel.spines[["top", "right"]].set_visible(False)
