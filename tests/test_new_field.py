"""A field that nobody has heard of, described in this file alone, is read, refused, offered and set back as any other."""

import argparse
from dataclasses import dataclass, fields

import ipywidgets as w
import pytest

import peerlab
from peerlab.app import field_controls
from peerlab.app.more_settings import Rare
from peerlab.base.errors import ScenarioError
from peerlab.features.export.choices import choices, states
from peerlab.question.adjustments import fitting
from peerlab.question.field_record import CommandOption, Control, Field
from peerlab.question.fields import add_fields
from peerlab.question.scenario_fields import FIELDS, set_back_with


@dataclass(frozen=True, kw_only=True)
class Scenario(peerlab.Scenario):
    """A scenario of a test, of machines that run hot."""

    cooling: str = "air"
    fan_bytes: int | str | None = None


@pytest.fixture
def scenario(monkeypatch):
    """Return a scenario with two more fields, which are known by their records alone."""
    kinds = ("air", "water")
    cooling = Field(
        title="Cooling",
        words=kinds,
        of_cluster=True,
        option=CommandOption(help=lambda: f"{', '.join(kinds)} (default: air)"),
        control=Control(
            label="Cooled by", name="cooling", options=lambda: [(one, one) for one in kinds], tip="What cools"
        ),
    )
    fan = Field(
        size=True,
        whole=(1, 2**20),
        follows="cooling",
        rests=lambda s: s.cooling == "water",
        option=CommandOption(name="--fan", metavar="SIZE", help=lambda: "what a fan moves"),
        control=Control(label="Fan", name="fan", empty="no limit", tip="What a fan moves"),
    )
    monkeypatch.setitem(FIELDS, "cooling", cooling)
    monkeypatch.setitem(FIELDS, "fan_bytes", fan)
    return Scenario(nodes=2, message_bytes="1 MiB")


def test_every_field_has_a_record_and_every_record_a_field():
    assert {one.name for one in fields(peerlab.Scenario)} == set(FIELDS)
    assert all(one.follows in ("", *FIELDS) for one in FIELDS.values())
    names = [one.control.name for one in FIELDS.values() if one.control]
    assert len(names) == len(set(names))
    defaults = {one.name: one.default for one in fields(peerlab.Scenario)}
    for name, one in FIELDS.items():  # so that what is set back can be had everywhere
        assert one.checked(name, defaults[name]) is not False or one.switch


def test_it_is_read_and_refused_in_words(scenario):
    assert scenario.with_(fan_bytes="4 KiB").fan_bytes == 4096
    assert "cooling='water'" in scenario.with_(cooling="water").as_code()
    for wrong, says in (
        ({"cooling": "watr"}, "cooling: unknown 'watr'; did you mean 'water'"),
        ({"fan_bytes": "2 MiB"}, "fan_bytes: 2097152 is out of range"),
        ({"fan_bytes": [1]}, "fan_bytes: a value of type 'list' is not possible here"),
        ({"colling": "air"}, "did you mean 'cooling'"),
    ):
        with pytest.raises(ScenarioError, match=says):
            scenario.with_(**wrong)


def test_commands_have_its_option(scenario):
    parser = argparse.ArgumentParser(argument_default=argparse.SUPPRESS)
    add_fields(parser.add_argument, path="all", registration="cached")
    asked = vars(parser.parse_args(["--cooling", "water", "--fan", "4 KiB"]))
    assert scenario.with_(**asked) == scenario.with_(cooling="water", fan_bytes=4096)
    assert "--fan SIZE" in " ".join(parser.format_help().split())
    assert "air, water (default: air)" in " ".join(parser.format_help().split())


def test_the_lab_has_its_control(scenario):
    rare, told = Rare(), {}
    rare.connect(lambda one, name, change: told.setdefault(name, (one, change)))
    rare.show(scenario.with_(fan_bytes=4096))
    (cooling, cools), (fan, blows) = told["cooling"], told["fan"]
    assert isinstance(cooling, w.Dropdown)
    assert (cooling.description, cooling.value, fan.value) == ("Cooled by", "air", "4 KiB")
    assert cools("water") == {"cooling": "water"}
    assert (blows("1 KiB"), blows("no limit")) == ({"fan_bytes": "1 KiB"}, {"fan_bytes": None})
    assert not fan.disabled
    rare.show(scenario.with_(cooling="water"))
    assert (cooling.value, fan.value, fan.disabled) == ("water", "", True)
    assert list(field_controls.controls())[-2:] == ["cooling", "fan_bytes"]


def test_pages_offer_it(scenario):
    (one,) = choices(scenario, "cooling=air:water")
    assert (one.field, one.label, one.kind) == ("cooling", "Cooling", "select")
    assert [state.cooling for state in states(scenario, [one])] == ["air", "water"]


def test_what_it_belongs_to_sets_it_back(scenario):
    assert "cooling" in set_back_with("cluster")
    assert set_back_with("cooling") == ["fan_bytes"]
    hot = scenario.with_(cooling="water", fan_bytes=4096)
    assert fitting(hot, {"cooling": "air"}) == {"fan_bytes": None, "cooling": "air"}
    assert fitting(hot, {"cluster": "p4d"})["cooling"] == "air"
    assert hot.with_(**fitting(hot, {"cluster": "p4d"})).cooling == "air"
