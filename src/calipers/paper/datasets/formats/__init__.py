"""The formats in which data sets are published, from the outside in.

- `lzw`: what the old Unix program ``compress`` wrote (.Z);
- `unpack`: the plain content of a file, whatever it is packed in;
- `lines`: where in a text something is wrong;
- `uci`: the texts of the UCI repository;
- `libsvm`: the sparse texts of the LIBSVM site;
- `matlab`: document counts in a MATLAB file.
"""
