"""
Questions and answers: search learned from pairs
================================================

Embeddings of questions and of answers, and a list of which answer belongs to which question, as a
search log gives it. :class:`calipers.QueryAdapter` learns a matrix for the questions. The index
of answers stays as it is.
"""

import matplotlib.pyplot as plt
import numpy as np
import numpy.typing as npt

import calipers
from calipers.evaluation import recall_at_k

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
# Learn from 600 pairs. The report says what the matrix is worth for questions that it has not
# learned from, about answers with clicks and without; its first line is the verdict.
# `side="both"` maps the answers too, which takes a new index.
half = n // 2
pairs = np.column_stack([np.arange(half), np.arange(half)])
adapter, both = (
    calipers.QueryAdapter(side, random_state=0).fit(questions[:half], answers[:half], pairs)
    for side in ("query", "both")
)
print(adapter.report_)

# %%
# The other 600 questions are searched for among all answers. How many find theirs among the
# first k?
relevant = np.column_stack([np.arange(half), np.arange(half, n)])
ways = {
    "cosine": (questions, answers),
    "questions mapped": (adapter.transform(questions), answers),
    "both mapped": (both.transform(questions), both.transform_documents(answers)),
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

# %%
# How many pairs does it take? With few of them the gain cannot be told from chance: the adapter
# then keeps the questions as they are.
counts = (20, 40, 75, 150, 300, 600)
fits = [
    calipers.QueryAdapter(random_state=0).fit(questions[:half], answers[:half], pairs[:count])
    for count in counts
]
found = [
    100 * recall_at_k(answers, fit.transform(questions[half:]), pairs=relevant, k=10)
    for fit in fits
]
figure, panel = plt.subplots(figsize=(7, 4.2), layout="constrained")
(line,) = panel.plot(counts, found, zorder=1)
for helps, fill, name in (
    (True, line.get_color(), "a map was taken"),
    (False, "white", "no map: questions stay as they are"),
):
    points = [(n, r) for n, r, fit in zip(counts, found, fits, strict=True) if fit.helps_ == helps]
    panel.scatter(*zip(*points, strict=True), color=fill, edgecolor=line.get_color(), label=name)
panel.set_xscale("log")
panel.set_xticks(counts, [str(count) for count in counts])
panel.minorticks_off()
panel.set_xlabel("pairs learned from")
panel.set_ylabel("answers found among the first 10, per cent")
panel.set_ylim(0, 102)
panel.legend(frameon=False)
panel.spines[["top", "right"]].set_visible(False)
