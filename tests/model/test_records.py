"""One record each for paths, stages and resources: nothing that a view asks of them is missing."""

from typing import get_args

import pytest

import peerlab
from peerlab.answer.lanes import has_lane
from peerlab.answer.metrics import BUSY, LATENCY
from peerlab.model.hardware import FIGURE_FIELDS, FIGURE_KINDS
from peerlab.model.paths import ACROSS_SWITCH, PATHS, data_path, stages
from peerlab.model.resources import RESOURCES, ResourceKind, resource_kind
from peerlab.model.stages import STAGES, Track, stage_kind
from peerlab.picture.curve_scenarios import lines
from peerlab.picture.curves import curves
from peerlab.picture.datapath import scene
from peerlab.picture.headline import cards
from peerlab.picture.payload import payload
from peerlab.picture.picture import Picture
from peerlab.picture.still import still_svg
from peerlab.picture.theme import line_roles, palettes
from peerlab.picture.timeline import lanes
from peerlab.picture.words import caption
from peerlab.question.presets import known_clusters, load_cluster

WAYS = [(name, path) for name in known_clusters() for path in load_cluster(name).paths]
SHAPES = ({"nodes": 1}, {"nodes": 2}, {"nodes": 4, "slow_nodes": {1: 0.5}}, {"collective": "point-to-point"})


def ran(name, path, **more):
    return peerlab.simulate(peerlab.Scenario(cluster=name, path=path, message_bytes="2 MiB", **more))


@pytest.mark.sample(part=4)
@pytest.mark.parametrize(("name", "path"), WAYS)
def test_every_view_shows_every_path_of_every_cluster(name, path):
    for shape in SHAPES:
        run = ran(name, path, **shape)
        payload(run)
        assert still_svg(run).startswith("<svg")
        assert len(peerlab.way(run.scenario)) >= 2
        run.as_dict()
    asked = lines(run.scenario, "message_bytes")
    curves(run.scenario, "message_bytes", [(line, [None] * len(line.scenarios)) for line in asked])


def test_every_role_is_a_colour_in_both_themes():
    roles = {kind.role for kind in STAGES.values()} | {role for path in PATHS for role in line_roles(path)}
    for theme in palettes().values():
        assert roles <= theme.keys()


def test_what_a_record_names_exists():
    for kind in RESOURCES.values():
        assert not kind.rate or kind.rate in FIGURE_FIELDS.values()
    for one in PATHS.values():
        assert set(one.needs) <= FIGURE_KINDS.keys()
        assert one.way.format(device="Gaudi", across=ACROSS_SWITCH)
        assert bool(one.cache_rests) != one.uses_device_memory
    for name, path in WAYS:
        for stage in stages(load_cluster(name), path):
            assert stage_kind(stage.name).track in get_args(Track)  # what is drawn nowhere the caption names
            assert not stage.flight or stage.flight in FIGURE_FIELDS.values()
            for use in stage.uses:
                assert use.kind in RESOURCES
                assert not use.work or use.work in FIGURE_FIELDS.values()


def test_a_resource_whose_rate_no_cluster_has_says_what_to_add(monkeypatch):
    monkeypatch.setitem(RESOURCES, "pool", ResourceKind(label="memory pool", scope="device", rate="pool_Bps"))
    with pytest.raises(
        LookupError, match=r"^resource 'pool' has the rate 'pool_Bps', .* add it as a kind of figure"
    ):
        resource_kind("pool")


@pytest.mark.sample(part=4)
@pytest.mark.parametrize(("name", "path"), WAYS)
def test_what_is_busy_has_a_lane_or_its_share_is_read_and_the_bottleneck_has_a_lane(name, path):
    """The share is looked for in the words of the picture; of one part the busiest is enough."""
    run = peerlab.simulate(peerlab.Scenario(cluster=name, path=path, nodes=8, message_bytes="16 MiB"))
    shown = {lane.kind for lane in lanes(run)}
    texts, told = "\n".join(scene(Picture(run))["texts"]["text"]), caption(run)
    for kind in (kind for kind, share in run.busy.items() if share >= BUSY):
        if has_lane(kind):
            assert kind in shown
            continue
        if kind == run.bottleneck.kind:  # marked, and the headline says how busy it is
            continue
        part = resource_kind(kind).drawn
        most = max(share for one, share in run.busy.items() if part and resource_kind(one).drawn == part)
        in_caption = f"{resource_kind(kind).label}, {100 * run.busy[kind]:.0f} % busy" in told
        assert in_caption or f"{100 * most:.0f} % busy" in texts
    assert run.bottleneck.kind in shown | {LATENCY}


@pytest.mark.parametrize("name", ["infiniband-hdr-a100", "dl1", "p4d", "gaudi3"])
def test_beside_the_device_links_stands_how_busy_they_are(name):
    run = peerlab.simulate(
        peerlab.Scenario(cluster=name, path="peer-direct", nodes=8, message_bytes="16 MiB", library="none")
    )
    assert run.busy["link_up"] > 0.4
    assert (
        scene(Picture(run))["texts"]["text"].count(f"{100 * run.busy['link_up']:.0f} % busy") == 1
    )  # at the first of two alike


@pytest.mark.sample(part=4)
@pytest.mark.parametrize(("name", "path"), WAYS)
def test_cards_speak_of_what_the_path_uses(name, path):
    nodes = 4 * (load_cluster(name).domain_nodes or 1)
    said = " ".join(
        f"{card['label']} {card['value']} {card['note']}" for card in cards(ran(name, path, nodes=nodes))
    )
    record = data_path(path)
    assert ("kernel TCP" in said) == record.uses_kernel_tcp
    assert ("bounce pool" in said) == (record.is_staged and record.is_rdma)
    assert ("hits" in said) == record.uses_device_memory


@pytest.mark.parametrize(
    ("ask", "says"), [(data_path, "data path"), (stage_kind, "stage"), (resource_kind, "resource")]
)
def test_what_is_unknown_is_named_with_what_there_is(ask, says):
    with pytest.raises(LookupError, match=f"no {says} is called 'cxl'; known are "):
        ask("cxl")
