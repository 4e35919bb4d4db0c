"""Every figure can be asked why it has its value: its lines, applied one after the other, come to what the engines use."""

import dataclasses
import json
from itertools import chain, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

import peerlab
from peerlab.base.errors import HardwareError, ScenarioError
from peerlab.base.places import folder
from peerlab.base.units import parse_bytes, parse_duration, parse_rate
from peerlab.cli import main
from peerlab.collectives.choose import slices
from peerlab.engine.system import System
from peerlab.library.library_files import known_libraries
from peerlab.model.hardware import FIGURE_FIELDS, FIGURE_KINDS
from peerlab.model.resources import RESOURCES
from peerlab.model.transport_files import known_transports
from peerlab.picture.footer import sources
from peerlab.question.presets import read_cluster

SCALES = {
    "rate": lambda unit: parse_rate(1, unit),
    "time": lambda unit: parse_duration(1, unit),
    "size": lambda unit: parse_bytes(f"1 {unit}"),
    "length": lambda unit: {"m": 1000}[unit],
}


def applied(lines):
    """Return what the lines come to."""
    value = None
    for one in lines:
        if one.how == "is":
            value = one.amount
        else:
            value = (value or 0) + one.amount if one.how == "plus" else value * one.amount
    return value


def own_units(figure, value):
    return None if value is None else value * SCALES.get(FIGURE_KINDS[figure.key], lambda _: 1)(figure.unit)


def engine_value(scenario, key):
    """Return what the engines read: of the rate of a resource whose bytes cross in packets, what of it is payload."""
    value = getattr(scenario.cluster_for_message, FIGURE_FIELDS[key])
    framed = FIGURE_FIELDS[key] in {kind.rate for kind in RESOURCES.values() if kind.frames}
    return value * scenario.goodput if value and framed else value


def check(scenario):
    for key in FIGURE_KINDS:
        figure = peerlab.why(scenario, key)
        expected = engine_value(scenario, key)
        if expected is None:
            assert figure.value is None, key
            assert applied(figure.lines) is None, key
            assert figure.lines or figure.notes, key
        else:
            assert own_units(figure, figure.value) == pytest.approx(expected, rel=1e-12), key
            assert own_units(figure, applied(figure.lines)) == pytest.approx(expected, rel=1e-12), key
        assert all(one.by and one.how in ("is", "plus", "times") for one in figure.lines), key
        assert all(one.source or one.assumption for one in figure.lines), key


def possible(**fields):
    try:
        return peerlab.Scenario(**fields)
    except ScenarioError:
        return None


@pytest.mark.sample(part=3)
@pytest.mark.parametrize("cluster", peerlab.known_clusters())
def test_lines_come_to_what_the_engines_use_with_every_library_and_every_transport(cluster):
    paths = peerlab.load_cluster(cluster).paths
    others = chain(
        ({"library": one} for one in known_libraries()), ({"transport": one} for one in known_transports())
    )
    asked = [
        possible(cluster=cluster, path=path, nodes=4, **one) for path, one in product(paths, [{}, *others])
    ]
    made = [one for one in asked if one]
    assert len(made) >= len(paths)
    for one in made:
        check(one)


FIELDS = {
    "cluster": st.sampled_from(peerlab.known_clusters()),
    "nodes": st.sampled_from([1, 2, 3, 8]),
    "message_bytes": st.sampled_from(["8 B", "64 KiB", "64 MiB"]),
    "collective": st.sampled_from(["allreduce", "allgather", "alltoall", "point-to-point"]),
    "algorithm": st.sampled_from(["auto", "ring", "tree", "sharp"]),
    "library": st.sampled_from([None, *known_libraries()]),
    "transport": st.sampled_from([None, *known_transports()]),
    "wiring": st.sampled_from(["auto", "root-port", "socket-switch", "other-socket"]),
    "acs_redirect": st.sampled_from(["auto", "on"]),
    "hops": st.sampled_from([None, 0, 5]),
    "metres": st.sampled_from([None, 0.5, 300]),
    "mtu": st.sampled_from([None, 1024, 9000]),
    "window": st.sampled_from([None, 3]),
    "slice_bytes": st.sampled_from(["auto", None, "96 KiB"]),
    "dependency": st.sampled_from(["auto", "step"]),
}


@given(fields=st.fixed_dictionaries({}, optional=FIELDS))
def test_lines_come_to_what_the_engines_use_whatever_is_asked(fields):
    scenario = possible(**fields)
    if scenario:
        check(scenario)


