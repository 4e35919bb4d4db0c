"""The section of docs/model.md on queues: what cells in ports do, their laws beside what is simulated, several jobs, and what stays out."""

from collections.abc import Iterator, Mapping
from typing import Any

from documents import plain, table
from model_laws import Law

from peerlab.base.units import say_percent
from peerlab.engine.ports import port_forms as forms
from peerlab.study.jobs_answer import SharedFabric, shared_fabric
from peerlab.study.port_answer import PortAnswer, answer_ports
from peerlab.study.port_figures import port_fabrics
from peerlab.study.port_question import port_question

HEAD = """\
## Neighbours: queues, pauses, credits and losses

On a ring over a fabric that never limits every port has one sender, so nothing above ever waits in a switch. `peerlab neighbours` (`peerlab.neighbours`) simulates what happens
once somebody else sends, or something is lost: up to 64 hosts below two leaf switches with a trunk between them (`--leaves 1`: below one switch), an AllReduce as a blocking ring (half of its nodes below each
leaf, one accelerator a host), and neighbours: `incast(n)` into one of its hosts, `neighbour(n)` past it into a host of their own, `collide(n)` over trunks that a hash chooses,
`job(n)`, the AllReduce of another job, again and again;
`victim(n)` and `senders(n)` are scenes without an AllReduce.

Bytes cross the network as *cells*, whole packets that move together: by default a sixteenth of the smallest threshold, 4 to 64 KiB. A port serves its lanes in turn, cells of a lane in
order of arrival. A cell may leave the next port once its first packet is there, and holds the ingress account of the link it came by until it has left that port. A receiver takes
everything at once; a host serves its flows in turn.

* *Credits* (`infiniband`): a cell leaves only if credits cover it; they come back a hop and `processing` after it has left the next buffer. Nothing is lost.
* *Pauses* (`roce-pfc`): an account above XOFF pauses the port that feeds it, one below XON lets it go on, each after a hop and `processing`. What goes beyond XOFF and headroom ends
  the scene with the bytes that would have been lost.
* *Losses* (`roce-lossy`): a queue that is full loses cells, a share of each flow's in proportion to what it sent. `loss` takes packets besides. What is lost is sent again a round trip
  and `recovery` later: it alone (`selective`), everything since (`go-back-n`), or its message (`go-back-0`). Nobody slows down.
* *Marks* (`roce-dcqcn`): pauses, and queues that mark packets between Kmin and Kmax. A marked packet makes its receiver notify the sender, at most once in `cnp`; the sender's rate falls
  by alpha/2 and rises by timer and byte counter. `start` decides the picture: `cold` is line rate with alpha 1, `fair` the max-min share.

Shares that are lost or marked are diffused errors: each flow carries in whole numbers what it owes, and loses a packet once it owes a whole one. A queue that drops by "full at this
picosecond" would lock out whoever arrives in the wrong phase. Time is whole picoseconds, rates whole bytes a second. In one instant cells end, signals arrive, cells arrive, pauses
are decided, ports begin; ties go by number. SimPy referees the loop: their spans, pauses, signals, losses and rates are equal (`==`) on random scenes of every kind; both ends of
a flow (what is next, sent again, notified) are one piece of code for both. More than 10 million events are refused with the size that fits.

All that happens is in the trace: cells with the moment from which they waited, and whether a queue had marked them; pauses; waits for credits, and credits on their way back; messages
on their way that begin or end a pause, or notify a sender; packets that were marked, dropped, lost or discarded; rates of senders and their target rates. The length of a queue and the bytes sent twice follow from it.

C: rate of a host on the wire, g: goodput, n: senders, T: the trunk in units of C, N: nodes, d: a hop, B: credits, W: packets in a round trip and the recovery, p: share of packets.

"""
NOTES = """
F4 holds where XOFF is far above what flies until a pause is heeded. With the default thresholds (135 and 108 KB, 2 us) pauses come in bursts as large as their distance, and senders that
are alike get 0.23 to 0.29 of C where n = 4, whoever is in phase: begins a part of a packet apart or 1 % of jitter move such a share by as much. F5b (each flow has its max-min share) is what DCQCN comes to after many milliseconds; cold it falls to a tenth
first, and rises by R_AI/timer. That transient is the parameters' and is held against no hardware. Where F12's share of marks is above Pmax there is no fixed point on the ramp.
Losses come at even distances, so that a short scene has its share of them; going back to the begin of a message (F11, `go-back-0`) depends on which messages are hit, so it meets its form
with losses that are drawn (`--loss-seed`). At even distances a message that is longer than they are never arrives.

"""
FIXED = """
### DCQCN's fixed point

F12 solves DCQCN's own equations for the share of packets that is marked; F13 is its authors' approximation, which is too large. 100 Gb/s, R_AI 40 Mb/s, 10 MB, 55 us, F = 5, g = 1/256, packets
of 1000 bytes, Kmin 5 KB, Kmax 200 KB, Pmax 1 %:

"""
ECMP = """
Flows that a hash puts on equal paths (F15, exact): the fullest has so many times an even load, and so many draws have no collision. `--spread spray` lets each cell take the path where least
waits.

"""
JOBS = """
### Several jobs

`peerlab jobs` (`peerlab.shared_fabric`): two to eight jobs on hosts of their own, each a ring that computes between its collectives, at max-min fair rates, in exact fractions; latency and
queues are left out. Shares are per flow, so a job with two flows for each transfer has two. Two equal jobs keep their offset for ever under fair sharing; if the first has share a of
the link while both send, the overlap shrinks by 1/a - 1 each time. The victim is the job with the largest slow-down; the culprit the one without which it wins four fifths of what it
lost, if there is one. Exchange 6 s, computing 6 s, a link of one host's rate:

"""
CELLS = """
With a fabric (`--fabric`, `shared_fabric(..., fabric="roce-pfc")`) the same jobs are cells in ports: rings, begins and computing are the same, latency, headers, queues, pauses,
credits, marks and losses come on top. Two leaves are joined by `--trunks` links; more hang below so many spines, which are a hop more, and a hash or `--spread spray` chooses among them. A collective begins once the last host of its job has the one before and the job has computed. A job with several flows is as many rings, each
with its part of the bytes, as channels of a library are; each job has a lane; weights are refused, as ports have none. In a job's way is whose cells left the uplink while its own waited
there. Slow-downs of both jobs, 16 MiB each on rings of four, leaves of four, cells of 16 KiB:

"""
CELLS_NOTE = """
Latency is the difference: no uplink makes it longer. **Two flows are two shares only where each flow is slowed down by itself.** A port of `infiniband` or `roce-pfc` serves cells in their order,
and hosts that are paused alike send alike, whatever flows they have: the offset stays 0. With DCQCN (cold) each flow has a rate, and the second job slides out of the first one's way. By how
much is its parameters', which is held against no hardware: cold, DCQCN makes every exchange longer than max-min rates do. On `roce-lossy` nobody slows down: two jobs on one uplink lose each other's packets until the scene is cut.
SRD (`srd`) is refused: what its senders do when a queue grows is not published.

"""
LEFT_OUT = """
### What stays out of queues

Dynamic thresholds of shared buffers (Broadcom's alpha); weights between classes (ETS); deadlocks of pauses (only routes up and down, which have none) and watchdogs; InfiniBand's own
congestion control (FECN, BECN, CCT) and adaptive routing inside it; IRN's cap on bytes in flight; TIMELY, HPCC, Swift, ZTR; SRD's congestion control (`srd` is refused); TCP's windows; the bandwidth of
acknowledgements; PCIe flow control and the timing of completions; misses of an IOMMU; coherence of CXL; caches of a NIC (QP and MTT misses); forward error correction, and bit errors beyond
`loss`; a tier above spines; the host's own copies and PCIe switches. A loss of a sender's last packet costs `timeout`, which libraries set otherwise.

### What fabrics do, in figures

"""
_PAUSES = {"hop": 0.2, "processing": 0.5, "xoff": 267392, "xon": 200544}
_CREDITS = {"header": 82, "hop": 0.2, "processing": 0.5, "credits": 267392}
_RATE, _PACKET = 12.5e9, 4178


