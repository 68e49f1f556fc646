"""The paper's experiments, ours beside the paper's numbers.

Map of this package, in reading order:

=========== ===================================================================
module      what it holds
=========== ===================================================================
published   the paper's tables, as plain data
progress    a progress bar that a fit moves forward
systems     the systems of the paper's tables, with its settings
fingerprint updates and errors of three of them beside the paper's
runs        rows on disk, and what must be equal for rows to share a table
forms       the form of a row, checked before a report is made
training    the loss of training triplets along a run (Figure 1)
measure     one run
costs       about how long a run takes
paper       all runs
summary     rows as the cells of the paper's tables
remarks     rows as sentences
report      a page, Markdown and figures made from rows
tables      rows as tables on the terminal
theory      the paper's two theorems, evaluated for a fit
=========== ===================================================================

A row is the JSON record of one run.

Also here: `datasets`, `protocol`.
"""
