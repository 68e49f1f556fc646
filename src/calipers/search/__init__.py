"""Search with embeddings: maps for the query side of an index that stays as it is.

Map of this package, in reading order:

- `query_map`: a learned map as it serves: matrices, a file, NumPy only;
- `vectors`, `relevance`: embeddings and pairs as users give them;
- `ranking`: exact ranks of relevant documents, their scores, hard negatives;
- `learning`, `mining`: the loss of an adapter, and the examples that it is learned from;
- `reduction`: fewer dimensions on both sides;
- `holdouts`, `crossvalidation`: what a map is worth on queries that it has not learned from;
- `report`, `page`: before and after, as text, dictionary and HTML;
- `adapter`: a map of queries, learned from clicks;
- `nearest`: the documents of highest cosine, by one pass;
- `bridge_maps`: maps between the vectors of two models, in closed form;
- `bridge_report`: the share of recall that a bridge keeps;
- `bridge`: queries of a new embedding model, answered by the index of an old one;
- `handover`: the same maps in other programs, models and stores.

Importing the package loads none of them: a server that reads a map needs NumPy and safetensors.

Also here: `loading`.
"""
