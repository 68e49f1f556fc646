"""Search with embeddings: maps for the query side of an index that stays as it is.

Map of this package, in reading order:

- `query_map`: a learned map as it serves: matrices, a file, NumPy only.

Importing the package loads none of them: a server that reads a map needs NumPy and safetensors.
"""
