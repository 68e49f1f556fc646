"""How columns of a table become features: numbers, categories, booleans and dates.

Map of this package, in reading order:

- `texts`: booleans and dates as people write them;
- `kinds`: what a column holds, and whether it is left out;
- `codes`: its cells as numbers;
- `table_encoder`: the transformer, made of scikit-learn's parts, and its JSON.
"""

from calipers.data.encoder.table_encoder import TableEncoder

__all__ = ["TableEncoder"]
