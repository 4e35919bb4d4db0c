"""What a reader of an exported page may change: fields of the scenario, each with its values."""

# Only the curves that a page shows first have bands. Each point of a band takes four to eight simulations;
# bands for all states would take minutes. A control that leads to other curves shows them without bands. A
# simulation at the end of a band is given up after so many reports of its progress, not after so many
# seconds: so the same points have bands on every machine, and the same still is the same file.

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import product
from typing import Any

from peerlab.base.errors import ExportError, PeerlabError, ScenarioError, nearest
from peerlab.base.textfile import read_value
from peerlab.base.units import say_bytes, write_bytes
from peerlab.model.paths import data_path, path_title
from peerlab.picture.curve_scenarios import SIZES, at
from peerlab.question.host_switch import detour_and_direct
from peerlab.question.scenario import Scenario
from peerlab.question.scenario_fields import FIELDS

HOST = "Host bottleneck"
"""Name of the switch between a path through the host and one past it."""
Controls = str | Sequence[str] | Mapping[str, Sequence[Any]]
"""``"host,cache,nodes=2:64"``, a list of such words, or a field's name to its values."""

_NODES = (2, 4, 8, 16, 32, 64)
"""Nodes where the author names no values, as far as the scenario can have them: a slow node must be there."""
_WORDS = {record.page_word: name for name, record in FIELDS.items() if record.page_word}
"""Controls that have another name than the field."""


@dataclass(frozen=True)
class PageControl:
    """One control of a page."""

    field: str
    """The field of a scenario that it changes."""
    values: tuple[Any, ...]
    """What it can be, in the order of the control."""
    kind: str
    """``switch`` (first value: on), ``range`` or ``select``."""
    label: str
    """What stands beside it."""

    def page(self) -> dict[str, object]:
        """Return what the page needs to build the control: a ``word`` for each value in links, a ``name`` for people.

        The host switch shows its two ``states``.
        """
        host = self.kind == "switch" and self.label == HOST
        return {
            "states": ["Through host", path_title(self.values[1])] if host else None,
            "field": self.field,
            "kind": self.kind,
            "label": self.label,
            "words": [_word(self.field, value) for value in self.values],
            "names": [_name(self.field, value) for value in self.values],
        }


def choices(scenario: Scenario, wanted: Controls | None) -> tuple[PageControl, ...]:
    """Return the controls of a page about `scenario`; without a wish those switches that it can have, and nodes.

    Raises
    ------
    ExportError
        If a control is unknown, has no value, or can change nothing here.
    """
    if wanted is None:
        return _usual(scenario)
    named = _named(wanted)
    controls = tuple(_choice(scenario, name, values) for name, values in named)
    for control in controls:
        if [other.field for other in controls].count(control.field) > 1:
            raise ExportError(f"controls: {control.field} is asked for twice")
    if any(control.field == "registration" for control in controls):
        _check_cache(scenario, controls)
    return controls


def states(scenario: Scenario, controls: Sequence[PageControl]) -> list[Scenario]:
    """Return the scenario of every combination, the last control's values varying fastest.

    Where memory is not registered the cache makes no difference, and the scenario has the first of its values.

    Raises
    ------
    ExportError
        If a combination is impossible.
    """
    scenarios = []
    for values in product(*(control.values for control in controls)):
        changes = dict(zip((control.field for control in controls), values, strict=True))
        try:
            state = scenario.with_(**changes)
        except ScenarioError as problem:
            what = ", ".join(f"{name}={_word(name, value)}" for name, value in changes.items())
            raise ExportError(f"controls: {what} is impossible ({problem})") from None
        # The cache changes nothing there: one state stands for both of its values.
        if not state.data_path.uses_device_memory and "registration" in changes:
            state = state.with_(registration=_first(controls, "registration"))
        scenarios.append(state)
    return scenarios


def start_of(
    scenario: Scenario, controls: Sequence[PageControl], start: Mapping[str, Any] | None
) -> list[int]:
    """Return for each control the number of the value that the page begins with.

    Raises
    ------
    ExportError
        If `start` names a control that there is not, or a value that it does not have.
    """
    wanted = {_WORDS.get(name, name): value for name, value in (start or {}).items()}
    for name, value in wanted.items():
        there = next((control for control in controls if control.field == name), None)
        if there is None:
            known = nearest(name, [control.field for control in controls]) if controls else "it has none"
            raise ExportError(f"start: {name!r} is no control of this page; {known}")
        if _value(scenario, name, value, "start") not in there.values:
            known = ", ".join(_word(name, option) for option in there.values)
            raise ExportError(f"start: {name}={value} is not among its values: {known}")
    numbers = []
    for page_control in controls:
        value = (
            _value(scenario, page_control.field, wanted[page_control.field], "start")
            if page_control.field in wanted
            else getattr(scenario, page_control.field)
        )
        numbers.append(page_control.values.index(value) if value in page_control.values else 0)
    return numbers


def _usual(scenario: Scenario) -> tuple[PageControl, ...]:
    paths = scenario.hardware.paths
    # Both kinds of path, else there is nothing to switch.
    names = ["host"] if len({data_path(path).is_staged for path in paths}) == 2 else []
    names += ["cache"] if _caches(paths if names else [str(scenario.path)]) else []
    names += ["nodes"] if not scenario.collective_record.is_message else ["message"]
    return tuple(_choice(scenario, name, ()) for name in names)


