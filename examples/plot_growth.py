"""
What grows with the data
========================

More samples need more triplets, though not in proportion, and a longer search for neighbours. Here
are the number of triplets that is taken by default, and the seconds of the two parts of a fit.
"""

import matplotlib.pyplot as plt
import numpy as np

from calipers import TripletSGD, recipes
from calipers.plan import plan_for_labels

# %%
# The plan of a fit is a function of the numbers of samples and features. It grows smoothly, up to a
# bound that falls with the number of features.
samples = np.geomspace(30, 1_000_000, 200).astype(int)
figure, panel = plt.subplots(figsize=(7, 4.2), layout="constrained")
for d in (5, 20, 100, 500):
    plans = [plan_for_labels((int(n), d), recipes.all_pairs_sgd(), TripletSGD()) for n in samples]
    panel.plot(samples, [plan.n_triplets or 0 for plan in plans], label=f"{d} features")
panel.set(xscale="log", yscale="log", xlabel="samples", ylabel="triplets by default")
panel.legend(frameon=False)
panel.spines[["top", "right"]].set_visible(False)

# %%
# A fit mines triplets, for which it searches neighbours of anchors among all samples, and then
# solves. Both are measured on 20 features.
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
