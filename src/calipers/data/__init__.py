"""Samples and where they come from.

======== ==================================================================
module   what it holds
======== ==================================================================
samples  the protocol of labelled samples, and samples in memory
disk     samples in a memory-mapped file
tables   files of tables: CSV, .xlsx, JSON lines, Parquet, NPY, NPZ, LIBSVM
encoding columns of a table as features
datasets the paper's data sets and the embedded ones
======== ==================================================================

:class:`calipers.data.dask.samples.ClusterSamples` are samples on a Dask cluster.
"""
