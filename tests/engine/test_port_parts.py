"""The parts of the engines of ports, each with literals: rates, shares that are lost or marked, queues, and both ends of a flow."""

import pytest
from port_scenes import PACKET, C, fabric, victim

from peerlab.base.errors import ScenarioError
from peerlab.engine.ports import port_forms as forms
from peerlab.engine.ports.fair_rates import fair_rates
from peerlab.engine.ports.loop_port import LoopPort
from peerlab.engine.ports.port_laws import Losses, Marks, Shed, follow_ps
from peerlab.engine.ports.port_limits import MOST_EVENTS, MOST_HOSTS
from peerlab.engine.ports.port_loop import run_ports
from peerlab.engine.ports.port_scene import MarkedRates, PortFlow, PortScene
from peerlab.engine.ports.port_sender import ends_of
from peerlab.engine.ports.rate_control import ALPHA, SenderRate
from peerlab.engine.ports.scene_checks import events, hops
from peerlab.engine.ports.sender_events import SenderEvents
from peerlab.engine.referee.port_processes import PortReferee

RULE = MarkedRates(
    kmin=1000, kmax=2000, pmax_ppb=10**8, cnp_ps=1, alpha_ps=1, timer_ps=1, byte_counter=100, recoveries=1, rai_Bps=10
)  # fmt: skip


def test_one_packet_goes_through_two_ports_a_hop_after_the_other():
    """4178 bytes at 12.5 GB/s are 334,240 ps; the second port begins as soon as the first packet is there."""
    scene = PortScene(
        fabric=fabric(),
        leaves=(0, 0),
        flows=(PortFlow(src=0, dst=1, nbytes=4096),),
        host_Bps=C,
        hop_ps=200_000,
    )
    for trace in (run_ports(scene), PortReferee(scene).run()):
        assert [(cell.link, cell.start_ps, cell.end_ps) for cell in trace.cells] == [
            (0, 0, 334_240),
            (3, 534_240, 868_480),
        ]
    assert follow_ps(3 * PACKET, PACKET, 200_000, scene.links[0]) == 534_240
    assert (hops(scene, scene.flows[0]), events(scene)) == (2, 6)


def test_a_scene_has_at_most_64_hosts_and_ten_million_events():
    assert (MOST_HOSTS, MOST_EVENTS) == (64, 10**7)
    with pytest.raises(ScenarioError, match="65 hosts; queues are simulated for 2 to 64"):
        victim(62, fabric())


def test_sprayed_flows_share_all_trunks():
    given = {"leaves": (0, 0, 0, 1, 1, 1, 2), "trunks": 3, "trunk_Bps": C // 2, "spray": True}
    flows = tuple(PortFlow(src=host, dst=host + 3) for host in range(3))
    scene = PortScene(fabric=fabric(), flows=flows, host_Bps=C, hop_ps=1, until_ps=1, **given)
    assert fair_rates(scene) == [C // 2] * 3
    assert [scene.between(flow, 15) for flow in flows] == [(15, 27)] * 3
    assert scene.links[27].name == "spine 1 to leaf 1"


def test_four_senders_into_one_have_a_quarter_each_and_the_victim_its_own_rate():
    scene = victim(4, fabric())
    assert fair_rates(scene) == [C // 4] * 4 + [C]
    for trunk in (0.5, 1.0, 1.1, 1.5, 2.0):
        fair = fair_rates(victim(4, fabric(), trunk=trunk))[-1]
        assert fair == pytest.approx(forms.victim_flow_fair(4, trunk) * C, rel=1e-6)


def test_one_packet_in_four_is_lost_at_even_distances():
    losses = Losses(fabric(loss_ppb=250_000_000), 0)
    assert [losses.among(1) for _ in range(8)] == [1, 1, 1, 0, 1, 1, 1, 0]


def test_a_queue_in_the_middle_of_the_ramp_marks_half_of_the_largest_share():
    marks = Marks(RULE)
    assert [marks.share_ppb(queued) for queued in (1000, 1500, 2000, 2001)] == [0, 5 * 10**7, 10**8, 10**9]
    assert [marks.marked(1500, 1) for _ in range(40)].count(True) == 2


def test_a_full_queue_loses_of_each_flow_in_proportion_to_what_it_sent():
    """Three cells come in a round and two leave: one of three is lost, of the flow that sends two as of the one that sends one."""
    shed, lost, queued = Shed(holds=1000), {0: 0, 1: 0}, 0
    for _ in range(600):
        for flow in (0, 0, 1):
            gone = shed.loses(flow, 100, queued)
            lost[flow] += gone
            queued += 0 if gone else 100
        queued = max(0, queued - 200)
    assert lost[0] == pytest.approx(400, rel=0.05)
    assert lost[1] == pytest.approx(200, rel=0.05)


def test_a_notification_halves_the_rate_and_the_timer_brings_half_of_the_way_back():
    rate = SenderRate(RULE, line_Bps=1000, fair_Bps=100)
    rate.notified()
    assert (rate.current, rate.target, rate.alpha) == (500, 1000, ALPHA)
    rate.timed()
    assert (rate.current, rate.gap_ps(750)) == (750, 10**12)
    assert not rate.sent(99)
    assert rate.sent(1)
    assert rate.current == 875


def test_a_port_gives_its_lanes_turns_and_keeps_what_has_no_credits():
    scene = victim(2, fabric(vls=2, credits=2 * PACKET), vl=1)
    ends = ends_of(scene)
    port = LoopPort(2 * scene.hosts, scene, [])
    for one in (ends[0], ends[0], ends[2]):
        one.allow(1)
        cell = one.send(one.next, 1, PACKET)
        port.queues[cell.vl].append((cell, port, 0))
    port.pool = [PACKET, PACKET]
    assert [port.next_waiting()[0].vl for _ in range(2)] == [0, 1]
    port.pool[0] = 0
    assert port.next_waiting() is None
    assert port.lacks_credits


def test_the_last_packet_of_a_message_is_short_and_what_is_sent_again_says_so():
    flow = PortFlow(src=0, dst=1, nbytes=5000)
    scene = PortScene(
        fabric=fabric(recovery="go-back-n", loss_ppb=1), leaves=(0, 0), flows=(flow,), host_Bps=C, hop_ps=1
    )
    (one,) = ends_of(scene)
    one.allow(1)
    assert [one.wire(0, 1), one.wire(1, 1)] == [4178, 4178 - (2 * 4096 - 5000)]
    assert not one.send(0, 1, 4178).again
    one.go_back(0)
    assert one.send(0, 1, 4178).again


def test_flows_begin_when_they_say_and_those_with_a_fair_rate_have_their_timers():
    pushed = []
    scene = victim(2, fabric())
    SenderEvents(ends_of(scene), scene, lambda *event: pushed.append(event), trace=None).begin()
    assert [event[0] for event in pushed] == [0, 0, 0]
