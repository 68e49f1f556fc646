"""Samples on a Dask cluster.

Learners recognise Dask collections by themselves: ``TripletSGD().fit(dask_X, dask_y)``.

=========== ==============================================================
module      what it does
=========== ==============================================================
collections dask arrays, dataframes and delayed parts become partitions
cluster     a client, tasks with names, and waits that end
partitions  what is done with one partition, in NumPy alone
samples     samples on a cluster: the questions that a fit asks of them
=========== ==============================================================
"""

from calipers.data.dask.collections import is_collection, transform_lazily

__all__ = ["is_collection", "transform_lazily"]
