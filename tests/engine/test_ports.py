"""Cells in ports: two engines that agree, laws of conservation, and the closed forms of neighbours."""

import gc
import sys
import weakref
from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from port_scenes import JOBS, PACKET, PFC, C, fabric, ring, scenes, victim

from peerlab.base.errors import ScenarioError
from peerlab.engine.ports import port_forms as forms
from peerlab.engine.ports.port_laws import follow_ps
from peerlab.engine.ports.port_scene import MarkedRates, PortFabric, PortFlow, PortScene
from peerlab.engine.ports.port_trace import heights
from peerlab.engine.ports.scene_checks import events
from peerlab.engine.ports.simulate_ports import simulate_ports

LOSSLESS = {"pauses": PFC, "credits": {"credits": 64 * PACKET}}
lossless = pytest.mark.parametrize("kind", LOSSLESS)


def shares(scene):
    """What the victim and the receiver have of C, after the first 30 %."""
    trace, start, senders = simulate_ports(scene), scene.until_ps * 3 // 10, len(scene.flows) - 1
    rates = [trace.rate_Bps(flow, start, scene.until_ps) / C for flow in range(senders + 1)]
    return rates[-1], sum(rates[:-1])


@given(scenes())
def test_both_engines_give_the_same_spans(scene):
    assert simulate_ports(scene) == simulate_ports(scene, "referee")


@given(scenes(flows=JOBS))
def test_both_engines_let_jobs_compute_alike(scene):
    assert simulate_ports(scene) == simulate_ports(scene, "referee")


@given(scenes(flows=JOBS))
def test_a_collective_begins_when_all_of_its_job_have_the_one_before_and_have_computed(scene):
    trace, ends = simulate_ports(scene), {}
    for end in trace.messages:
        # go-back-0 may send a whole message again, which then ends a second time
        ends.setdefault((end.flow, end.message), end.at_ps)
    for cell in trace.cells:
        flow = scene.flows[cell.flow]
        if not flow.collective or cell.link >= scene.hosts:
            continue
        message = cell.first // -(-flow.nbytes // scene.fabric.mtu)
        before = message // flow.collective * flow.collective - 1
        same = [number for number, one in enumerate(scene.flows) if one.collective and one.job == flow.job]
        ready = (
            max((ends[number, before] for number in same), default=0) + flow.compute_ps
            if before >= 0
            else flow.start_ps
        )
        assert cell.start_ps >= ready
        if message > before + 1:
            assert cell.start_ps >= ends[flow.after, message - 1]


@given(scenes())
def test_what_enters_a_switch_is_what_waits_there_leaves_it_or_is_lost(scene):
    """At every instant and for each cell: where and when it came is where it waited from, or was lost, and nothing else waited."""
    trace = simulate_ports(scene)
    came, taken = Counter(), Counter()
    for cell in trace.cells:
        link = scene.links[cell.link]
        at = cell.start_ps + follow_ps(cell.wire, scene.fabric.packet, scene.hop_ps, link)
        if link.sink < 0:
            came[cell.flow, cell.first, cell.packets, at] += 1
    for cell in [*trace.cells, *trace.left]:
        if scene.links[cell.link].source < 0:
            taken[cell.flow, cell.first, cell.packets, cell.queued_ps] += 1
    for event in trace.packets:
        if event.kind == "drop":
            taken[event.flow, event.first, event.packets, event.at_ps] += 1
    # what comes in the instant in which a scene ends may not be looked at any more
    before = [Counter({key: n for key, n in one.items() if key[3] < trace.time_ps}) for one in (came, taken)]
    assert before[0] == before[1]


@given(scenes())
def test_no_queue_is_ever_below_nothing_and_ports_send_one_cell_at_a_time(scene):
    trace = simulate_ports(scene)
    for link in range(len(scene.links)):
        cells = list(trace.on(link))
        assert all(one.end_ps <= other.start_ps for one, other in pairwise(cells))
        assert all(cell.queued_ps <= cell.start_ps < cell.end_ps for cell in cells)
        assert all(height >= 0 for _, height in heights(cells))


@given(scenes(kinds=("lossy",)))
def test_no_queue_holds_more_than_it_can(scene):
    trace = simulate_ports(scene)
    for link in range(scene.hosts, len(scene.links)):
        assert all(
            height <= scene.fabric.queue
            for _, height in heights([*trace.on(link), *(one for one in trace.left if one.link == link)])
        )


