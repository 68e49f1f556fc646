"""
Questions and answers: search learned from pairs
================================================

Embeddings of questions and of answers, and a list of which answer belongs to which question,
as a search log gives it. There are no labels and nobody has listed wrong answers:
:func:`calipers.triplets.from_positives` takes the nearest answers that are not the right one.
"""

import matplotlib.pyplot as plt
import numpy as np
import numpy.typing as npt

import calipers
from calipers.evaluation import recall_at_k
from calipers.triplets import from_positives

# %%
# The embeddings are made up: 64 dimensions of length 1, of which few are about the topic and
# the others about style, length and other things that a search should not look at.
rng = np.random.default_rng(0)
n, d = 1200, 64
topics = rng.normal(size=(n, 8)) @ rng.normal(size=(8, d))


def embedded(about: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Samples about topics, with much else in them."""
    samples = about + rng.normal(size=(n, 24)) @ rng.normal(size=(24, d))
    return np.asarray(samples / np.linalg.norm(samples, axis=1, keepdims=True))


questions, answers = embedded(topics), embedded(topics)

# %%
# Learn from 600 pairs; the other 600 questions are searched for among all answers. Both tables
# are stacked, so that pairs are indices of one X, and only answers may be negatives.
half = n // 2
X = np.vstack([questions[:half], answers[:half]])
pairs = np.column_stack([np.arange(half), np.arange(half, n)])
triplets = from_positives(X, pairs, documents=np.arange(half, n), random_state=0)
metric = calipers.TripletSGD(random_state=0).fit_triplets(X, triplets)
print(f"{len(pairs)} pairs, {len(triplets):,} triplets, {metric.n_updates_} updates")

# %%
# How many questions find their answer among the first k?
relevant = np.column_stack([np.arange(half), np.arange(half, n)])
ways = {
    "cosine": (questions, answers),
    "learned": (metric.transform(questions), metric.transform(answers)),
    "learned, 8 dimensions": tuple(
        samples @ metric.components_[:8].T for samples in (questions, answers)
    ),
}
figure, panel = plt.subplots(figsize=(7, 4.2), layout="constrained")
ks = (1, 2, 3, 5, 10, 20, 50)
for name, (queries, documents) in ways.items():
    recall = [100 * recall_at_k(documents, queries[half:], pairs=relevant, k=k) for k in ks]
    panel.plot(ks, recall, marker="o", label=name)
    print(f"{name:22} recall@1 {recall[0]:.1f} %, recall@10 {recall[4]:.1f} %")
panel.set_xscale("log")
panel.set_xticks(ks, [str(k) for k in ks])
panel.set_xlabel("k")
panel.set_ylabel("answers found among the first k, per cent")
panel.set_ylim(0, 102)
panel.legend(frameon=False)
panel.spines[["top", "right"]].set_visible(False)
