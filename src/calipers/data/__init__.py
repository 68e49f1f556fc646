"""Samples and where they come from.

======== ==================================================================
module   what it holds
======== ==================================================================
samples  the protocol of labelled samples, and samples in memory
disk     samples in a memory-mapped file
tables   files of tables: CSV, .xlsx, JSON lines, Parquet, NPY, NPZ, LIBSVM
encoder  columns of a table as features
======== ==================================================================

:class:`calipers.data.dask.samples.ClusterSamples` are samples on a Dask cluster.

Also here: `memmap`, `neighbors`, `triplets`.
"""
