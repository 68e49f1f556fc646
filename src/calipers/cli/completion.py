"""``calipers completion``: what a shell needs to complete commands and options."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from calipers.cli.options import Commands

_BASH = """\
_calipers() {{
  local current="${{COMP_WORDS[COMP_CWORD]}}" words="{commands}"
  case "${{COMP_WORDS[1]}}" in
{cases}
  esac
  if [[ "$COMP_CWORD" == 1 ]]; then words="{commands}"; fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  if [[ "$current" != -* && "$COMP_CWORD" -gt 1 ]]; then COMPREPLY=($(compgen -f -- "$current")); fi
}}
complete -o filenames -F _calipers calipers
"""


def add(commands: Commands) -> None:
    """Register the command."""
    completion = commands.add_parser(
        "completion",
        help="a script that lets your shell complete commands and options",
        description='Print a script for your shell. bash: eval "$(calipers completion bash)" in '
        "~/.bashrc; zsh: the same with zsh in ~/.zshrc; fish: calipers completion fish > "
        "~/.config/fish/completions/calipers.fish.",
    )
    completion.add_argument("shell", choices=("bash", "zsh", "fish"), help="your shell")
    completion.set_defaults(run=lambda options: run(options, commands))


def run(options: argparse.Namespace, commands: Commands) -> int:
    """Print the script."""
    words = {
        name: sorted(word for action in parser._actions for word in action.option_strings)
        for name, parser in commands.choices.items()
    }
    script = _fish(words) if options.shell == "fish" else _bash(words, zsh=options.shell == "zsh")
    sys.stdout.write(script)
    return 0


def _bash(words: dict[str, list[str]], *, zsh: bool) -> str:
    cases = "\n".join(f'    {name}) words="{" ".join(own)}" ;;' for name, own in words.items())
    script = _BASH.format(commands=" ".join(words), cases=cases)
    return f"autoload -U +X bashcompinit && bashcompinit\n{script}" if zsh else script


def _fish(words: dict[str, list[str]]) -> str:
    lines = [f"complete -c calipers -n __fish_use_subcommand -f -a '{' '.join(words)}'"]
    for name, own in words.items():
        long = [word.removeprefix("--") for word in own if word.startswith("--")]
        seen = f"'__fish_seen_subcommand_from {name}'"
        lines += [f"complete -c calipers -n {seen} -l {word}" for word in long]
    return "\n".join(lines) + "\n"
