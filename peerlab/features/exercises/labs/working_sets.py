"""Exercises of lab 03 on rows that do not fit a simple sentence: a full queue beside a busy NIC, a cache one region short, a new tensor for every step."""

from peerlab.base.units import PS_PER_S
from peerlab.features.exercises.exercise import Bound, Choice, Mistake, Number
from peerlab.features.exercises.lessons.scenes import DIRECT, STAGED, simulated
from peerlab.question.scenario import Scenario

UNCACHED = DIRECT.with_(registration="per-transfer")
FOUR = DIRECT.with_(buffers=4, iterations=9)
"""Four buffers in turn, long enough that each has been used before."""
NEEDED = 72
"""Regions that these need, as the lab says; a test holds it."""
_NEARLY_ALL, _NEARLY_NONE = 0.95, 0.05


def registering_share() -> float:
    """Return how much of the time the critical path of an AllReduce without a cache registers and deregisters."""
    run = simulated(UNCACHED)
    parts = run.breakdown()
    return (parts["register"] + parts["deregister"]) / run.time_s


_PATH, _CONTRADICT, _IDLE, _BYTES = (
    "The queue is always full, and the NIC sends meanwhile",
    "They contradict each other: one of them is wrong",
    "The NIC sends only in the 0.2 % that are left",
    "40 % of the bytes need no registration",
)


def _how_both() -> str:
    """Return how both shares can be true: they overlap, if together they are more than all of the time."""
    # Shares that exceed all of the time together overlap.
    together = registering_share() + simulated(UNCACHED).wire_busy
    return _PATH if together > 1 else _CONTRADICT


BUSY = Choice(
    name="03-busy",
    further=True,
    question="Without a cache the time passes in registering and deregistering for 99.8 %, by `breakdown()`. The NIC sends for 40 %. How can both be true?",
    options={
        _PATH: "",
        _CONTRADICT: "Add them up. Must two shares of the time exclude each other?",
        _IDLE: "Then the lane of the NIC would be nearly empty. Is it?",
        _BYTES: "Every transfer registers anew. Which bytes would be spared?",
    },
    truth=_how_both,
    called={_PATH: ("both", "they overlap", "meanwhile"), _CONTRADICT: ("contradiction",)},
    hints=(
        "`breakdown()` follows what finished last back to the beginning. Does it say what else happened at that time?",
        "While one region is registered, can the NIC send what was registered before?",
    ),
    why="`breakdown()` says what the end had to wait for, and not what was idle. A stage of 99.8 % leaves room for a NIC that is busy for 40 %.",
    solution=f'"{_PATH}"',
)


def times_as_fast(regions: int | None) -> float:
    """Return how many times as fast as the detour four buffers in turn are, in a cache of so many regions."""
    last = simulated(FOUR.with_(cache_regions=regions)).iterations[-1]
    return simulated(STAGED).time_s / last.time_s


_FINDS_NONE, _LRU, _SET, _COLD = (
    "If one region does not fit, LRU finds none",
    "LRU gives up what was not used for the longest time",
    "What counts is the working set",
    "The first call finds some regions in any cache",
)


def _refuted() -> str:
    """Return the sentence that a cache one region short refutes: it finds nearly all."""
    # More found than not, though one region is missing.
    counters = simulated(FOUR.with_(cache_regions=NEEDED - 1)).iterations[-1].registration
    return _FINDS_NONE if counters.hits > counters.misses else _COLD


ALMOST = Choice(
    name="03-almost",
    further=True,
    question="Four such buffers in turn need 72 regions. A cache of 71 is 1.69 times as fast as the detour; one of 72 is 1.76 times. Which sentence does the row "
    "of 71 refute?",
    options={
        _FINDS_NONE: "",
        _LRU: "It does. That is the rule, and the row follows from it.",
        _SET: "It does count: with all 72 the cache finds everything.",
        _COLD: "The row is of a later call. What does it find there?",
    },
    truth=_refuted,
    called={
        _FINDS_NONE: ("finds none", "none"),
        _LRU: ("the rule",),
        _SET: ("working set",),
        _COLD: ("first call",),
    },
    hints=(
        "Which of the sentences is about a cycle, in which each region is asked for once?",
        "A ring asks for a chunk twice within a call. Which of the two requests can a cache find that is one region short?",
    ),
    why="The sentence holds for a cycle of single requests. An AllReduce asks for its chunks twice, close together, and also evicts in the middle of a call.",
    solution=f'"{_FINDS_NONE}"',
)


def new_tensor(cluster: str) -> tuple[float, float]:
    """Return how many seconds a step of 256 MiB takes with a new tensor, and with one that was used before."""
    scenario = Scenario(cluster=cluster, path="peer-direct", message_bytes="256 MiB")
    # The first iteration has a new tensor; the last one finds it registered.
    cold, warm = simulated(scenario).as_dict(iteration_times=True)["iteration_times_s"]
    return cold, warm


def new_to_used(cluster: str) -> float:
    """Return how many times as long a step takes with a new tensor."""
    cold, warm = new_tensor(cluster)
    return cold / warm


def _fixed_part() -> float:
    """Return how many seconds registering a region on p5 takes, however small it is."""
    return Scenario(cluster="p5", path="peer-direct").registration_cost.base_ps / PS_PER_S


FRESH = Number(
    name="03-fresh",
    further=True,
    question="p5: a step of 256 MiB takes 2.18 ms when its tensor was registered before. A new tensor is two regions of 32 MiB behind each switch, one to send from and one "
    "to receive into. There registering takes 2.2 ms, and 0.246 µs for each page of 4 KiB. How many times as long is a step with a new tensor?",
    truth=lambda: new_to_used("p5"),
    mistakes=(
        Mistake(lambda: new_to_used("dl1"), "That is DL1. On p5 a region takes milliseconds."),
        Mistake(lambda: new_to_used("p5") - 1, "That is what is added. The step itself still comes on top."),
        Mistake(lambda: (1 + new_to_used("p5")) / 2, "That is one region. A tensor is sent from one, and another one receives."),
        Mistake(lambda: 1 + 2 * _fixed_part() / new_tensor("p5")[1], "That is the fixed part alone. How many pages have 32 MiB?"),
        Mistake(lambda: 1.0, "Then registering would cost nothing. Does the transfer wait for it?"),
        Mistake(lambda: new_tensor("p5")[1] / new_tensor("p5")[0], "Turn the ratio round: how many times as long?"),
    ),
    bounds=(Bound(lambda: 1.0, "A step with a new tensor does all that the other one does, and registers as well."),),
    hints=(
        "A transfer begins only when its memory is registered, one region after the other. So the times add up.",
        "32 MiB are 8,192 pages. A region takes 2.2 ms and 8,192 times 0.246 µs, and there are two of them.",
    ),
    why="A cache finds only what it has seen. Allocate buffers of gradients once, and keep them: using a tensor again costs nothing.",
    solution="(2.18 + 2 * (2.2 + 8192 * 0.246e-3)) / 2.18",
)  # fmt: skip
"""What a new tensor for every step costs."""