def section() -> str:
    """Return the section."""
    laws = [law.check() for law in (*_victims(), *_flow_control(), *_losses())]
    head = ["", "what", "formula", "example", "by hand", "simulated", "agree to"]
    rows = [
        [*law.what.split(": ", 1), f"`{law.formula}`", law.example, law.say(law.by_hand), law.say(law.simulated), f"{100 * law.tolerance:g} %"]
        for law in laws
    ]  # fmt: skip
    return "".join(
        [
            HEAD,
            table(head, rows),
            NOTES,
            FIXED,
            _fixed(),
            ECMP,
            _ecmp(),
            JOBS,
            _jobs(),
            CELLS,
            _cells(),
            CELLS_NOTE,
            LEFT_OUT,
            *_figures(),
        ]
    )


def _share(value: float) -> str:
    return f"{value:.4f}"


def _asked(figures: Mapping[str, float], **given: Any) -> PortAnswer:
    return answer_ports(port_question(figures=figures, **{"cell": 4096, **given}))


def _victims() -> Iterator[Law]:
    for senders in (2, 4, 8):
        for fabric, figures in (("roce-pfc", _PAUSES), ("infiniband", _CREDITS)):
            answer = _asked(figures, fabric=fabric, neighbour=f"victim({senders})")
            yield Law(
                "F4: victim in one class or lane", "C/n, if T >= 1 + 1/n", f"{answer.title}, n = {senders}, T = 2",
                forms.victim_one_class(senders, 2.0), answer.share, _share, tolerance=0.02,
            )  # fmt: skip
    for trunk in (1.5, 2.0):
        answer = _asked(_CREDITS, fabric="infiniband", neighbour="victim(4)", vls=2, trunk=trunk)
        yield Law(
            "F5: victim in a lane of its own", "min(C, max(T/2, T - 1) C)", f"{answer.title}, n = 4, T = {trunk:g}",
            forms.victim_own_class(trunk)[0], answer.share, _share, tolerance=0.01,
        )  # fmt: skip
    answer = _asked(
        {"hop": 0.2, "queue": 267392}, fabric="roce-lossy", neighbour="victim(4)", recovery="none"
    )
    yield Law(
        "F6: victim of a queue that loses", "C min(1, T/(n+1))", "n = 4, T = 2", forms.victim_lossy(4, 2.0), answer.share, _share, tolerance=0.01
    )  # fmt: skip


