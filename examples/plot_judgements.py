"""
Learning from judgements
========================

There are no labels, only answers to the question "is a more like b or like c?". A made-up person
compares colours, looks mostly at green and hardly at blue, and is sometimes mistaken. From the
answers alone `fit_triplets` finds the weights.
"""

import matplotlib.pyplot as plt
import numpy as np

import calipers

rng = np.random.default_rng(0)
colours = rng.random((300, 3))
weights = np.array([0.3, 1.0, 0.05])  # of red, green and blue: what we want to find

# %%
# 5,000 questions, answered by the weighted distance and some noise. A triplet (anchor, positive,
# negative) says that the anchor is more like the positive than like the negative.
questions = rng.integers(len(colours), size=(5000, 3))
questions = questions[(questions[:, :1] != questions[:, 1:]).all(axis=1)]
a, b, c = colours[questions].transpose(1, 0, 2)
to_b = ((a - b) ** 2 * weights).sum(axis=1)
to_c = ((a - c) ** 2 * weights).sum(axis=1)
says_c = to_b > to_c + rng.normal(scale=0.05, size=len(questions))
triplets = np.where(says_c[:, None], questions[:, [0, 2, 1]], questions)

metric = calipers.TripletSGD(random_state=0).fit_triplets(colours, triplets)
found = np.diag(metric.get_mahalanobis_matrix())
print("found, with green as 1:", np.round(found / found[1], 2))

# %%
# How many answers does the metric predict, to questions that it has not learned from?
test = rng.integers(len(colours), size=(5000, 3))
a, b, c = colours[test].transpose(1, 0, 2)
truth = ((a - b) ** 2 * weights).sum(axis=1) < ((a - c) ** 2 * weights).sum(axis=1)
learned = metric.pair_distance(np.stack([a, b], 1)) < metric.pair_distance(np.stack([a, c], 1))
plain = ((a - b) ** 2).sum(axis=1) < ((a - c) ** 2).sum(axis=1)
print(f"{100 * (plain == truth).mean():.1f} % of answers predicted by the plain distance")
print(f"{100 * (learned == truth).mean():.1f} % by the learned one")

# %%
# The colours nearest to one of them, by the plain and by the learned distance.
query = colours[7]
by_plain = np.argsort(((colours - query) ** 2).sum(axis=1))[:12]
images = metric.transform(colours)
by_learned = np.argsort(((images - images[7]) ** 2).sum(axis=1))[:12]

figure, panel = plt.subplots(figsize=(8, 2.2), layout="constrained")
panel.imshow(np.stack([colours[by_plain], colours[by_learned]]), aspect="auto")
panel.set_yticks([0, 1], ["plain", "learned"])
panel.set_xticks(range(12), ["itself", *map(str, range(1, 12))])
panel.set_xlabel("nearest colours")
