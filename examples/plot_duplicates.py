"""
Records of the same person
==========================

The script makes 1,000 records of 500 persons. The second record of each has typing errors, and
fields that are missing or swapped. Which pairs are duplicates?
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import average_precision_score, precision_recall_curve
from sklearn.neighbors import NearestNeighbors

import calipers

rng = np.random.default_rng(0)
starts, ends = (
    ["Mar", "Jo", "Al", "Ben", "Car", "Da", "El", "Fin", "Ha", "Il"],
    ["ia", "han", "ice", "na", "el", "tha", "os", "in", "ra", "us"],
)
fields = ["given_name", "surname", "street", "town", "postcode", "born"]


def word() -> str:
    """A made-up name of two or three syllables."""
    return str(rng.choice(starts)) + "".join(rng.choice(ends, size=rng.integers(1, 3)))


def typed_again(text: str) -> str:
    """The same text with a letter wrong, missing or doubled, in a third of the cases."""
    if rng.random() < 2 / 3:
        return text
    at = rng.integers(len(text))
    return text[:at] + str(rng.choice(["", "e", 2 * text[at]])) + text[at + 1 :]


first = [
    [
        word(),
        word(),
        f"{word()} {rng.integers(1, 99)}",
        word(),
        str(rng.integers(10_000, 100_000)),
        f"19{rng.integers(30, 99)}{rng.integers(101, 131)}{rng.integers(10, 29)}",
    ]
    for _ in range(500)
]
second = [[typed_again(cell) if rng.random() < 0.9 else "" for cell in record] for record in first]
for record in second[::9]:  # given name and surname swapped
    record[:2] = record[1::-1]
records = pd.DataFrame(first + second, columns=fields)
person = np.tile(np.arange(500), 2)

# %%
# Each field becomes 12 numbers, by the sequences of two and three letters in it.
letters = TfidfVectorizer(analyzer="char", ngram_range=(2, 3))
X = np.hstack(
    [
        TruncatedSVD(12, random_state=0).fit_transform(letters.fit_transform(records[field]))
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