def _flow_control() -> Iterator[Law]:
    for packets in (4, 8):
        figures = {"header": 82, "hop": 0.5, "processing": 0.5, "credits": packets * _PACKET}
        answer = _asked(figures, fabric="infiniband", neighbour="senders(1)")
        yield Law(
            "F8: rate that credits allow", "C min(1, B / (C (2d + processing + 2 packets)))", f"{packets} packets, d = processing = 0.5 us",
            forms.credit_rate(packets * _PACKET, _RATE, 0.5e-6, 0.5e-6, _PACKET, _PACKET), answer.neighbours, _share, tolerance=1e-3,
        )  # fmt: skip
    figures = _PAUSES | {"hop": 1.0, "processing": 2.0, "xon": 66848}
    yield Law(
        "F3: receiver that n hosts send to", "C, if XON >= C (2d + reaction)", "n = 4, 16 packets, d = 1 us, 2 us", 1.0,
        _asked(figures, fabric="roce-pfc", neighbour="victim(4)").neighbours, _share, tolerance=5e-3,
    )  # fmt: skip
    alone = answer_ports(port_question(fabric="roce-pfc", neighbour="quiet", message_bytes="64 MiB"))
    by_hand = forms.ring_s(8, 5e-6, 2**26, _RATE * forms.goodput(4096, 82))
    yield Law(
        "F2: ring alone, milliseconds", "2(N-1)(L + S/(N C g))", "8 nodes, 64 MiB, L = 5 us", 1e3 * by_hand, alone.time_ps / 1e9, _share, tolerance=2e-3
    )  # fmt: skip
    beside = _asked(_CREDITS, fabric="infiniband", neighbour="neighbour(4)", message_bytes="16 MiB")
    by_hand = forms.ring_s(8, 5e-6, 2**24, _RATE * forms.goodput(4096, 82), 1 / 4)
    yield Law(
        "F7: ring whose trunk n senders share, milliseconds", "2(N-1)(L + S n/(N C g))", "8 nodes, 16 MiB, n = 4", 1e3 * by_hand, beside.time_ps / 1e9,
        _share, tolerance=0.05,
    )  # fmt: skip


def _losses() -> Iterator[Law]:
    for window in (24, 120, 1500):
        recovery = window * _PACKET / _RATE * 1e6 - 4 * 0.2 - 2 * _PACKET / _RATE * 1e6
        given = {"fabric": "roce-lossy", "neighbour": "senders(1)", "until_ms": 10.0}
        answer = _asked({"hop": 0.2, "recovery": recovery}, loss=1e-3, recovery="go-back-n", **given)
        yield Law(
            "F10: goodput of going back", "(1 - p)/(1 + p W)", f"p = 0.001, W = {window}", forms.go_back_n(1e-3, window), answer.counted, _share,
            tolerance=0.03,
        )  # fmt: skip
    answer = _asked({}, fabric="roce-lossy", neighbour="senders(1)", loss=1e-2, recovery="selective")
    yield Law(
        "F11: goodput of selective repeat",
        "1 - p",
        "p = 0.01",
        forms.selective(1e-2),
        answer.counted,
        _share,
        tolerance=5e-3,
    )