@given(scenes(kinds=("credits",)))
def test_no_link_has_more_unanswered_than_its_credits(scene):
    trace, back = simulate_ports(scene), scene.hop_ps + scene.fabric.processing_ps
    for flow_link in {cell.link for cell in trace.cells if scene.links[cell.link].sink < 0}:
        changes = Counter()
        for cell in trace.on(flow_link):
            following = [
                other
                for other in trace.cells
                if (other.flow, other.first) == (cell.flow, cell.first) and other.start_ps > cell.start_ps
            ]
            vl = scene.flows[cell.flow].vl
            changes[vl, cell.start_ps, 1] += cell.wire
            if following:
                changes[vl, min(one.end_ps for one in following) + back, 0] -= cell.wire
        for lane in range(scene.fabric.vls):
            unanswered = 0
            for (vl, _, _), change in sorted(changes.items()):
                unanswered += change if vl == lane else 0
                assert 0 <= unanswered <= scene.fabric.credits


@given(scenes(kinds=("credits",)))
def test_credits_on_their_way_and_bytes_that_have_none_are_all_that_there_are(scene):
    """Credits that a port has, cells that it sent and credits on their way come to what the link began with, at each of its moments."""
    trace = simulate_ports(scene)
    back = scene.hop_ps + scene.fabric.processing_ps
    assert all(credit.arrives_ps - credit.sent_ps == back for credit in trace.credits)
    for link in {credit.link for credit in trace.credits}:
        for vl in range(scene.fabric.vls):
            sent = [(cell.start_ps, cell.wire) for cell in trace.on(link) if scene.flows[cell.flow].vl == vl]
            came = [credit for credit in trace.credits if (credit.link, credit.vl) == (link, vl)]
            for moment, _ in sent:
                out = sum(wire for at, wire in sent if at <= moment)
                free = sum(credit.wire for credit in came if credit.arrives_ps <= moment)
                told = sum(credit.wire for credit in came if credit.sent_ps <= moment)
                assert 0 <= out - told <= out - free <= scene.fabric.credits


@given(scenes(kinds=("marked",)))
def test_a_cell_is_marked_from_the_queue_on_that_marked_it(scene):
    trace = simulate_ports(scene)
    marks = {
        (event.link, event.flow, event.first): event.at_ps for event in trace.packets if event.kind == "mark"
    }
    for cell in [*trace.cells, *trace.left]:
        before = [
            at
            for (_, flow, first), at in marks.items()
            if (flow, first) == (cell.flow, cell.first) and at <= cell.queued_ps
        ]
        assert cell.marked == bool(before and cell.link >= scene.hosts)
    assert all(change.rate_Bps <= change.target_Bps <= scene.host_Bps for change in trace.rates)


@given(scenes(kinds=("pauses",)))
def test_a_paused_port_begins_no_cell(scene):
    trace = simulate_ports(scene)
    for pause in trace.pauses:
        assert not any(
            pause.start_ps <= cell.start_ps < pause.end_ps and scene.flows[cell.flow].vl == pause.vl
            for cell in trace.on(pause.link)
        )


@pytest.mark.parametrize("engine", ["loop", "referee"])
def test_what_nobody_sends_again_never_ends(engine):
    lossy = fabric(loss_ppb=10**8, recovery="none")
    scene = PortScene(
        fabric=lossy, leaves=(0, 0), flows=(PortFlow(src=0, dst=1, nbytes=10**6),), host_Bps=C, hop_ps=200_000
    )
    with pytest.raises(ScenarioError, match="never ends"):
        simulate_ports(scene, engine)


@lossless
@pytest.mark.parametrize("senders", [2, 4, 8])
def test_a_victim_in_the_same_class_has_an_nth(kind, senders):
    got = shares(victim(senders, fabric(**LOSSLESS[kind])))
    assert got == pytest.approx((forms.victim_one_class(senders, 2.0), 1.0), rel=0.02)


@lossless
def test_a_narrow_trunk_is_shared_by_all(kind):
    got = shares(victim(4, fabric(**LOSSLESS[kind]), trunk=1.0))[0]
    assert got == pytest.approx(forms.victim_one_class(4, 1.0), rel=0.02)


@lossless
@pytest.mark.parametrize("trunk", [1.5, 2.0])
def test_a_lane_of_its_own_saves_the_victim(kind, trunk):
    got = shares(victim(4, fabric(vls=2, **LOSSLESS[kind]), trunk=trunk, vl=1))
    assert got == pytest.approx(forms.victim_own_class(trunk), rel=0.01)


