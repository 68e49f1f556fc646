"""
Intents: which queries to answer, and which to pass on
======================================================

A new query gets the label of its nearest examples. Some queries belong to no label. To catch them,
reject a query whose nearest example is too far away. How many of them are caught, and how many good
queries are rejected with them?
"""

import matplotlib.pyplot as plt
import numpy as np
import numpy.typing as npt
from sklearn.preprocessing import normalize

import calipers
from calipers.evaluation import rejection_scores

# %%
# The embeddings are made up: 32 dimensions, scaled to length 1, in which the style of a text counts
# beside its intent. Twelve intents have examples; queries come from these and from twelve others.
rng = np.random.default_rng(0)
intents, others, styles = (rng.normal(size=(n, 32)) for n in (12, 12, 8))


def embedded(topics: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Samples about topics, in a style of their own."""
    style = rng.normal(size=(len(topics), 8)) @ styles
    return np.asarray(normalize(topics + style + 0.3 * rng.normal(size=topics.shape)))


y, y_new = np.repeat(np.arange(12), 20), np.repeat(np.arange(12), 10)
X, X_new, outside = embedded(intents[y]), embedded(intents[y_new]), embedded(others[y_new])

# %%
# Learn from the examples, then score queries that were not learned from, before and after.
metric = calipers.MetricCV(random_state=0).fit(X, y)
print(metric.reason_)
rates = np.linspace(0, 0.4, 41)
figure, panel = plt.subplots(figsize=(7, 4.2), layout="constrained")
for name, mapped in (("learned", metric.transform), ("as embedded", lambda samples: samples)):
    scores = rejection_scores(
        mapped(X), y, mapped(X_new), y_new, mapped(outside), rates=rates.tolist()
    )
    panel.plot(100 * rates, 100 * scores.outside_rejected, label=name)
    print(
        f"{name:12} 5 % of the good queries rejected: {100 * scores.outside_rejected[5]:.0f} % of "
        f"the others rejected, {100 * scores.accuracy[5]:.0f} % of the accepted answered rightly"
    )
panel.set_xlabel("queries with a label that are rejected, per cent")
panel.set_ylabel("queries out of scope that are rejected, per cent")
panel.set_ylim(0, 102)
panel.legend(frameon=False, loc=(0.7, 0.7))
panel.spines[["top", "right"]].set_visible(False)
