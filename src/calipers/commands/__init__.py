"""Commands, a module each.

- `style`: what all commands share: kinds of arguments, consoles, JSON;
- `stopping`: how a command ends when it is told to;
- `learners`: metric learners by name, and how a command fits one;
- `fit`, `transform`, `evaluate`, `inspect`: for one's own data;
- `paper`: the paper's experiments.

A module has ``add(commands)``, which is light: what is heavy is imported by the run.
"""
