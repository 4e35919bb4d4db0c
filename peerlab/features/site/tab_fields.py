"""Fields of a scenario in the live page: those with a control of their own, and those that a link may set, which stand as chips."""

from collections.abc import Mapping
from typing import Any

from peerlab.base.textfile import read_value
from peerlab.model.noise import NOISE_KINDS, assumed_noise, noise_of
from peerlab.model.paths import PATHS
from peerlab.question.adjustments import Changes
from peerlab.question.field_record import Field
from peerlab.question.host_switch import through_and_past
from peerlab.question.presets import load_cluster
from peerlab.question.scenario import Scenario
from peerlab.question.scenario_fields import FIELDS

SHOWN = ("cluster", "path", "registration", "nodes", "message_bytes", "collective")
"""Fields that the page's controls show."""
_USUAL = Scenario()


def linkable() -> dict[str, dict[str, Any]]:
    """Return the other fields that a link may set, with what a chip calls them and their default.

    Not those of a single slow part: they hold a mapping, and a link holds numbers and words.
    """
    return {
        name: {
            "label": field.control.label if field.control else name.replace("_", " "),
            "usual": getattr(_USUAL, name),
        }
        for name, field in FIELDS.items()
        if name not in SHOWN and (field.control or field.follows) and not _of_a_slow_part(field)
    }


def _of_a_slow_part(field: Field) -> bool:
    return field.control is not None and field.control.group == "trouble" and Mapping in field.types


def kinds_of_noise() -> list[tuple[str, dict[str, float]]]:
    """Return what the list of noise offers: its words, and the fields that it sets; one kind at a time, as much as is assumed."""
    assumed = assumed_noise()
    kinds: list[tuple[str, dict[str, float]]] = [("no noise", {})]
    for name in NOISE_KINDS:
        fields = {name: assumed[name].amount}
        kinds.append((noise_of(Scenario(**fields)).in_words, fields))  # type: ignore[arg-type]
    return kinds


def fields_of(scenario: Scenario) -> dict[str, Any]:
    """Return the fields that a link to a scenario holds: those that are shown, and the others that are not as usual."""
    shown = {name: getattr(scenario, name) for name in SHOWN} | {"message_bytes": scenario.nbytes}
    others = {name: getattr(scenario, name) for name in linkable()}
    return shown | {name: value for name, value in others.items() if value != getattr(_USUAL, name)}


def as_changes(fields: Changes) -> Changes:
    # Fields with a control come as values; a link's others as text.
    """Return fields as a page or a link gives them: of those without a control a text may be a number or a truth value."""
    return {
        name: read_value(value) if name not in SHOWN and isinstance(value, str) else value
        for name, value in fields.items()
    }


def offered(name: str) -> dict[str, Any]:
    """Return what the controls offer of a cluster: its paths, and those that the host switch goes between."""
    cluster = load_cluster(name)
    through, past = through_and_past(cluster)
    paths = [{"path": path, "title": PATHS[path].title} for path in cluster.paths]
    return {"name": name, "title": cluster.title, "paths": paths, "through": through, "past": past}
