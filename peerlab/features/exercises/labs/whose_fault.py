"""Exercises of lab 10: who pays when others send, what a lost packet costs, two jobs, and what counters tell."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from peerlab.base.data_frames import pd
from peerlab.engine.ports.port_forms import ecmp, go_back_n
from peerlab.features.exercises.exercise import Bound, Choice, Mistake, Number
from peerlab.features.exercises.labs.port_counters import CAUSES, answered, counters, of_cause, of_lost_tail
from peerlab.features.exercises.labs.unseen import unseen_fault
from peerlab.study.jobs_answer import SharedFabric, shared_fabric
from peerlab.study.port_figures import port_fabrics

VICTIM: dict[str, Any] = {"neighbour": "victim(4)", "until_ms": 2}
"""Four hosts send into one, and a fifth over the same trunk into another one."""
IB, PFC, LOSSY = "infiniband", "roce-pfc", "roce-lossy"
_CREDITS, _TRUNK, _BUFFERS, _LANE = (
    "InfiniBand's credits in place of pauses",
    "a trunk four times as wide",
    "buffers four times as large",
    "a lane or a class of its own",
)
_LARGER = 4


def _changes(fabric: str) -> Mapping[str, dict[str, Any]]:
    """Return what is offered to the victim, as fields of a question."""
    names = {IB: ("credits",), PFC: ("xoff", "xon")}[fabric]
    figures = tuple((name, _LARGER * port_fabrics()[fabric].figures[name].value) for name in names)
    return {_TRUNK: {"trunk": 2 * _LARGER}, _BUFFERS: {"figures": figures}, _LANE: {"vls": 2}}


def share(fabric: str, change: str = "") -> float:
    """Return the share of a host's rate that the victim has, with one thing changed."""
    return answered(fabric=fabric, **VICTIM, **(_changes(fabric)[change] if change else {})).share


def _worth(option: str) -> float:
    """Return the least share that the victim has with what is offered, on the fabrics that have it."""
    return share(IB) if option == _CREDITS else min(share(fabric, option) for fabric in (IB, PFC))


def freed() -> pd.DataFrame:
    """Return the victim's share of its rate on two fabrics, as it is and with one thing changed."""
    rows = {"as it is": "", **{option: option for option in (_TRUNK, _BUFFERS, _LANE)}}
    table = {
        setting: {"InfiniBand": share(IB, change), "RoCE, pauses": share(PFC, change)}
        for setting, change in rows.items()
    }
    return pd.DataFrame.from_dict(table, orient="index").rename_axis("the victim's share of its rate")


LINE_GBPS = 100
_GAP_US = 500
"""How long a NIC's simulator waits between two complaints about a gap (ns-3's RdmaHw)."""


@cache
def counted(loss: float, recovery_us: float, recovery: str = "go-back-n") -> float:
    """Return the share of what arrives over a link that its receiver can use, simulated for 60 ms."""
    return answered(
        fabric=LOSSY, neighbour="senders(1)", loss=loss, recovery=recovery, figures=(("recovery", recovery_us),), until_ms=60
    ).counted  # fmt: skip


def losses() -> pd.DataFrame:
    """Return what of 100 Gb/s counts, by how many packets are lost and by what a gap costs."""
    kinds = {
        "only what was lost": (0, "selective"),
        "all since the gap, at once": (0, "go-back-n"),
        "all since the gap, after 180 µs": (180, "go-back-n"),
        f"all since the gap, after {_GAP_US} µs": (_GAP_US, "go-back-n"),
    }
    rows = {
        f"1 in {round(1 / loss):,}": {
            setting: LINE_GBPS * counted(loss, wait, how) for setting, (wait, how) in kinds.items()
        }
        for loss in (1e-3, 1e-2)
    }
    return (
        pd.DataFrame.from_dict(rows, orient="index").rename_axis("packets lost").T.rename_axis("sent again")
    )


def _packet_us() -> float:
    figures = port_fabrics()[LOSSY].figures
    return 8e-3 * (figures["mtu"].value + figures["header"].value) / LINE_GBPS


def _left(loss: float = 0.01, wait_us: float = _GAP_US) -> float:
    """Return by F10 what of 100 Gb/s counts."""
    return LINE_GBPS * go_back_n(loss, wait_us / _packet_us())


CROSSING = ({"hosts": [0, 4, 1, 5]}, {"hosts": [2, 3, 6, 7]})
"""Two jobs of four hosts, below two leaves of four: every transfer of the first goes over an uplink, one of the second each way."""


@cache
def two_jobs() -> SharedFabric:
    """Return what two jobs do to each other."""
    return shared_fabric(CROSSING)


def _paying() -> str:
    lost = two_jobs().lost
    return {(True, False): _FIRST, (False, True): _SECOND}.get((lost[0] > lost[1], lost[1] > lost[0]), _ALIKE)


_FIRST, _SECOND, _ALIKE = (
    "job 0, as it sends more over the uplinks",
    "job 1, as it sends less over them",
    "both alike",
)
_KEEPS, _SLIDES, _GONE = "it stays, in every step", "it halves in each step", "it is gone after one step"


