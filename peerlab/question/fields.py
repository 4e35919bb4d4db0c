"""Options of the command line for the fields of a scenario, as their records say: the same for every command that asks about scenarios."""

import argparse
from collections.abc import Callable, Collection
from typing import Any

from peerlab.base.errors import ScenarioError, one_line
from peerlab.base.terminal_text import fraction, number, slice_size, slow_node, slow_part, switch
from peerlab.question.field_record import CommandOption, Read
from peerlab.question.scenario_fields import FIELDS

# An option of any other kind stays text: the field's record reads it.
_READS: dict[Read, Callable[[str], Any]] = {
    "number": number,
    "fraction": fraction,
    "slice size": slice_size,
    "switch": switch,
    "slow node": slow_node,
    "slow part": slow_part,
}


_OF_PARTS: tuple[Read, ...] = ("slow node", "slow part")
"""What may be given several times, once for each part of the machine."""


class PartsTogether(argparse.Action):
    """Takes an option that is given several times as one mapping; a part that is named twice is refused."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        """Add what is given to what stands there."""
        before = getattr(namespace, self.dest, None)
        # argparse would keep the last one alone
        if isinstance(before, dict) and isinstance(values, dict):
            if twice := before.keys() & values.keys():
                parser.error(f"argument {option_string}: {one_line(twice.pop()):.40} is named twice")
            values = before | values
        setattr(namespace, self.dest, values)


def add_fields(add: Callable[..., Any], *, path: str, registration: str) -> None:
    """Add the options; `add` is a parser's ``add_argument`` or stands for it, the others say what the defaults are."""
    usual = {"path": path, "registration": registration}
    for name, field in FIELDS.items():
        if field.option:
            _add(add, name, field.option, usual.get(name, ""))


def fields_given(options: argparse.Namespace, filled: Collection[str] = ()) -> dict[str, Any]:
    """Return the fields of a scenario that the options of a command give, whatever other options it has.

    `filled` are fields that the command gives a value where nobody else does, or that its reader may change.

    Raises
    ------
    ScenarioError
        If an option would change nothing, since what it belongs to is not given.

    >>> fields_given(argparse.Namespace(nodes=4, json=True))
    {'nodes': 4}
    """
    fields = {name: value for name, value in vars(options).items() if name in FIELDS}
    check_needs([*fields, *filled])
    return fields


def check_needs(names: Collection[str]) -> None:
    """Refuse options that would change nothing, as no other is given that they belong to.

    Raises
    ------
    ScenarioError
        In one line that names the option, and those of which it needs one.
    """
    for name in names:
        option = FIELDS[name].option if name in FIELDS else None
        needs = option.needs if option else ()
        if needs and not set(needs) & set(names):
            *others, last = map(_word, needs)
            wanted = f"{', '.join(others)} or {last}" if others else last
            raise ScenarioError(name, f"changes nothing without {wanted}; give that, too, or leave it out")


def _word(name: str) -> str:
    """Return how a field is called on the command line."""
    option = FIELDS[name].option
    return option.name if option and option.name else f"--{name.replace('_', '-')}"


def _add(add: Callable[..., Any], name: str, option: CommandOption, usual: str) -> None:
    more: dict[str, Any] = {"metavar": option.metavar} if option.metavar else {}
    if option.read in _READS:
        more["type"] = _READS[option.read]
    if option.read in _OF_PARTS:
        more["action"] = PartsTogether
    # What was parsed has then the fields' names and goes to `Scenario` as it is.
    if option.name:
        more["dest"] = name
    add(_word(name), help=option.help().replace("{usual}", usual), **more)
