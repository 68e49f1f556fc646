"""The paper's experiments, ours beside the paper's numbers.

Map of this package, in reading order:

=========== ===================================================================
module      what it holds
=========== ===================================================================
published   the numbers of the paper's Tables 1 to 4
downloads   files of data sets: in a folder, downloaded before, or from their homes
datasets    data sets by name, cut into a training and a test part
protocol    learn on the training part, score 3-NN on the test part
theory      the paper's two theorems, evaluated for a fit
systems     the systems that the paper compares, with its settings
runs        what is to be done, one run, and its row in a file
tables      rows as the paper's tables, ours beside the paper's
figures     Figure 1 and the parameter study
check       updates and errors held to the paper's
report      one HTML page of all this
=========== ===================================================================

A row is the JSON record of one run.
"""
