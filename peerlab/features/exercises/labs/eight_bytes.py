"""Lab 05: what an AllReduce of 8 bytes takes, apart into its five numbers."""

from peerlab.base.data_frames import pd
from peerlab.base.errors import ScenarioError
from peerlab.base.units import PS_PER_US
from peerlab.features.exercises.exercise import Bound, Mistake, Number
from peerlab.question.scenario import Scenario
from peerlab.records.library import measured_library

LOG = "p4d/nccl-2n16r-efa-2.9.9"
"""Two p4d over EFA, eight A100 each; the one log whose first row has all five."""
SMALLEST = Scenario(cluster="p4d", nodes=2, path="peer-direct", message_bytes=8)


def five_numbers(scenario: Scenario) -> pd.DataFrame:
    """Return the latencies of a small AllReduce of NCCL's by its law as a table: how many of each, and microseconds together.

    Raises
    ------
    ScenarioError
        If NCCL's law has no part in the scenario.
    """
    return pd.DataFrame.from_dict(_latencies(scenario), orient="index", columns=["how many", "µs together"])


def _latencies(scenario: Scenario) -> dict[str, tuple[float, float]]:
    """Return the rows of that table; a tab, which has no pandas, judges by them."""
    choice = scenario.choice
    if choice is None:
        raise ScenarioError("library", "NCCL has no part in this scenario")
    course, transport = choice.course, (scenario.hardware.hop_ps or 0) / PS_PER_US
    # The law's hop holds all three: what NCCL plans with, the flush, and what the transport adds.
    planned = course.hop - course.flush - transport
    # Up and down the chain of a node's devices.
    inside = 2 * (scenario.hardware.devices - 1)
    return {
        "launch": (1, course.launch),
        "hops inside the nodes": (inside, course.inside),
        "hops between the nodes, as NCCL plans them": (course.hops, course.hops * planned),
        "what the transport adds to them": (course.hops, course.hops * transport),
        "flushes": (course.hops * (course.flush > 0), course.hops * course.flush),
    }


def measured_us() -> float:
    """Return what the log says for 8 bytes, microseconds."""
    rows = measured_library()[LOG].rows  # out of place first
    return 1e6 * next(float(row["time_s"]) for row in rows if row["size_bytes"] == SMALLEST.nbytes)


def _rest_us() -> float:
    """Return what is left of it without launch, hops inside the nodes, and hops between them as NCCL plans them."""
    # The first three rows: what the law has for sure.
    return measured_us() - sum(us for _, us in list(_latencies(SMALLEST).values())[:3])


def crossing_us() -> float:
    """Return what the log says that EFA adds each time the network is crossed, microseconds: each of two hops does so twice."""
    # Two hops, and with the flush each crosses the network twice.
    return _rest_us() / 4


EIGHT_BYTES = Number(
    name="05-eight-bytes",
    further=True,
    question="8 bytes on two p4d: how many µs does EFA add each time the network is crossed, by this log?",
    unit="µs",
    truth=crossing_us,
    mistakes=(
        Mistake(_rest_us, "That is all that is left. How often is the network crossed?"),
        Mistake(
            lambda: _rest_us() / 2,
            "That is what is left for each of the two hops. With the flush each hop crosses the network twice.",
        ),
        Mistake(
            # 28 µs, two hops of 14, are 7 for each of the four crossings.
            lambda: crossing_us() + 7,
            "That leaves 28 µs too much. There are 14 hops inside the nodes, up and down, and two hops of 14 µs between them.",
        ),
        Mistake(
            lambda: (SMALLEST.hardware.hop_ps or 0) / PS_PER_US,
            "That is the constant of peerlab's file, which was fitted on other machines. What does this log say?",
        ),
    ),
    bounds=(Bound(measured_us, "That is more than the whole AllReduce takes.", above=True),),
    hints=(
        "Take launch, 14 hops inside the nodes and two hops between them from the time. What is left is the network's.",
        "Two hops, and each crosses the network twice: divide what is left by 4.",
    ),
    why="The data cross the network, and then a read of what was received does, to be sure that it is in the GPU's memory.",
    solution="(179.1 - 8.4 - 14 * 4.0 - 2 * 14) / 4",
)
