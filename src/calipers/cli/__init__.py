"""The command line: ``calipers.cli.main:main``.

========================= ==========================================================
module                    what it holds
========================= ==========================================================
options                   options that commands share, and types of arguments
output                    consoles, remarks, JSON, pictures
stopping                  how a command ends on Ctrl-C and SIGTERM
learners                  metric learners by name, and how a command fits one
encoded                   a table as samples: read, encoded, split into folds
verdict, verdict_page     what held-out samples say about distances; the same as a page
fit, transform,           the commands for one's own data
evaluate, inspect
adapt, embeddings         a map of queries from clicks, and the files that it reads
demo                      what a learned distance is worth, on embedded data
fingerprint, paper        the commands about the paper
completion                scripts by which shells complete commands and options
main                      the parser, and the exit code of every command
========================= ==========================================================

The module of a command has ``add(commands)``, which is light: ``run`` imports what is heavy.
"""