def _in_the_way() -> str:
    """Return what becomes of the overlap of two jobs that compute as long as they exchange, the second begun a third of it later."""
    unit_ms = 1e3 * float(two_jobs().alone[1])
    rings = ([0, 1, 4, 5], [2, 3, 6, 7])
    jobs: list[dict[str, Any]] = [
        {"hosts": ring, "compute_ms": round(unit_ms, 9), "repeats": 4} for ring in rings
    ]
    jobs[1]["offset_ms"] = round(unit_ms / 3, 9)
    offsets = shared_fabric(jobs).trace.offsets(1)
    return _KEEPS if abs(float(offsets[-1] - offsets[0])) < 1e-9 else _SLIDES


XOFFS = ((135_000, 108_000), (80_000, 60_000), (40_000, 20_000), (30_000, 10_000))
_IDLES, _DROPS, _FREED, _SAME = (
    "the port that all wait for idles between pauses",
    "packets are lost",
    "the victim gets more",
    "nothing, but that pauses are shorter",
)


def _at_thresholds(xoff: int, xon: int) -> tuple[float, float, int]:
    """Return the share of the time in which the port that all wait for sends, the victim's share of its rate, and the packets that are lost."""
    answer = answered(fabric=PFC, figures=(("xoff", xoff), ("xon", xon)), **VICTIM)
    return answer.neighbours, answer.share, answer.packets("drop")


