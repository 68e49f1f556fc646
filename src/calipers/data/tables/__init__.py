"""A user's own data from a file: rows, names of columns and labels.

Map of this package, in reading order:

- `numbers`: numbers and labels in a text;
- `columns`: a column as numbers or objects, and named columns;
- `names`: columns by name or position;
- `options`: what is said about a file before it is read;
- `table`: columns as they were read, and how rows and labels are chosen among them;
- `packed`: the plain content of a packed file;
- `header`: where a table begins, and whether its first row names the columns;
- `sheets`: .xlsx, by openpyxl, and lines of JSON;
- `making`, `text`: CSV and TSV, with the standard library alone;
- `arrays`: NPY and NPZ;
- `decoding`, `columnar`: Parquet, by pyarrow;
- `streamed`: large Parquet files, batch by batch;
- `sparse`: LIBSVM (svmlight) texts;
- `read`: which of them a file is;
- `written`: mapped rows as CSV, TSV, .xlsx, NPY, NPZ or Parquet.
"""

from calipers.data.tables.options import ReadOptions
from calipers.data.tables.read import FORMATS, read
from calipers.data.tables.table import Column, Table
from calipers.data.tables.written import check_output, write

__all__ = ["FORMATS", "Column", "ReadOptions", "Table", "check_output", "read", "write"]
