"""What Python sends is what the page's scripts say they get, field by field, and what runs really give."""

import re
import types
from typing import NotRequired, Union, get_args, get_origin, get_type_hints, is_typeddict

import pytest

import peerlab
from peerlab.features.fabrics.fabrics_parcel import FabricsParcel
from peerlab.features.neighbours.jobs_parcel import JobsParcel
from peerlab.features.neighbours.port_parcel import PortParcel
from peerlab.features.race.race_parcel import RaceParcel, race_parcel
from peerlab.features.step.step_parcel import StepParcel
from peerlab.picture.curves import CurvesParcel
from peerlab.picture.late import Late
from peerlab.picture.path_ratio import PathRatio
from peerlab.picture.payload import Parcel, payload
from peerlab.picture.views import VIEWS

TYPEDEF = re.compile(r"/\*\*\n \* @typedef \{object\} (\w+) .*\n((?: \* @property .*\n)+) \*/")
PROPERTY = re.compile(r" \* @property \{(.+)\} (\[?\w+\]?)\n")
PLAIN = {str: "string", int: "number", float: "number", bool: "boolean", bytes: "Column", object: "*"}


def in_scripts(root):
    """Return record to field to type, as the scripts of the page say them; a field in brackets may be missing."""
    texts = [file.read_text() for file in (root / "peerlab" / "page").glob("*.js")]
    found = [one for text in texts for one in TYPEDEF.findall(text)]
    assert len({name for name, _ in found}) == len(found) == sum(text.count("@typedef") for text in texts)
    return {name: {field: kind for kind, field in PROPERTY.findall(body)} for name, body in found}


def in_python():
    """Return the same for the records of a parcel and of what each view gets."""
    waiting, found = (
        [
            Parcel,
            PathRatio,
            CurvesParcel,
            Late,
            PortParcel,
            FabricsParcel,
            JobsParcel,
            RaceParcel,
            StepParcel,
            *(get_type_hints(view.send)["return"] for view in VIEWS.values() if view.send),
        ],
        {},
    )
    while waiting:
        kind = waiting.pop()
        if is_typeddict(kind) and kind.__name__ not in found:
            hints = get_type_hints(kind, include_extras=True)
            found[kind.__name__] = {
                f"[{name}]" if get_origin(hint) is NotRequired else name: in_words(hint)
                for name, hint in hints.items()
            }
            waiting += hints.values()
        waiting += get_args(kind)
    return found


def in_words(hint):
    """Return a type as scripts write it."""
    origin, parts = get_origin(hint), get_args(hint)
    if hint in PLAIN or is_typeddict(hint):
        return PLAIN.get(hint) or hint.__name__
    if origin is NotRequired:
        return in_words(parts[0])
    if origin in (Union, types.UnionType):
        return " | ".join("null" if one is type(None) else in_words(one) for one in parts)
    if origin is tuple and parts[-1] is not ...:
        return f"[{', '.join(map(in_words, parts))}]"
    if origin in (list, tuple):
        of = in_words(parts[0])
        return f"({of})[]" if get_origin(parts[0]) in (Union, types.UnionType) else f"{of}[]"
    assert len(parts) == 2, hint  # a mapping; as JSON its keys are text
    return f"Object<string, {in_words(parts[1])}>"


def test_scripts_and_python_say_the_same_of_every_field(root):
    assert in_scripts(root) == in_python()


def fits(value, hint):
    """Return whether a value is of a type."""
    origin, parts = get_origin(hint), get_args(hint)
    if is_typeddict(hint):
        hints = get_type_hints(hint)
        needed, allowed = hint.__required_keys__, hint.__required_keys__ | hint.__optional_keys__
        return needed <= value.keys() <= allowed and all(fits(value[name], hints[name]) for name in value)
    if origin in (Union, types.UnionType):
        return any(fits(value, one) for one in parts)
    if origin is tuple and parts[-1] is not ...:
        return len(value) == len(parts) and all(map(fits, value, parts))
    if origin in (list, tuple):
        return isinstance(value, list | tuple) and all(fits(one, parts[0]) for one in value)
    if parts:
        return isinstance(value, dict) and all(
            fits(k, parts[0]) and fits(v, parts[1]) for k, v in value.items()
        )
    return isinstance(value, int | float if hint is float else hint)


@pytest.mark.parametrize(
    "fields",
    [
        {"path": "host-rdma"},
        {"path": "peer-direct", "registration": "per-transfer", "nodes": 1024},
        {"path": "host-tcp", "slow_nodes": {0: 0.5}},
        {"cluster": "gaudi3", "path": "native"},
        {"collective": "point-to-point", "path": "peer-direct", "registration": "per-transfer"},
        {"nodes": 1},
    ],
)
def test_every_run_gives_records_of_these_types(fields):
    scenario = peerlab.Scenario(**fields)
    before = peerlab.simulate(scenario.with_(message_bytes="1 MiB"))
    parcel = payload(peerlab.simulate(scenario), before, 3)
    assert fits(parcel, Parcel)
    for name, view in VIEWS.items():
        if view.send:
            assert fits(parcel["views"][name], get_type_hints(view.send)["return"]), name
    assert not fits({**parcel, "meta": {**parcel["meta"], "number": "3"}}, Parcel)


@pytest.mark.parametrize("changes", [{"path": "peer-direct"}, {"nodes": 64, "message_bytes": "1 MiB"}])
def test_every_race_gives_a_record_of_these_types(changes):
    race = peerlab.race(peerlab.Scenario(path="host-rdma"), **changes)
    for band in (None, peerlab.simulate(peerlab.Scenario(path="peer-direct")).gain_band(race.runs[0])):
        assert fits(race_parcel(race, band), RaceParcel)