def _named(wanted: Controls) -> list[tuple[str, tuple[Any, ...]]]:
    if isinstance(wanted, Mapping):
        for name, values in wanted.items():
            if not isinstance(values, list | tuple | range):
                raise ExportError(f"controls: {name} has a list of values, not {values!r}")
        return [(name, tuple(values)) for name, values in wanted.items()]
    words = wanted.split(",") if isinstance(wanted, str) else wanted
    named = []
    for word in words:
        name, equals, values = word.strip().partition("=")
        if equals and not values:
            raise ExportError(f"controls: {name}= has no value; write {name}=VALUE:VALUE")
        if equals and not name:
            raise ExportError(f"controls: {word!r} names no field; write FIELD=VALUE:VALUE")
        named.append((name, tuple(values.split(":")) if values else ()))
    # Nothing between two commas: `--controls ''` asks for a page without controls.
    return [control for control in named if control[0]]


def _choice(scenario: Scenario, name: str, given: Iterable[Any]) -> PageControl:
    field, given = _WORDS.get(name, name), list(given)
    names = [scenario_field.name for scenario_field in fields(scenario)]
    if field not in names:
        raise ExportError(f"controls: unknown control {name!r}; {nearest(name, ['host', 'cache', *names])}")
    values = [_value(scenario, field, value) for value in given] or _default(scenario, name, field)
    # `2:64` on the command line is a range; a list in Python is meant as it stands.
    if FIELDS[field].by_powers and len(given) == 2 and all(isinstance(value, str) for value in given):
        values = _doubled(*values)
    values = list(dict.fromkeys(values))
    if not values:
        raise ExportError(f"controls: {name} needs values here, as in {name}=VALUE:VALUE")
    # A switch of true and false counts as whole numbers, and is none.
    if all(isinstance(value, int) for value in values) and not isinstance(values[0], bool):
        return PageControl(field, tuple(sorted(values)), "range", _label(field))
    if FIELDS[field].switches and len(values) == 2:
        return PageControl(field, tuple(values), "switch", _switch_label(field, values))
    return PageControl(field, tuple(values), "select", _label(field))


def _default(scenario: Scenario, name: str, field: str) -> list[Any]:
    match field:
        case "path" if name == "host":
            return list(_host_switch(scenario))
        case "path":
            return list(scenario.hardware.paths)
        case "registration":
            kept = scenario.registration if scenario.registration != "per-transfer" else "cached"
            return [kept, "per-transfer"]
        case "nodes":
            return sorted({*(nodes for nodes in _NODES if at(scenario, "nodes", nodes, {})), scenario.nodes})
        case "message_bytes":
            return sorted({*SIZES, scenario.nbytes})
    return []


def _host_switch(scenario: Scenario) -> tuple[str, str]:
    pair = detour_and_direct(scenario)
    if pair is None:
        raise ExportError(
            f"controls: {scenario.hardware.name} has {', '.join(scenario.hardware.paths)} only, so there is nothing for host to switch"
        )
    return str(pair[0].path), str(pair[1].path)


def _doubled(low: int, high: int) -> list[int]:
    """Return the range as people mean ``2:64``: by powers of two."""
    values = [low]
    while values[-1] * 2 < high:
        values.append(values[-1] * 2)
    return [*values, high] if high > low else values


def _check_cache(scenario: Scenario, controls: Sequence[PageControl]) -> None:
    paths = _first_of(controls, "path") or (scenario.path,)
    if not _caches([str(path) for path in paths]):
        raise ExportError(
            f"controls: the registration cache makes no difference on {', '.join(map(str, paths))}"
        )


def _caches(paths: Sequence[str]) -> bool:
    """Return whether a registration cache makes a difference on one of some paths."""
    return any(data_path(path).uses_device_memory for path in paths)


def _first_of(controls: Sequence[PageControl], field: str) -> tuple[Any, ...]:
    return next((control.values for control in controls if control.field == field), ())


def _first(controls: Sequence[PageControl], field: str) -> Any:
    return _first_of(controls, field)[0]


def _value(scenario: Scenario, field: str, text: Any, where: str = "controls") -> Any:
    """Return a value as a scenario holds it: text of a size or a number is read; `where` is named if it cannot be."""
    value = read_value(text.strip()) if isinstance(text, str) else text
    try:
        # As the scenario holds it afterwards: 1 MiB and 1048576 are one value.
        return getattr(scenario.with_(**{field: value}), field)
    except PeerlabError as problem:
        raise ExportError(f"{where}: {problem}") from None


def _label(field: str) -> str:
    return FIELDS[field].title or field.removesuffix("_bytes").replace("_", " ").capitalize()


def _switch_label(field: str, values: Sequence[Any]) -> str:
    if field == "registration":
        return "Registration cache" if "per-transfer" in values else _label(field)
    staged = [data_path(value).is_staged for value in values]
    return HOST if staged == [True, False] else _label(field)


def _word(field: str, value: Any) -> str:
    if field.endswith("_bytes") and isinstance(value, int):
        return write_bytes(value).replace(" ", "")
    return str(value)


def _name(field: str, value: Any) -> str:
    if field.endswith("_bytes") and isinstance(value, int):
        return say_bytes(value)
    unit = FIELDS[field].page_unit
    return f"{value} {unit}" if unit and value != 1 else str(value)
