"""How a control of the lab is made: label, style class, options."""

# A cell that runs again closes its last widget, which is found by the cell's id. JupyterLab keeps the
# models of replaced widgets; twenty runs would leave twenty documents and loops. The old widget is closed
# when the page shows the new one: a page that was just reloaded may still be restoring the old widget, and
# would look for models that are gone. JupyterLab keeps elements and models of closed widgets all the same.
# So nothing large hangs on them: listeners stop with the page, a model is emptied, and the script of all
# widgets is compiled once.

from collections.abc import Callable, Sequence
from html import escape
from typing import Any

import ipywidgets as w

Changes = dict[str, Any]
Tell = Callable[[w.Widget, str, Callable[[Any], Changes | None]], None]
"""Called with the changes of a scenario, and the name of the control, when a user gives it a value."""


class Spoken(w.VBox):  # type: ignore[misc]  # ipywidgets has no types
    """Widgets below each other whose text, as `repr` gives it, stands in for them where there are no widgets."""

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        return (super()._repr_mimebundle_(**kwargs) or {}) | {"text/plain": repr(self)}


def close_all(widget: w.Widget) -> None:
    """Close a widget, what it contains, and the layout and style that ipywidgets would leave behind."""
    for child in getattr(widget, "children", ()):
        close_all(child)
    for name in ("layout", "style"):
        if isinstance(getattr(widget, name, None), w.Widget):
            getattr(widget, name).close()
    widget.close()


def classed(widget: w.Widget, *names: str) -> w.Widget:
    """Return the widget with style classes."""
    for name in names:
        widget.add_class(name)
    return widget


def refusal_html(problem: object) -> str:
    """Return why something cannot be shown, as a page says it."""
    return f"<div class='pl-error'><p role='alert'>{escape(str(problem))}</p></div>"


def row(children: list[w.Widget], name: str) -> w.Widget:
    """Return controls side by side."""
    return classed(w.Box(children), "pl-controls", name)


def pair(slider: w.Widget, number: w.Widget) -> w.Widget:
    """Return a slider and its number, side by side however narrow the notebook is."""
    return classed(w.Box([slider, number]), "pl-pair")


def switch(label: str, name: str) -> w.Widget:
    """Return an on-off switch."""
    return classed(w.Checkbox(description=label, indent=False), "pl-switch", name)


def segments(label: str, name: str) -> w.Widget:
    """Return a switch that shows its two states beside each other; `say_states` names them."""
    control = w.Checkbox(description=label, indent=False, description_allow_html=True)
    return classed(control, "pl-segments", name)


def say_states(one: w.Widget, label: str, on: tuple[str, bool], off: tuple[str, bool]) -> None:
    """Name both states of a switch, each with whether it can be had; ipywidgets lets `b`, `i` and `em` through."""
    states = "".join(
        f"<{tag}>{escape(words)}</{tag}>" for words, there in (on, off) for tag in ["i" if there else "em"]
    )
    one.description = f"<b>{escape(label)}</b>{states}"


def slider(label: str, options: list[tuple[str, int]], name: str) -> w.Widget:
    """Return a slider over a few values."""
    control = w.SelectionSlider(options=options, description=label, readout=False, continuous_update=True)
    return classed(control, "pl-slider", name)


def number_field(label: str, name: str) -> w.Widget:
    """Return a text field for the number of a slider."""
    return classed(w.Text(continuous_update=False, tooltip=label), "pl-number-field", name)


def text_field(label: str, placeholder: str, name: str, tooltip: str) -> w.Widget:
    """Return a text field with a label."""
    text = w.Text(description=label, placeholder=placeholder, continuous_update=False, tooltip=tooltip)
    text.layout.width = "auto"
    return classed(text, "pl-field", name)


def select(label: str, options: Sequence[tuple[str, Any]], name: str, tooltip: str = "") -> w.Widget:
    """Return a list to choose from."""
    control = w.Dropdown(description=label, options=list(options), tooltip=tooltip or None)
    return classed(control, "pl-select", name)


def button(label: str, tooltip: str) -> w.Widget:
    """Return a plain button."""
    return classed(w.Button(description=label, tooltip=tooltip), "pl-plain", f"pl-{label.lower()}")


def icon_button(name: str, icon: str, tooltip: str) -> w.Widget:
    """Return a button of one icon, which its tooltip names."""
    return classed(w.Button(icon=icon, tooltip=tooltip), "pl-plain", "pl-icon", f"pl-{name}")


def way_back(toggle: w.Widget) -> w.Widget:
    """Return a button that closes what a toggle shows in place of the pictures."""
    control = classed(
        w.Button(description="Explorer", icon="chevron-left", tooltip="Back to the explorer (Escape)"),
        "pl-plain",
        "pl-back",
    )
    control.on_click(lambda _: setattr(toggle, "value", False))
    return control


def unfold(toggle: w.Widget, panel: w.Widget, shown: str = "") -> None:
    """Let a button show and hide a panel, hidden at first, and say by its arrow, if it has one, which; `shown` is its display in CSS."""
    panel.layout.display = "none"

    def turn(event: Any) -> None:
        panel.layout.display = shown if event["new"] else "none"
        if toggle.icon:
            toggle.icon = "caret-down" if event["new"] else "caret-right"

    toggle.observe(turn, "value")


def one_at_a_time(toggles: Sequence[w.Widget]) -> None:
    """Let the panel of one button close those of the others."""

    def turn(event: Any) -> None:
        for other in toggles:
            if event["new"] and other is not event["owner"]:
                other.value = False

    for toggle in toggles:
        toggle.observe(turn, "value")


def offer(one: w.Widget, options: Sequence[tuple[str, Any]], value: Any) -> None:
    """Let a list offer these options and show this value."""
    if tuple(one.options) != tuple(options):
        one.options = list(options)
    one.value = value


def whole(text: str) -> int | str:
    """Return a whole number, or the text for the scenario to refuse in its own words."""
    try:
        return int(text)
    except ValueError:
        return text


def given(text: str) -> bool:
    """Return whether a text field holds more than a word for its default."""
    return text.strip().lower() not in ("", "auto", "no limit", "none")
