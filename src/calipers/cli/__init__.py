"""The command line: ``calipers.cli.main:main``.

========================= ==========================================================
module                    what it holds
========================= ==========================================================
options                   options that commands share, and the learner they ask for
output                    consoles, remarks, JSON, progress, pictures
reading                   files that commands read: tables as samples, embeddings, pairs
evaluate, fit,            the commands for one's own data
transform, inspect
adapt                     a map of queries from clicks
demo                      evaluate, on an embedded table
paper                     the experiments of the paper
main                      the parser, and the exit code of every command
========================= ==========================================================

The module of a command has ``add(commands)``, which is light: ``run`` imports what is heavy.
"""
