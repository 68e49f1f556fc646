"""A metric M and its factor L: what every metric can do, where learning starts, and its file.

=========== ==============================================================
module      what it holds
=========== ==============================================================
moments     second moments of samples, in memory, in a file or in a stream
init        initial metrics
coordinates M = L'L, one L for one M; fits in the coordinates of an initial metric
file        safetensors files of metrics, written completely or not at all
exports     the same linear map for onnxruntime and faiss
mahalanobis the methods that every metric has
saved       a metric from a file
=========== ==============================================================
"""