@pytest.mark.parametrize("senders", [2, 4, 8])
def test_a_full_queue_takes_from_each_in_proportion(senders):
    got = shares(victim(senders, fabric(queue=64 * PACKET)))[0]
    assert got == pytest.approx(forms.victim_lossy(senders, 2.0), rel=0.01)


def test_credits_limit_a_long_link():
    for blocks, packets, hop in ((4, 1, 500_000), (8, 1, 500_000), (16, 4, 500_000), (32, 8, 2_000_000)):
        scene = PortScene(
            fabric=fabric(credits=blocks * PACKET), leaves=(0, 0), flows=(PortFlow(src=0, dst=1),),
            host_Bps=C, hop_ps=hop, until_ps=10**9, cell_packets=packets,
        )  # fmt: skip
        expected = forms.credit_rate(blocks * PACKET, C, hop / 1e12, 0.5e-6, packets * PACKET, PACKET)
        # only whole cells leave
        assert simulate_ports(scene).busy(3, 3 * 10**8, 10**9) == pytest.approx(expected, rel=0.01)


def test_a_receiver_never_idles_where_xon_covers_the_way_back():
    given_ = fabric(xoff=64 * PACKET, xon=16 * PACKET, headroom=100 * PACKET, processing_ps=2_000_000)
    assert forms.xon_bytes(C, 1e-6, 2e-6) < 16 * PACKET
    assert shares(victim(4, given_, hop_ps=10**6))[1] == pytest.approx(1.0, rel=0.005)
    low = fabric(xoff=64 * PACKET, xon=4 * PACKET, headroom=100 * PACKET, processing_ps=2_000_000)
    assert shares(victim(4, low, hop_ps=10**6))[1] < 0.97


def test_the_headroom_of_the_formula_loses_nothing_and_a_cell_less_is_told():
    room = int(forms.headroom_bytes(C, 200e-9, 500e-9, PACKET))
    simulate_ports(victim(4, fabric(**PFC | {"headroom": room}), until=10**9))
    with pytest.raises(ScenarioError, match="would have been lost"):
        simulate_ports(victim(4, fabric(**PFC | {"headroom": room - PACKET}), until=10**9))


@pytest.mark.parametrize("given_", [PFC, {"credits": 64 * PACKET}])
def test_what_nobody_holds_is_given_back_at_once(given_, request):
    """Python's collector, which would find what holds itself, is kept from looking while rows are compared: they came to a gigabyte."""
    gc.disable()
    request.addfinalizer(gc.enable)
    trace = weakref.ref(simulate_ports(ring(4, 2**16, fabric(**given_))))
    assert trace() is None


@pytest.mark.parametrize(
    "given_", [{}, PFC, {"credits": 64 * PACKET}, {"queue": 64 * PACKET, "recovery": "go-back-n"}]
)
@pytest.mark.parametrize("packets", [1, 8])
def test_a_ring_alone_is_its_formula(given_, packets):
    scene = ring(8, 2**20, fabric(**given_), cell_packets=packets, latency_ps=4_000_000)
    flies = 4e-6 + 2 * 200e-9 + PACKET / C
    expected = forms.ring_s(8, flies, 2**20, C * forms.goodput(4096, 82))
    assert simulate_ports(scene).time_ps == pytest.approx(expected * 1e12, rel=1e-9)


def test_an_incast_ends_after_all_of_its_bytes():
    flows = tuple(PortFlow(src=i, dst=4, nbytes=2**20) for i in range(4))
    scene = PortScene(
        fabric=fabric(**PFC), leaves=(0,) * 5, flows=flows, host_Bps=C, hop_ps=200_000, cell_packets=1
    )
    expected = forms.incast_s(4, 2**20, C * forms.goodput(4096, 82), 400e-9 + PACKET / C)
    assert simulate_ports(scene).time_ps == pytest.approx(expected * 1e12, rel=1e-6)


def _counted(recovery, loss, window, **more):
    """The share of packets that count, of one endless flow."""
    took = 334_240
    again = {"recovery": recovery, "recovery_ps": window * took - 4 * 200_000 - 2 * took, "loss_ppb": loss}
    scene = PortScene(
        fabric=fabric(**again, **more), leaves=(0, 0), flows=(PortFlow(src=0, dst=1),),
        host_Bps=C, hop_ps=200_000, until_ps=10**10,
    )  # fmt: skip
    trace = simulate_ports(scene)
    wasted = sum(event.packets for event in trace.packets if event.kind in ("loss", "discard"))
    return 1 - wasted / sum(cell.packets for cell in trace.on(3))