@pytest.mark.parametrize("cluster", ["dl1", "p4d", "p5", "gaudi3", "ideal-100g", "roce-100g-a100"])
@pytest.mark.parametrize(
    "more", [{}, {"transport": "tcp", "path": "host-tcp"}, {"library": "none", "window": 3}]
)
def test_resources_flights_and_windows_of_a_system_are_those_figures(cluster, more):
    scenario = possible(cluster=cluster, nodes=2, message_bytes="1 MiB", **more)
    if not scenario:
        pytest.skip("there is no such machine")
    system = System(scenario, folded=False)
    for one in system.resources:
        rate = RESOURCES[one.kind].rate
        if not rate or not one.capacity_Bps:
            continue
        key = next(key for key, field in FIGURE_FIELDS.items() if field == rate)
        figure = peerlab.why(scenario, key)
        links = scenario.hardware.devices - 1 if one.kind == "scaleup" else 1
        share = scenario.goodput if RESOURCES[one.kind].frames else 1
        if not RESOURCES[one.kind].frames and any(
            kind.frames and kind.rate == rate for kind in RESOURCES.values()
        ):
            continue  # the wire itself, which no headers slow
        assert own_units(figure, figure.value) * links == pytest.approx(one.capacity_Bps * share), one.kind
    assert peerlab.why(scenario, "slices.window").value == scenario.window_slices
    cut = peerlab.why(scenario, "slices.staged" if scenario.bounces else "slices.direct")
    assert cut.value is None or max(slices(scenario)) <= own_units(cut, cut.value)


def test_a_nic_sends_as_many_bytes_of_full_packets_as_its_lines_say():
    scenario = peerlab.Scenario(
        cluster="ideal-100g", nodes=2, transport="roce", collective="point-to-point", message_bytes=4096 * 1000,
        slice_bytes=None, library="none",
    )  # fmt: skip
    run = peerlab.simulate(scenario)
    kinds = [one.kind for one in run.trace.resources]
    spans = run.trace.last.unrolled
    (sent,) = [at for at, kind in enumerate(spans["resource"]) if kinds[kind] == "nic_tx"]
    rate = spans["nbytes"][sent] / (spans["work"][sent] / 1e12)
    figure = peerlab.why(scenario, "nic.rate")
    assert figure.value == pytest.approx(rate / 1e9, rel=1e-5)  # the first packet has a header more
    assert figure.lines[-1].by == "transport RoCE v2"
    assert "of a full packet of 4178 bytes 4096 are payload" in figure.lines[-1].why


def test_who_set_a_figure_is_told():
    """Nobody could ask: six clusters were derived from one another, and the last had its numbers from all of them."""
    dl1 = peerlab.Scenario(cluster="dl1", path="peer-direct")
    nic = peerlab.why(dl1, "NIC rate")
    assert [one.by for one in nic.lines] == ["cluster file dl1.toml"]
    assert str(nic).startswith(
        "NIC rate (nic.rate): 12.5 GB/s, per NIC, per direction = 12.5 GB/s, cluster file dl1"
    )
    hop = peerlab.why(peerlab.Scenario(cluster="p4d"), "fabric.latency")
    assert [one.by for one in hop.lines] == ["cluster file p4d.toml", "library NCCL over EFA"]
    assert hop.lines[-1].figures == ("library.hop",)
    assert peerlab.why(dl1, "library.hop").lines[0].by == "library file hcl-host-nics.toml"
    assert (
        peerlab.why(peerlab.Scenario(cluster="roce-100g-a100", transport="roce", mtu=1024), "transport.mtu")
        .lines[-1]
        .by
        == "the scenario"
    )
    rewired = dl1.with_(wiring="root-port")
    assert [one.by for one in peerlab.why(rewired, "host.peer_read").lines] == ["where the NICs hang"]
    assert [one.by for one in peerlab.why(rewired, "wiring.nic").lines] == ["cluster dl1", "the scenario"]
    joined = peerlab.why(dl1.with_(wiring="socket-switch"), "node.switches_per_numa")
    assert [(one.by, one.amount) for one in joined.lines] == [
        ("cluster file dl1.toml", 2),
        ("where the NICs hang", 1),
    ]


