"""The same learners for rows on a Dask cluster (``pip install 'calipers[dask]'``).

Map of this package, in reading order:

- `partitions`: what is done with one partition, in NumPy alone;
- `cluster`: a client, tasks with names, and waits that end;
- `collections`: dask arrays, dataframes and delayed parts become partitions;
- `rows`: the questions that a fit asks of its rows, answered by the cluster;
- `estimators`: the learners; the fit is that of :mod:`calipers.estimators`;
- `approximate`: the same with a faiss index of each partition;
- `averaged`: one metric a partition, and their mean.

>>> from calipers.dask import DaskTripletSGD
>>> DaskTripletSGD(n_triplets=1000)
DaskTripletSGD(n_triplets=1000)
"""

from calipers.dask.approximate import ApproximateTripletSGD
from calipers.dask.averaged import AveragedTripletSGD
from calipers.dask.estimators import DaskITML, DaskLEGO, DaskOASIS, DaskSPML, DaskTripletSGD

__all__ = [
    "ApproximateTripletSGD",
    "AveragedTripletSGD",
    "DaskITML",
    "DaskLEGO",
    "DaskOASIS",
    "DaskSPML",
    "DaskTripletSGD",
]
