"""Every command: reads what is asked for, runs it, says what went wrong."""

import argparse
import errno
import io
import os
import sys
from collections.abc import Collection, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from peerlab.base.errors import MissingPackage, PeerlabError, nearest
from peerlab.base.exit_status import FAILED, OK, WRONG_USAGE
from peerlab.base.extras import extra_needed
from peerlab.base.terminal_text import Parser, end_in_order
from peerlab.base.version import __version__
from peerlab.features import features

_MODULES = {name: module for feature in features().values() for name, module in feature.commands.items()}
"""The module of each command: it has a function `add` that adds its parser, whose default ``run`` takes the options and returns the
exit status. Only what is asked for is loaded: all of them take two seconds."""
_COMMANDS = tuple(_MODULES)


def run(arguments: Sequence[str] | None) -> int:
    """Run a command; return its exit status."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a terminal without a µ shows a ? instead
    if sys.stderr is None:  # closed, as in `2>&-`: nobody asks for progress or problems
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115  (until the process ends)
    words = sys.argv[1:] if arguments is None else arguments
    options = argparse.Namespace()
    try:
        options = _read(words)
        end_in_order()
        with extra_needed(f"peerlab {words[0]}"):
            status: int = options.run(options)
        if sys.stdout:
            sys.stdout.flush()  # here, where what goes wrong can be told
    except PeerlabError as problem:
        print(f"peerlab: {_in_options(problem, words)}", file=sys.stderr)
        # a command whose 1 is an answer, such as a row that is not met, says that a refusal is none
        return WRONG_USAGE if isinstance(problem, MissingPackage) else getattr(options, "refused", FAILED)
    except BrokenPipeError:  # the reader of our output has gone, as in `peerlab simulate | head -1`
        _forget_output()
        return OK
    except OSError as problem:
        if problem.errno != errno.ENOSPC:
            raise
        _forget_output()
        print(f"peerlab: cannot write the output: {problem.strerror}", file=sys.stderr)
        return FAILED
    return status


def _in_options(problem: PeerlabError, words: Sequence[str]) -> str:
    """Return what went wrong with the option that was typed, or that sets a field of another name, instead of with a field."""
    field, _, says = str(problem).partition(": ")
    # What --beside sets has no option of its own.
    beside = any(word.removeprefix("--beside=").startswith(f"{field}=") for word in words)
    if says and not beside and words and words[0] in _COMMANDS:
        _, parsers = command_line([words[0]])
        for action in parsers[words[0]]._actions:  # noqa: SLF001  (argparse offers no other way to list its options)
            option = (action.option_strings or [""])[-1]
            typed = any(word.partition("=")[0] == option for word in words)
            if action.dest == field and option and (typed or option != f"--{field}"):
                return f"{option}: {says}"
    return str(problem)


def _forget_output() -> None:
    """Let nothing that is still to be written fail again when the process ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _read(words: Sequence[str]) -> argparse.Namespace:
    """Return what is asked for; a wrong command is told the nearest, none at all gets the list of them."""
    first = words[0] if words else ""
    if first in _COMMANDS:
        _module(first)  # it may need an extra, whatever its options say
    # the parser of the command that is asked for, and no other: loading all takes seconds
    parser, entries = command_line(
        [first] if first in _COMMANDS else [] if first == "--version" else _COMMANDS
    )
    if not words:
        parser.print_help(sys.stderr)
        raise SystemExit(WRONG_USAGE)
    if not first.startswith("-") and first not in entries:
        parser.error(f"unknown command {first!r}; {nearest(first, entries)}")
    options, rest = parser.parse_known_args(words)
    if rest:
        name = next(word for word in words if word in entries)
        parser.error(_not_read(name, rest[0], _options(entries[name])))
    return options


def _options(parser: argparse.ArgumentParser) -> list[str]:
    """Return the options of a command; its help shows those of other tools, too."""
    actions = parser._actions  # noqa: SLF001  (argparse offers no other way to list its options)
    return sorted(option for action in actions for option in action.option_strings if option.startswith("--"))


def _not_read(name: str, word: str, options: Sequence[str]) -> str:
    """Say what a command makes of a word that it does not take."""
    lists = f"`peerlab {name} --help` lists what it takes"
    if word.startswith("-"):
        option = word.partition("=")[0]
        return f"{name} has no option {option!r}; {nearest(option, options)}"
    cluster = f"; a cluster is given as --cluster {word}" if "--cluster" in options else ""
    return f"{name} takes no {word!r} without an option before it{cluster}; {lists}"


def command_line(
    names: Collection[str] = _COMMANDS,
) -> tuple[argparse.ArgumentParser, Mapping[str, argparse.ArgumentParser]]:
    """Return a parser of the command line that knows these commands, and that of each command by its name."""
    parser = Parser(
        prog="peerlab", description="See where the bytes of an AllReduce go, and what each detour costs."
    )
    parser.add_argument("--version", action="version", version=f"peerlab {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name in names:
        try:
            _module(name).add(commands)
        except MissingPackage as problem:
            commands.add_parser(name, help=str(problem))
    return parser, commands.choices


def _module(name: str) -> Any:
    """Return the module of a command.

    Raises
    ------
    MissingPackage
        If it needs an extra that is not installed.
    """
    with extra_needed(f"peerlab {name}"):
        return import_module(_MODULES[name])
