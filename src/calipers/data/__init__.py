"""Samples and where they come from.

======== ==================================================================
module   what it holds
======== ==================================================================
samples  the protocol of labelled samples, and samples in memory
disk     samples in a memory-mapped file
tables   files of tables: CSV, Parquet, NPY, NPZ, LIBSVM
datasets the paper's data sets and the embedded ones
======== ==================================================================

:class:`calipers.dask.samples.ClusterSamples` are samples on a Dask cluster.
"""
