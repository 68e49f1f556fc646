"""Search with embeddings: maps for the query side of an index that stays as it is.

Map of this package, in reading order:

- `query_map`: a learned map as it serves, by NumPy only: its matrices, its file, its exports;
- `relevance`: which documents answer which query, as users give it;
- `ranking`: documents ranked by cosine, scores, hard negatives;
- `learning`: what an adapter learns from, its loss, and its maps;
- `holdouts`: what a map is worth on queries that it has not learned from;
- `report`: before and after, as text, dictionary and HTML;
- `adapter`: a map of queries, learned from clicks;
- `bridge`: queries of a new embedding model, answered by the index of an old one.

Importing the package loads none of them: a server that reads a map needs NumPy and safetensors.
"""
