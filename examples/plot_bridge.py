"""
A bridge between two models: how many texts it takes
====================================================

An index holds documents that an old model embedded; queries come from a new one.
:class:`calipers.Bridge` learns from texts that both models embedded how to search the old index
with new queries. How many of the old model's results does it keep?
"""

import matplotlib.pyplot as plt
import numpy as np

import calipers
from calipers.evaluation import nearest_samples

# %%
# Two made-up models of 48 and 64 dimensions embed the same meaning in different ways.
rng = np.random.default_rng(0)
meaning = rng.normal(size=(40, 32))[rng.integers(40, size=4500)] + rng.normal(size=(4500, 32))
old = np.tanh(meaning @ rng.normal(size=(32, 48)) / 20)
new = np.tanh(meaning @ rng.normal(size=(32, 64)) / 20)
old /= np.linalg.norm(old, axis=1, keepdims=True)

# %%
# 2,000 texts are the index, and 500 others are the queries. Of the 10 documents that the old model
# finds for a query, how many does the new one find through the bridge?
index, queries = slice(0, 2000), slice(2000, 2500)
wanted = nearest_samples(old[index], old[queries], n_neighbors=10)
methods = ("ridge", "procrustes")
counts = (50, 100, 200, 500, 1000, 2000)
figure, panel = plt.subplots(figsize=(7, 4.2), layout="constrained")
for method in methods:
    kept = []
    for count in counts:
        texts = slice(2500, 2500 + count)
        bridge = calipers.Bridge(method, random_state=0).fit(new[texts], old[texts])
        found = nearest_samples(old[index], bridge.transform(new[queries]), n_neighbors=10)
        both = [len({*a} & {*b}) for a, b in zip(wanted.tolist(), found.tolist(), strict=True)]
        kept.append(10 * float(np.mean(both)))
    panel.plot(counts, kept, marker="o", label=method)
    print(f"{method:12}" + "".join(f"{share:7.1f}" for share in kept))
panel.set_xscale("log")
panel.set_xticks(counts, [f"{count:,}" for count in counts])
panel.minorticks_off()
panel.set_xlabel("texts embedded by both models")
panel.set_ylabel("old model's first 10 found, per cent")
panel.set_ylim(0, 102)
panel.legend(frameon=False, loc="lower right")
panel.spines[["top", "right"]].set_visible(False)