def test_what_a_user_changed_in_python_is_told_too():
    machine = peerlab.load_cluster("dl1")
    for_some = peerlab.why(peerlab.Scenario(cluster=machine.with_figure("nic.rate", 25)), "nic.rate")
    assert [(one.by, one.amount) for one in for_some.lines] == [("Python, with_figure", 25)]
    doubled = dataclasses.replace(machine, uplink_Bps=2 * machine.uplink_Bps)
    uplink = peerlab.why(peerlab.Scenario(cluster=doubled), "switch.uplink")
    assert [(one.by, one.amount) for one in uplink.lines] == [
        ("cluster file dl1.toml", 14.1),
        ("Python", 28.2),
    ]


def test_an_assumption_is_marked_and_one_that_is_replaced_is_not():
    asked = peerlab.Scenario(cluster="dl1")
    latency = peerlab.why(asked, "fabric.latency")
    assert latency.assumed
    assert "assumed: EFA on DL1 takes what NCCL plans with (from 6 to 25 us)" in str(latency).replace(
        "µ", "u"
    )
    cut = peerlab.why(asked.with_(slice_bytes="1 MiB"), "slices.staged")
    assert [one.assumed for one in cut.lines] == [True, False]
    assert not cut.assumed
    assert "†" not in str(cut)


def test_what_the_question_does_not_look_at_is_said():
    asked = peerlab.Scenario(cluster="dl1", path="peer-direct", slow_nodes={2: 0.5})
    assert "This question does not look at it." in peerlab.why(asked, "host.core_copy").notes
    assert peerlab.why(asked, "nic.rate").notes == ("Node 2 has 50 % of it (slow_nodes).",)
    assert peerlab.why(asked, "port.rate").notes == ("No file says it for dl1.",)
    met = {one.key for one in peerlab.why(asked)}
    assert {"nic.rate", "wiring.nic", "slices.direct"} <= met
    assert "host.core_copy" not in met


@pytest.mark.parametrize(
    ("name", "near"),
    [("nic.rat", "nic.rate"), ("NIC rat", "nic.rate"), ("rate", "port.rate"), ("", "sections: node")],
)
def test_an_unknown_figure_is_answered_by_the_nearest_names(name, near):
    with pytest.raises(HardwareError, match=f"unknown figure '{name}'; (nearest: .*)?{near}"):
        peerlab.why(peerlab.Scenario(), name)


def test_a_command_tells_the_same(capsys):
    assert main(["why", "--cluster", "p4d", "--transport", "tcp", "--path", "host-tcp", "uplink"]) == 0
    assert "cluster file p4d.toml" in capsys.readouterr().out
    assert main(["why", "--json", "nic.rate"]) == 0
    (figure,) = json.loads(capsys.readouterr().out)["figures"]
    assert figure == json.loads(json.dumps(peerlab.why(peerlab.Scenario(), "nic.rate").as_dict()))
    assert main(["why", "--cluster", "dl1"]) == 0
    heads = [line for line in capsys.readouterr().out.splitlines() if not line.startswith(" ")]
    assert len(heads) == len(peerlab.why(peerlab.Scenario()))
    assert main(["why", "nic.rat"]) == 1
    assert capsys.readouterr().err.startswith("peerlab: unknown figure 'nic.rat'; nearest: nic.rate")


def test_the_labs_list_says_who_wrote_a_figure_and_what_this_question_makes_of_it():
    asked = peerlab.Scenario(cluster="p4d", nodes=2, message_bytes="1 MiB", transport="efa")
    lines = {one["text"] for one in sources(peerlab.simulate(asked))["lines"]}
    (rate,) = [one for one in lines if "(nic.rate)" in one]
    assert ": 12.5 GB/s, per NIC, per direction, cluster file p4d.toml. Source: " in rate
    assert f" In this simulation {peerlab.why(asked, 'nic.rate').text}: " in rate
    assert "times 0.9901, transport EFA (SRD) (less headers: " in rate
    (latency,) = [one for one in lines if "(fabric.latency)" in one]
    assert "library NCCL over EFA" in latency
    (memory,) = [one for one in lines if "(device.hbm)" in one]
    assert "In this simulation" not in memory


def test_a_cluster_that_says_the_same_in_another_file_is_equal_and_keeps_its_own_name_of_the_file():
    text = (folder("data") / "hardware" / "dl1.toml").read_text()
    mine, copy = read_cluster(text, "mine.toml"), read_cluster(text, "copy.toml")
    assert mine == copy
    for cluster, name in ((mine, "mine"), (copy, "copy")):
        asked = peerlab.Scenario(cluster=cluster, wiring="root-port")
        assert [one.by for one in peerlab.why(asked, "nic.rate").lines] == [f"cluster file {name}.toml"]
