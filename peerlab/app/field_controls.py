"""Controls of *More* as the records of their fields describe them: how one is made, what it changes, and what it shows."""

from collections.abc import Callable
from typing import Any

import ipywidgets as w

from peerlab.base.errors import ScenarioError
from peerlab.base.units import write_bytes
from peerlab.model.collective import AUTO
from peerlab.page.widgets import Changes, given, offer, select, text_field, whole
from peerlab.question.field_record import Control
from peerlab.question.scenario import Scenario
from peerlab.question.scenario_fields import FIELDS


def controls() -> dict[str, Control]:
    """Return the controls of *More* by their field, in their order."""
    rows = [(name, record.control) for name, record in FIELDS.items() if record.control]
    return dict(sorted(rows, key=lambda pair: pair[1].place))


def widget(control: Control) -> w.Widget:
    """Return a text field, or a list."""
    style = f"pl-{control.name}"
    if control.empty:
        return text_field(control.label, control.empty, style, control.tip)
    return select(control.label, list(control.options()), style, control.tip)


def change(name: str, control: Control) -> Callable[[Any], Changes]:
    """Return the function from what a user chose or wrote to what that changes; nothing written is the default."""

    def written(text: str) -> Changes:
        if not given(text):
            return {name: control.usual}
        return {name: _number(text, control) if control.number else text.strip()}

    return written if control.empty else lambda value: {name: value}


def show(one: w.Widget, name: str, control: Control, s: Scenario) -> None:
    """Set a control to the value in `s`; a list offers what is in force, too."""
    value = getattr(s, name)
    if not control.empty:
        offers = list(control.options())
        if value not in [each for _, each in offers]:
            offers.append((f"{value:g}" if isinstance(value, float) else str(value), value))
        offer(one, offers, value)
    elif value in (None, AUTO):
        one.value = ""
    else:
        one.value = write_bytes(value) if name.endswith("_bytes") else str(value)


def _number(text: str, control: Control) -> int | float | str:
    """Return a number, or the text for the scenario to refuse in its own words."""
    if control.number == "whole":
        return whole(text)
    try:
        return float(text)
    except ValueError:
        return text


def possible(s: Scenario, **changed: Any) -> bool:
    """Return whether a scenario can have this instead."""
    try:
        s.with_(cluster=s.given_cluster, **changed)  # it was read already
    except ScenarioError:
        return False
    return True