@pytest.mark.parametrize("window", [24, 120, 1500])
def test_going_back_costs_a_window_for_each_loss(window):
    assert _counted("go-back-n", 10**6, window) == pytest.approx(forms.go_back_n(1e-3, window), rel=0.03)


def test_selective_repeat_costs_the_lost_packets():
    assert _counted("selective", 10**7, 120) == pytest.approx(0.99, rel=0.005)
    assert _counted("selective", 10**7, 120, loss_seed=1) == pytest.approx(0.99, rel=0.005)


def test_going_back_to_the_begin_of_a_message_costs_the_message():
    again = {"recovery": "go-back-0", "loss_ppb": 4 * 10**6, "loss_seed": 4}
    flows = (PortFlow(src=0, dst=1, nbytes=256 * 4096, messages=10**6),)
    scene = PortScene(
        fabric=fabric(**again), leaves=(0, 0), flows=flows, host_Bps=C, hop_ps=1, until_ps=2 * 10**10, cell_packets=4
    )  # fmt: skip
    trace = simulate_ports(scene)
    reached = sum(cell.packets for cell in trace.on(3))
    expected = forms.go_back_0(4e-3, 256)
    assert 256 * len(trace.messages) / reached == pytest.approx(expected, rel=0.05)
    # what arrived before a loss and is thrown away was discarded
    wasted = sum(event.packets for event in trace.packets if event.kind in ("loss", "discard"))
    assert 1 - wasted / reached == pytest.approx(expected, rel=0.05)


