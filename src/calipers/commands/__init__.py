"""The commands for one's own data, a module each.

- `style`: what all commands share: kinds of arguments, consoles, JSON;
- `stopping`: how a command ends when it is told to;
- `learners`: metric learners by name, and how a command fits one;
- `fit`, `transform`, `evaluate`, `inspect`: the commands.

A module has ``add(commands)``, which is light: what is heavy is imported by the run.
"""