def thresholds() -> pd.DataFrame:
    """Return what the port that all wait for does, and what the victim has, with lower thresholds for pauses."""
    rows = {}
    for xoff, xon in XOFFS:
        busy, victim, lost = _at_thresholds(xoff, xon)
        rows[f"{xoff / 1000:.0f} and {xon / 1000:.0f} kB"] = {
            "the port that all wait for, % busy": 100 * busy,
            "the victim, % of its rate": 100 * victim,
            "packets lost": lost,
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("XOFF and XON")


def _too_low() -> str:
    busy, victim, _ = _at_thresholds(*XOFFS[0])
    less_busy, has, lost = _at_thresholds(*XOFFS[-1])
    if lost:
        return _DROPS
    return _FREED if has > victim else _IDLES if less_busy < 0.95 * busy else _SAME


_TAIL = "a link loses packets, the last one of a message among them"


def symptoms() -> pd.DataFrame:
    """Return what counters show of an AllReduce of 1 MiB on eight hosts, for each cause."""
    rows = {cause: counters(of_cause(cause)) for cause in CAUSES}
    rows[_TAIL] = counters(of_lost_tail())
    return pd.DataFrame(rows).T.rename_axis("cause")


def cures() -> pd.DataFrame:
    """Return what frees the victim of each cause."""
    return pd.DataFrame(
        {"what frees it": {cause: record.frees for cause, record in CAUSES.items()}}
    ).rename_axis("cause")


EXERCISES = (
    Choice(
        name="10-free",
        question="Four hosts send into one. A fifth sends into another host and meets them on the trunk only, which has twice the rate of a host. Pauses leave it a part of its rate only. What frees it?",
        options={
            _CREDITS: "Credits stop a port for all that waits in it, as pauses do. Who stands in front of the victim's bytes?",
            _TRUNK: "The trunk was not full. Who stands in front of the victim's bytes, where they wait?",
            _BUFFERS: "Larger buffers fill up as well, only later. In which order do bytes leave them?",
            _LANE: "",
        },
        truth=lambda: max((_CREDITS, _TRUNK, _BUFFERS, _LANE), key=_worth),
        called={_CREDITS: ("credits", "InfiniBand"), _TRUNK: ("trunk",), _BUFFERS: ("buffers",), _LANE: ("lane", "class", "virtual lane", "a lane of its own", "a class of its own")},
        hints=(
            "Where do the victim's bytes wait, and behind whom?",
            "They wait in the order in which they came, behind bytes for the full port. What gives them another queue?",
        ),
        why="In a queue of its own nobody stands in front of it. Credits and pauses alike stop a whole queue.",
        solution=f'"{_LANE}"',
    ),
    Number(
        name="10-loss",
        question=(
            f"A link of {LINE_GBPS} Gb/s loses one packet in 100. A packet takes {_packet_us():.3f} µs on the wire. The NIC hears of a gap after {_GAP_US} µs, "
            "and sends again all that it has sent since. What is the goodput?"
        ),
        unit="Gb/s",
        tolerance=0.06,
        truth=lambda: LINE_GBPS * counted(0.01, _GAP_US),
        mistakes=(
            Mistake(lambda: 99.0, "That would hold if only the lost packets were missing. How much is sent in vain after each of them?"),
            Mistake(lambda: _left(wait_us=8), "That would hold if the NIC heard of a gap after a round trip of 8 µs. It takes 500 µs here."),
            Mistake(lambda: _left(wait_us=180), "That is with 180 µs. It takes 500 µs here."),
            Mistake(lambda: _left(loss=0.001), "That is for one packet in 1,000."),
            Mistake(lambda: _left() / 8, "That is in GB/s. The question is about Gb/s."),
            Mistake(lambda: LINE_GBPS / (_GAP_US / _packet_us()), "That is one packet for each gap. How many arrive between two losses?"),
        ),
        bounds=(Bound(lambda: 99.0, "That is more than arrives at all.", above=True),),
        hints=(
            "Between two losses 100 packets arrive in the mean. How many are sent in vain after each loss?",
            f"{_GAP_US} µs are {_GAP_US / _packet_us():,.0f} packets. So about 100 of each {100 + _GAP_US / _packet_us():,.0f} are of use.",
        ),
        why="It is not the loss that costs, but what is sent in vain after it: some 1,500 packets for each one that is lost.",
        solution=f"100 * 100 / (100 + {_GAP_US} / {_packet_us():.3f})",
    ),
    Choice(
        name="10-jobs",
        question="Two jobs, each a ring of four hosts, hang below two leaves with one uplink each. In job 0 every transfer goes over an uplink, in job 1 one each way. Both run an AllReduce at once. Who is slowed down more?",
        options={
            _FIRST: "Job 0 waits for the uplinks when it is alone, too. What did job 1 wait for when it was alone?",
            _SECOND: "",
            _ALIKE: "They share the uplinks evenly. But alone they had different parts of them.",
        },
        called={_FIRST: ("0", "job 0"), _SECOND: ("1", "job 1"), _ALIKE: ("both",)},
        truth=_paying,
        hints=(
            "How many transfers of a job share an uplink when it runs alone?",
            "Alone, two transfers of job 0 share each uplink, and one of job 1 has it to itself. Together there are three.",
        ),
        why="Three transfers share an uplink. For job 0 they were two before, for job 1 one: and a ring is as slow as its slowest transfer.",
        solution=f'"{_SECOND}"',
    ),
    Choice(
        name="10-xoff",
        further=True,
        question="Somebody lowers the thresholds of the pauses, XOFF from 135 to 30 kB and XON from 108 to 10 kB, so that queues stay short. What happens behind the trunk?",
        options={
            _IDLES: "",
            _DROPS: "A pause comes sooner with a lower XOFF. So what can be lost?",
            _FREED: "The victim stands in the same queue. Why should it get more?",
            _SAME: "How long does a resume take until bytes arrive again, and what does the port send until then?",
        },
        truth=_too_low,
        called={_IDLES: ("idles", "it idles"), _DROPS: ("lost",), _FREED: ("victim",), _SAME: ("nothing",)},
        hints=(
            "After XON has been reached a resume has to travel, and bytes have to come back. What is there to send meanwhile?",
            "A link of 25 GB/s and a loop of 3 µs need 75 kB. Is that much left at XON?",
        ),
        why="At XON too little is left for the time that the resume takes. The port runs dry between pauses.",
        solution=f'"{_IDLES}"',
    ),
    Number(
        name="10-ecmp",
        further=True,
        question="Four flows go over four trunks, and a hash chooses a trunk for each. How likely is it that no two share one?",
        tolerance=0.02,
        truth=lambda: ecmp(4, 4)[1],
        mistakes=(
            Mistake(lambda: 1 - ecmp(4, 4)[1], "That is how likely it is that some do share one."),
            Mistake(lambda: 0.75**3, "Each has to avoid all flows before it: the third one has two trunks left."),
            Mistake(lambda: 1 / 4, "That is for one of them to hit one trunk. How many ways are there for all four?"),
            Mistake(lambda: 1 / 4**4, "That is one way of all. In how many of them has each flow a trunk of its own?"),
        ),
        bounds=(Bound(lambda: 1.0, "A probability is 1 at most.", above=True),),
        hints=("Place one flow after the other: how many trunks are still free for it?", "It is 4/4 times 3/4 times 2/4 times 1/4."),
        why="So more often than nine times of ten two flows share a trunk while another trunk idles. Spraying, or more flows for each pair, evens that out.",
        solution="3 / 4 * 2 / 4 * 1 / 4",
    ),
    Choice(
        name="10-slide",
        further=True,
        question="Two jobs compute as long as they exchange, in turn, over the same uplink. The second one begins a third of an exchange later. Rates are shared fairly. What becomes of their overlap?",
        options={
            _KEEPS: "",
            _SLIDES: "Which of the two is slowed down more while both send? With fair shares, neither.",
            _GONE: "While both send each has a half, and both are slowed down alike. Who gives way?",
        },
        called={_KEEPS: ("it stays", "stays"), _SLIDES: ("halves",), _GONE: ("gone",)},
        truth=_in_the_way,
        hints=(
            "While both send, each has a half. Who is through first, and by how much?",
            "Who began earlier ends earlier by as much, and begins earlier next time by as much.",
        ),
        why="Fair shares keep two jobs in each other's way for ever. If one has two thirds of the uplink, the overlap halves in each step.",
        solution=f'"{_KEEPS}"',
    ),
)  # fmt: skip
TRANSFER = unseen_fault.TRANSFER