def test_going_back_to_the_begin_of_a_message_may_never_end():
    """Every 256th packet is lost, and a message has 1024: nothing arrives, as was published of the first RoCE NICs."""
    again = {"recovery": "go-back-0", "loss_ppb": 10**9 // 256}
    flows = (PortFlow(src=0, dst=1, nbytes=1024 * 4096, messages=3),)
    scene = PortScene(
        fabric=fabric(**again), leaves=(0, 0), flows=flows, host_Bps=C, hop_ps=200_000, until_ps=2 * 10**9
    )
    assert simulate_ports(scene).messages == []


def _rates(**given_):
    rule = {
        "kmin": 5000, "kmax": 200_000, "pmax_ppb": 10**7, "cnp_ps": 50_000_000, "alpha_ps": 55_000_000, "timer_ps": 55_000_000,
        "byte_counter": 10**7, "recoveries": 5, "rai_Bps": 5_000_000,
    }  # fmt: skip
    return MarkedRates(**rule | given_)


def _marked(rule, xoff, xon):
    return PortFabric(
        name="roce-dcqcn",
        mtu=918,
        header=82,
        processing_ps=500_000,
        xoff=xoff,
        xon=xon,
        headroom=10**7,
        marking=rule,
    )


def test_marked_rates_stay_at_their_fixed_point():
    senders, until = 4, 30 * 10**9
    flows = tuple(PortFlow(src=i, dst=senders) for i in range(senders))
    scene = PortScene(
        fabric=_marked(_rates(start="fair"), 10**7, 10**6), leaves=(0,) * (senders + 1), flows=flows,
        host_Bps=C, hop_ps=1_000_000, until_ps=until, cell_packets=4,
    )  # fmt: skip
    trace, start, port = simulate_ports(scene), until // 3, 2 * senders + 1
    assert trace.busy(port, start, until) > 0.98
    for flow in range(senders):
        assert trace.rate_Bps(flow, start, until) == pytest.approx(C / senders, rel=0.05)
    assert 16_000 < trace.mean_queue(port, start, until) < 28_000


def test_cold_rates_rise_by_their_step_for_each_timer():
    scene = victim(
        4,
        _marked(_rates(), 1_070_000, 1_000_000),
        hop_ps=1_000_000,
        until=10**10,
        cell_packets=4,
    )
    trace = simulate_ports(scene)
    early, late = (
        sum(trace.rate_Bps(flow, ms * 10**9, (ms + 1) * 10**9) for flow in range(4)) for ms in (3, 9)
    )
    assert (late - early) / 6e-3 / 4 == pytest.approx(forms.dcqcn_slope(40e6, 55e-6) / 8, rel=0.1)


def test_forms_of_the_fixed_point():
    for senders, marked, queue in ((2, 2.387e-4, 9.7), (8, 1.420e-3, 32.7)):
        found = forms.dcqcn(senders, 100e9)
        assert found == pytest.approx(marked, rel=2e-3)
        assert forms.dcqcn_queue(found, 5, 200, 0.01) == pytest.approx(queue, rel=5e-3)
    for senders, rate, above in ((2, 100e9, 0.16), (64, 100e9, 0.41), (2, 40e9, 0.19), (64, 40e9, 0.58)):
        assert forms.dcqcn_paper(senders, rate) / forms.dcqcn(senders, rate) - 1 == pytest.approx(
            above, abs=0.01
        )


def test_spraying_fills_every_trunk_and_a_hash_does_not():
    flows = tuple(PortFlow(src=i, dst=4 + i) for i in range(4))
    took = {}
    for spray in (False, True):
        scene = PortScene(
            fabric=fabric(**PFC), leaves=(0,) * 4 + (1,) * 4, flows=flows, host_Bps=C, trunk_Bps=C, trunks=4,
            hop_ps=200_000, until_ps=10**9, spray=spray, seed=1,
        )  # fmt: skip
        trace = simulate_ports(scene)
        took[spray] = sum(trace.rate_Bps(flow, 3 * 10**8, 10**9) for flow in range(4)) / C
    assert took[True] == pytest.approx(4.0, rel=0.01)
    assert took[False] < 3.1


def test_a_cell_costs_few_calls_however_many_there_are():
    """What 0.11 s of a quiet core rest on: the work of a cell does not grow with the scene."""

    def calls_of_a_cell(nbytes):
        scene, calls = ring(8, nbytes, fabric(**PFC), cell_packets=16), 0

        def count(_frame, event, _arg):
            nonlocal calls
            calls += event == "call"

        sys.setprofile(count)
        try:
            trace = simulate_ports(scene)
        finally:
            sys.setprofile(None)
        return calls / len(trace.cells)

    few, many = calls_of_a_cell(2**23), calls_of_a_cell(2**26)
    assert many < 1.2 * few
    assert many < 20


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"leaves": (0,) * 65}, "2 to 64"),
        ({"cell_packets": 100}, "between a cell and XOFF"),
        ({"until_ps": 10**14}, "10,000,000 are simulated"),
        ({"until_ps": 0}, "nothing ends"),
        ({"trunk_Bps": 0}, "two leaves or more have a trunk"),
    ],
)
def test_what_cannot_be_simulated_is_refused_in_words(changes, says):
    with pytest.raises(ScenarioError, match=says):
        victim(4, fabric(**PFC), **changes)


def test_the_size_that_fits_fits():
    with pytest.raises(ScenarioError, match="MiB a flow instead of") as refused:
        ring(8, 2**33, fabric(**PFC))
    assert "cells of" in str(refused.value)
    # what is cut is counted until then; it is the time that has to be shorter
    assert ring(8, 2**33, fabric(**PFC), until_ps=10**9).finite
    with pytest.raises(ScenarioError, match="50 ms instead of 100 ms"):
        ring(8, 2**33, fabric(**PFC), until_ps=10**11)
    # eight senders into one are no more than the one receives, where nothing is lost
    flows = tuple(PortFlow(src=host, dst=8) for host in range(8))
    scene = {"leaves": (0,) * 9, "flows": flows, "host_Bps": C, "hop_ps": 1, "until_ps": 10**10}
    few, many = (
        events(PortScene(fabric=fabric(**given), **scene)) for given in (PFC, {"queue": 64 * PACKET})
    )
    assert many == 8 * few == 8 * 2 * 3 * (10**10 * C // (PACKET * 10**12))


def test_another_engine_knows_no_queues():
    with pytest.raises(ScenarioError, match="knows no queues"):
        simulate_ports(victim(2, fabric(**PFC)), "arrays")


def test_a_message_counts_when_it_is_through_and_not_when_its_bytes_are_counted():
    flows = (PortFlow(src=0, dst=1, nbytes=1, messages=2),)
    scene = PortScene(fabric=fabric(), leaves=(0, 0), flows=flows, host_Bps=C, hop_ps=1)
    trace = simulate_ports(scene)
    assert [end.message for end in trace.messages] == [0, 1]
    assert trace == simulate_ports(scene, "referee")
