"""``ilfs completion``: print a script that completes commands, options and their choices in a shell.

The script is made from the parser, so it never lacks an option. It needs no package and does not start Python.
"""

import argparse
from typing import Any

from ilfs.cli.parser import Parser, options_of, subcommands

EXAMPLES = """examples:
  ilfs completion bash > ~/.local/share/bash-completion/completions/ilfs
  ilfs completion zsh > "${fpath[1]}/_ilfs"
  eval "$(ilfs completion bash)"
"""
METHOD_OPTIONS = ("--method", "--methods")  # completed by the names of the methods

BASH = """# bash completion for ilfs, made by: ilfs completion bash
_ilfs() {{
    local word=${{COMP_WORDS[COMP_CWORD]}} path=ilfs option= i
    COMPREPLY=()
    for ((i = 1; i < COMP_CWORD; i++)); do
        case "$path ${{COMP_WORDS[i]}}" in
            {paths}) path="$path ${{COMP_WORDS[i]}}" ;;
        esac
        case ${{COMP_WORDS[i]}} in -*) option=${{COMP_WORDS[i]}} ;; esac
    done
    case $word in
        -*) case $path in
{options}
            esac
            return ;;
    esac
    case "$path $option" in
{choices}
    esac
    case $path in
{commands}
    esac
}}
complete -o default -o bashdefault -F _ilfs ilfs
"""
ZSH = """#compdef ilfs
# zsh completion for ilfs, made by: ilfs completion zsh
autoload -U +X bashcompinit && bashcompinit
{bash}
_bash_complete -o default -o bashdefault -F _ilfs "$@"
"""


def add_to(commands: Any) -> None:
    """Add ``ilfs completion``."""
    parser = commands.add_parser(
        "completion",
        help="print a script that completes ilfs commands in your shell",
        description="Print a script that completes the commands, options and choices of ilfs in bash or zsh.",
        epilog=EXAMPLES,
    )
    parser.add_argument("shell", choices=("bash", "zsh"), help="the shell")
    parser.set_defaults(function=print_completion)


def print_completion(options: argparse.Namespace) -> int:
    """Print the script."""
    from ilfs.cli.main import command_line

    script = bash_script(command_line())
    print(script if options.shell == "bash" else ZSH.format(bash=script), end="")
    return 0


def bash_script(parser: Parser) -> str:
    """Make the script for bash from the parser.

    Parameters
    ----------
    parser : Parser
        The parser of ``ilfs``.

    Returns
    -------
    str
        A script.
    """
    parsers = paths_of("ilfs", parser)
    return BASH.format(
        paths="|".join(f'"{path}"' for path in parsers if path != "ilfs"),
        options="\n".join(reply(path, option_names(one), 12) for path, one in parsers.items()),
        choices="\n".join(
            reply(f"{path} {option}", words, 8, "; return")
            for path, one in parsers.items()
            for option, words in choices_of(one).items()
        ),
        commands="\n".join(reply(path, words, 8) for path, one in parsers.items() if (words := positional_words(one))),
    )


def paths_of(path: str, parser: Parser) -> dict[str, Parser]:
    """Return the parsers of all commands by the words that lead to them."""
    found = {path: parser}
    for name, one in subcommands(parser).items():
        found |= paths_of(f"{path} {name}", one)
    return found


def reply(case: str, words: list[str], indent: int, end: str = "") -> str:
    """Format a case of the script that offers some words."""
    return f"""{" " * indent}"{case}") COMPREPLY=($(compgen -W '{" ".join(words)}' -- "$word")){end} ;;"""


def option_names(parser: Parser) -> list[str]:
    """Return the long options of a parser; short ones need no completion."""
    return [name for name in options_of(parser) if name.startswith("--")]


def choices_of(parser: Parser) -> dict[str, list[str]]:
    """Return the options of a parser that have choices, with these."""
    found = {}
    for name, action in options_of(parser).items():
        if name in METHOD_OPTIONS:
            from ilfs.registry import list_methods

            found[name] = [method.name for method in list_methods() if not method.wraps_another]
        elif action.choices is not None:
            found[name] = [str(choice) for choice in action.choices]
    return found


def positional_words(parser: Parser) -> list[str]:
    """Return the commands below a parser, or the choices of its arguments."""
    words = list(subcommands(parser))
    for action in parser.actions:
        if not action.option_strings and action.choices is not None and not words:
            words = [str(choice) for choice in action.choices]
    return words
