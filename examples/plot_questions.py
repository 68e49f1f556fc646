"""
Questions and answers: search learned from pairs
================================================

You have embeddings of questions and of answers, and a search log that says which answer belongs to
which question. :class:`calipers.QueryAdapter` learns a matrix for the questions. The index of
answers stays as it is.
"""

import matplotlib.pyplot as plt
import numpy as np
import numpy.typing as npt

import calipers
from calipers.evaluation import retrieval_scores

# %%
# The embeddings are made up: 64 dimensions, scaled to length 1. Questions and answers share a topic
# of 8 dimensions; another 24 stand for style, length and whatever else a search should not see.
rng = np.random.default_rng(0)
n, d = 1200, 64
topics = rng.normal(size=(n, 8)) @ rng.normal(size=(8, d))


def embedded(about: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Samples about topics, with much else in them."""
    samples = about + rng.normal(size=(n, 24)) @ rng.normal(size=(24, d))
    return np.asarray(samples / np.linalg.norm(samples, axis=1, keepdims=True))


questions, answers = embedded(topics), embedded(topics)

# %%
# Learn from 600 pairs. The first line of the report is the verdict. Its tables compare scores
# before and after on held-out questions, about answers with clicks and without. `side="both"` maps
# the answers too, so it needs a new index.
half = n // 2
pairs = np.column_stack([np.arange(half), np.arange(half)])
adapter, both = (
    calipers.QueryAdapter(side, random_state=0).fit(questions[:half], answers[:half], pairs)
    for side in ("query", "both")
)
print(adapter.report_)

# %%
# Search with the other 600 questions among all 1,200 answers. How many find theirs among the first
# k?
relevant = np.column_stack([np.arange(half), np.arange(half, n)])
ways = {
    "cosine": (questions, answers),
    "questions mapped": (adapter.transform(questions), answers),
    "both mapped": (both.transform(questions), both.transform_documents(answers)),
}
figure, panel = plt.subplots(figsize=(7, 4.2), layout="constrained")
ks = (1, 2, 3, 5, 10, 20, 50)
for name, (queries, documents) in ways.items():
    found = [retrieval_scores(documents, queries[half:], pairs=relevant, k=k) for k in ks]
    recall = [100 * scores.recall_at_k for scores in found]
    panel.plot(ks, recall, marker="o", label=name)
    print(f"{name:22} recall@1 {recall[0]:.1f} %, recall@10 {recall[4]:.1f} %")
panel.set_xscale("log")
panel.set_xticks(ks, [str(k) for k in ks])
panel.set_xlabel("k")
panel.set_ylabel("answers found among the first k, per cent")
panel.set_ylim(0, 102)
panel.legend(frameon=False)
panel.spines[["top", "right"]].set_visible(False)

# %%
# How many pairs does it take? With few pairs the gain may be chance. The adapter then keeps the
# questions as they are.
counts = (20, 40, 75, 150, 300, 600)
fits = [
    calipers.QueryAdapter(random_state=0).fit(questions[:half], answers[:half], pairs[:count])
    for count in counts
]
found = [
    retrieval_scores(answers, fit.transform(questions[half:]), pairs=relevant, k=10) for fit in fits
]
recall = [100 * scores.recall_at_k for scores in found]
figure, panel = plt.subplots(figsize=(7, 4.2), layout="constrained")
(line,) = panel.plot(counts, recall, zorder=1)
for helps, fill, name in (
    (True, line.get_color(), "a map was taken"),
    (False, "white", "no map: questions stay as they are"),
):
    points = [(n, r) for n, r, fit in zip(counts, recall, fits, strict=True) if fit.helps_ == helps]
    panel.scatter(*zip(*points, strict=True), color=fill, edgecolor=line.get_color(), label=name)
panel.set_xscale("log")
panel.set_xticks(counts, [str(count) for count in counts])
panel.minorticks_off()
panel.set_xlabel("pairs learned from")
panel.set_ylabel("answers found among the first 10, per cent")
panel.set_ylim(0, 102)
panel.legend(frameon=False)
panel.spines[["top", "right"]].set_visible(False)
