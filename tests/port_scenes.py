"""Scenes of ports for tests: random ones of every kind of fabric, and those of the laws."""

from itertools import pairwise

from hypothesis import strategies as st

from peerlab.engine.ports.port_scene import (
    RECOVERIES,
    STARTS,
    MarkedRates,
    PortFabric,
    PortFlow,
    PortScene,
)

C = 12_500_000_000
"""100 Gb/s."""
PACKET = 4178
"""Bytes of a full packet of RoCE v2 with 4096 bytes of payload."""
PFC = {"xoff": 64 * PACKET, "xon": 48 * PACKET, "headroom": 100 * PACKET}
_P = 1000


def fabric(**given):
    """A fabric of full packets of 4178 bytes, where a pause takes 500 ns to be heeded."""
    return PortFabric(**{"name": "test", "mtu": 4096, "header": 82, "processing_ps": 500_000} | given)


def victim(senders, given, trunk=2.0, vl=0, until=2 * 10**9, **more):
    """n hosts send to one below the other leaf; one more sends to another host there, over the same trunk."""
    flows = [PortFlow(src=i, dst=senders + 1) for i in range(senders)]
    flows.append(PortFlow(src=senders, dst=senders + 2, vl=vl))
    scene = {"hop_ps": 200_000, "trunk_Bps": int(trunk * C), "host_Bps": C, "until_ps": until}
    scene["leaves"] = (0,) * (senders + 1) + (1, 1)
    return PortScene(fabric=given, flows=tuple(flows), **scene | more)


def ring(nodes, nbytes, given, **more):
    """A blocking ring of one leaf."""
    flows = tuple(
        PortFlow(src=i, dst=(i + 1) % nodes, nbytes=nbytes // nodes, messages=2 * (nodes - 1), after=(i - 1) % nodes)
        for i in range(nodes)
    )  # fmt: skip
    scene = {"hop_ps": 200_000, "host_Bps": C, "leaves": (0,) * nodes}
    return PortScene(fabric=given, flows=flows, **scene | more)


def _pauses(draw, cell):
    xoff = _P * cell * draw(st.integers(2, 12))
    return {"xoff": xoff, "xon": draw(st.integers(_P * cell, xoff)), "headroom": 10**7}


def _lossy(draw, cell):
    losses = {
        "loss_ppb": draw(st.sampled_from([0, 10**7, 10**8])),
        "loss_seed": draw(st.sampled_from([None, 3])),
    }
    return _sent_again(draw) | losses | {"queue": _P * cell * draw(st.integers(1, 8))}


def _sent_again(draw):
    recovery = draw(st.sampled_from(RECOVERIES))
    return {
        "recovery": recovery,
        "recovery_ps": draw(st.sampled_from([0, 3_000_000])),
        "timeout_ps": 20_000_000,
    }


def _overrun(draw, cell):
    room = {"headroom": _P * draw(st.integers(0, 6)), "overrun": "drop"}
    return _pauses(draw, cell) | room | _sent_again(draw)


def _marked(draw, cell):
    rule = MarkedRates(
        kmin=2 * _P, kmax=20 * _P, pmax_ppb=10**8, cnp_ps=5_000_000, alpha_ps=5_500_000, timer_ps=5_500_000,
        byte_counter=100 * _P, recoveries=2, rai_Bps=10**8, rhai_Bps=draw(st.sampled_from([0, 10**9])),
        start=draw(st.sampled_from(STARTS)),
    )  # fmt: skip
    return _pauses(draw, cell) | {"marking": rule}


def _credits(draw, cell):
    return {"credits": _P * cell * draw(st.integers(1, 6))}


KINDS = {
    "plain": lambda _, __: {},
    "credits": _credits,
    "pauses": _pauses,
    "lossy": _lossy,
    "overrun": _overrun,
    "marked": _marked,
}


def _flows(draw, hosts, vls):
    flows = []
    for number in range(draw(st.integers(1, 6))):
        src = draw(st.integers(0, hosts - 1))
        given = {"src": src, "dst": (src + draw(st.integers(1, hosts - 1))) % hosts}
        given |= {"vl": draw(st.integers(0, vls - 1)), "start_ps": draw(st.sampled_from([0, 0, 777_000]))}
        if number and draw(st.integers(0, 2)) == 0:
            flows.append(PortFlow(**given))
            continue
        before = [None, *(k for k in range(number) if flows[k].messages > 1)]
        after = draw(st.sampled_from(before))
        most = 3 if after is None else flows[after].messages + 1
        sizes = {"nbytes": draw(st.integers(1, 40_000)), "messages": draw(st.integers(1, most))}
        flows.append(PortFlow(**given, **sizes, after=after))
    return tuple(flows)


def _jobs(draw, hosts, vls):
    """One or two rings on hosts of their own, collective after collective; alone or beside a flow that never ends."""
    order = draw(st.permutations(range(hosts)))
    cuts = sorted({0, draw(st.sampled_from([hosts, hosts // 2, 2])), hosts})
    flows = []
    for first, last in pairwise(cuts):
        ring, rings = order[first:last], draw(st.integers(1, 2))
        if len(ring) < 2:
            continue
        steps, given = (
            2 * (len(ring) - 1),
            {"nbytes": draw(st.integers(1, 9000)), "vl": draw(st.integers(0, vls - 1)), "job": str(first)},
        )
        given |= {
            "start_ps": draw(st.sampled_from([0, 0, 777_000])),
            "compute_ps": draw(st.sampled_from([1, 500_000, 3_000_000])),
        }
        given |= {"collective": steps, "messages": steps * draw(st.integers(1, 3))}
        begin = len(flows)
        flows += [
            PortFlow(
                src=host,
                dst=ring[(i + 1) % len(ring)],
                after=begin + k * len(ring) + (i - 1) % len(ring),
                **given,
            )
            for k in range(rings)
            for i, host in enumerate(ring)
        ]
    if not flows or draw(st.booleans()):
        flows.append(PortFlow(src=0, dst=1, start_ps=draw(st.sampled_from([0, 2_000_000]))))
    return tuple(flows)


JOBS = (_jobs,)
"""Of `scenes`: flows of jobs alone."""


@st.composite
def scenes(draw, kinds=tuple(KINDS), until=100_000_000, flows=(_flows, _flows, _jobs)):
    """Any scene that is small."""
    kind, cell = draw(st.sampled_from(kinds)), draw(st.sampled_from([1, 1, 2, 5]))
    vls = draw(st.integers(1, 3))
    processing = draw(st.sampled_from([0, 1000, 500_000]))
    given = KINDS[kind](draw, cell)
    leaves = tuple(draw(st.lists(st.integers(0, draw(st.sampled_from([1, 1, 3]))), min_size=2, max_size=6)))
    flows = draw(st.sampled_from(flows))
    return PortScene(
        fabric=PortFabric(name=kind, mtu=918, header=82, vls=vls, processing_ps=processing, **given),
        leaves=leaves, flows=flows(draw, len(leaves), vls), host_Bps=C, trunk_Bps=draw(st.sampled_from([C, 2 * C, C // 3])),
        trunks=draw(st.integers(1, 3)), hop_ps=draw(st.sampled_from([1, 80_000, 200_000])),
        latency_ps=draw(st.sampled_from([1, 1_000_000])), cell_packets=cell, until_ps=until,
        spray=draw(st.booleans()), seed=draw(st.integers(0, 8)),
    )  # fmt: skip