def _fixed() -> str:
    rows = []
    for senders in (2, 4, 8, 16, 64):
        marked, paper = forms.dcqcn(senders, 100e9), forms.dcqcn_paper(senders, 100e9)
        queue = forms.dcqcn_queue(marked, 5, 200, 0.01)
        rows.append(
            [
                str(senders),
                f"{marked:.3e}",
                f"{queue:.1f} KB" if queue < 1e3 else "none on the ramp",
                f"{paper:.3e}",
                say_percent(paper / marked - 1, sign=True),
            ]
        )
    return table(["senders", "F12: marked", "queue", "F13: marked", "above F12 by"], rows)


def _ecmp() -> str:
    rows = []
    for flows, paths in ((4, 2), (4, 4), (8, 4), (8, 8), (16, 16)):
        fullest, apart = forms.ecmp(flows, paths)
        rows.append([str(flows), str(paths), f"{fullest:.3f}", say_percent(apart, 2)])
    return table(["flows", "paths", "fullest", "no collision"], rows)


def _together(offset_s: int, **more: Any) -> SharedFabric:
    both = {"compute_ms": 6000, "repeats": 5}
    jobs = [
        {"hosts": [0, 1, 4, 5], **both, **more},
        {"hosts": [2, 3, 6, 7], **both, "offset_ms": 1000 * offset_s},
    ]
    return shared_fabric(jobs, message_bytes="50 GB")


def _jobs() -> str:
    rows = []
    for what, found in (
        ("offset 0", _together(0)),
        ("offset 2 s", _together(2)),
        ("offset 6 s", _together(6)),
        ("offset 0, the first has two flows", _together(0, flows=2)),
    ):
        trace = found.trace
        cells = [
            ", ".join(f"{float(one):g}" for one in times)
            for times in (trace.offsets(1), trace.periods(0), trace.periods(1))
        ]
        rows.append([what, *cells])
    return table(["", "offsets, s", "periods of the first, s", "of the second, s"], rows)


def _cells() -> str:
    plain_a, plain_b, strided_a, strided_b = [0, 1, 4, 5], [2, 3, 6, 7], [0, 4, 1, 5], [2, 6, 3, 7]
    turns = {"compute_ms": 2.06, "repeats": 4}
    cases: tuple[tuple[str, str, list[dict[str, Any]], float], ...] = (
        ("D1: rings that cross the uplink once a step", "2, 2", [{"hosts": plain_a}, {"hosts": plain_b}], 1),
        ("D2: rings that cross it twice", "2, 2", [{"hosts": strided_a}, {"hosts": strided_b}], 1),
        ("D3: one that crosses twice beside one that crosses once", "1.5, 3", [{"hosts": strided_a}, {"hosts": plain_b}], 1),
        ("D4: the same, uplink 2", "1.5, 1.5", [{"hosts": strided_a}, {"hosts": plain_b}], 2),
        ("D5: as much computing, offset 0, the last collective", "2, 2", [{"hosts": plain_a, **turns}, {"hosts": plain_b, **turns}], 1),
        ("D5: offset of a third", "1.667, 1.667", [{"hosts": plain_a, **turns}, {"hosts": plain_b, **turns, "offset_ms": 0.687}], 1),
        ("D7: as D5, the first has two flows", "1.062, 1.125", [{"hosts": plain_a, **turns, "flows": 2}, {"hosts": plain_b, **turns}], 1),
    )  # fmt: skip
    rows = []
    for what, law, jobs, uplink in cases:
        row = [what, law]
        for fabric in ("infiniband", "roce-pfc", "roce-dcqcn"):
            found = shared_fabric(jobs, message_bytes="16 MiB", uplink=uplink, fabric=fabric, cell="16 KiB")
            row.append(", ".join(f"{float(found.slowdowns(job)[-1]):.3g}" for job in (0, 1)))
        rows.append(row)
    return table(
        [
            "slow-downs of the first and second job",
            "max-min",
            *(port_fabrics()[name].title for name in ("infiniband", "roce-pfc", "roce-dcqcn")),
        ],
        rows,
    )


def _figures() -> Iterator[str]:
    for name, fabric in port_fabrics().items():
        yield f"`{name}`, {fabric.title}: {fabric.does}.\n\n"
        rows = []
        for key, figure in fabric.figures.items():
            between = f" ({figure.range[0]:g} to {figure.range[1]:g})" if figure.range else ""
            source = "; ".join(
                filter(None, (figure.source, figure.assumption and f"assumed: {figure.assumption}{between}"))
            )
            rows.append(
                [
                    f"`{key}`" + (" †" if figure.assumption else ""),
                    f"{figure.value:g}",
                    figure.unit,
                    plain(source),
                ]
            )
        yield table(["figure", "value", "unit", "source, or what is assumed"], rows) + "\n"
