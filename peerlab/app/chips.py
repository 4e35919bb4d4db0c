"""Chips beside the controls: each names a setting of *More* that was changed, and takes it back."""

from collections.abc import Callable
from typing import Any

import ipywidgets as w

from peerlab.app.field_controls import controls
from peerlab.page.widgets import Changes, classed, close_all
from peerlab.picture.words import slow_links, slow_nics
from peerlab.question.scenario import Scenario
from peerlab.question.scenario_fields import FIELDS

Chip = tuple[str, Changes]
"""What is said of a setting, and the changes that take it back."""


_FAULTS = frozenset({"slow_nodes", "slow_nics", "slow_links"})
"""What is slow or lost: where its chip says so, the picture of its node need not."""
_TAKE_BACK = "\u00d7"
"""Stands at the end of a chip."""
_ROOM = 32
"""Letters for which a row above the buttons has room: what chips say beyond them is told by their names alone."""


class Chips:
    """A button for each setting that is not as it usually is.

    `take_back` is called with the changes that take one back.

    Attributes
    ----------
    box:
        The buttons; empty where nothing was changed.
    """

    def __init__(self, take_back: Callable[[Changes], None]) -> None:
        self._take_back = take_back
        self._shown: list[Chip] = []
        self.box = classed(w.Box(), "pl-chips")

    def show(self, chips: list[Chip]) -> None:
        """Show these chips instead of those before."""
        if chips == self._shown:
            return
        gone, self._shown = self.box.children, chips
        short = sum(len(says) for says, _ in chips) > _ROOM and len(chips) > 1
        self.box.children = [self._button(says, changes, short=short) for says, changes in chips]
        # Only now does nothing on a page show them.
        for button in gone:
            close_all(button)

    def _button(self, says: str, changes: Changes, *, short: bool) -> w.Widget:
        name = says.partition(": ")[0] if short else says
        button = w.Button(description=f"{name} {_TAKE_BACK}", tooltip=f"Take back: {says}")
        button.on_click(lambda _: self._take_back(changes))
        return classed(button, "pl-chip", *(["pl-fault"] if changes.keys() & _FAULTS else []))


def chips_of(scenario: Scenario, widgets: dict[str, w.Widget]) -> list[Chip]:
    """Return a chip for each field of *More* that `scenario` has otherwise than usually; `widgets` show their values by field.

    The way back is the default of the scenario's field. A setting that rests changes nothing, and has none.
    """
    made = controls()
    return [
        (f"{made[name].label}: {_words(widgets[name])}", {name: usual})
        for name, usual in changed(scenario).items()
    ]


def changed(scenario: Scenario) -> dict[str, Any]:
    """Return the fields of *More* that `scenario` has otherwise than usually, each with what is usual."""
    # On the same cluster: what is usual there is no change of the user's.
    usual = type(scenario)(cluster=scenario.given_cluster)
    return {
        name: getattr(usual, name)
        for name in controls()
        if getattr(scenario, name) != getattr(usual, name) and not FIELDS[name].rests(scenario)
    }


def mark(one: w.Widget, *, changed: bool) -> None:
    """Let a control look like its chip, or not."""
    (one.add_class if changed else one.remove_class)("pl-changed")


def chips_of_slow_parts(scenario: Scenario) -> list[Chip]:
    """Return a chip for the NICs and one for the links that are slow or lost: they have no control that would show them."""
    sentences = {
        "slow_nics": ", ".join(slow_nics(scenario)),
        "slow_links": ", ".join(slow_links(scenario)),
    }
    return [(says[:1].upper() + says[1:], {field: None}) for field, says in sentences.items() if says]


def _words(control: w.Widget) -> str:
    """Return what a control shows: the option that is chosen, or the text."""
    return str(getattr(control, "label", None) or control.value)
