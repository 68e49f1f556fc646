"""Samples and where they come from.

========= ===========================================================================
module    what it holds
========= ===========================================================================
samples   labelled samples in memory or in a memory-mapped file, and what they answer
cluster   the same on a Dask cluster
neighbors nearest neighbours of the same class and of other classes
triplets  triplets and pairs: drawn from labels, or given by a user
files     files that are complete or absent, and the exception that files raise
encoder   columns of a table as features
frames    files as tables of pandas, or as matrices; which columns are features and labels
tables    features, labels and the rest of a file; images written as a table
========= ===========================================================================
"""
