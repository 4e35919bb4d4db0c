"""The registration table beside the NIC: which memory is registered, and what it costs, at any moment."""

from typing import TypedDict

from peerlab.answer.run import Run
from peerlab.answer.trace import REGISTRATION_KINDS
from peerlab.base.units import say_bytes, say_time
from peerlab.model.disturbance import most_disturbed
from peerlab.picture.frames import PageRows, registrations
from peerlab.picture.shown_nodes import focus, nic_name, shown_switch, unit

COLUMNS = ("device", "kind", "side", "position", "nbytes", "start", "end", "step")


class StandingTable(TypedDict):
    """A table in which nothing happens, as the page gets it."""

    live: bool
    title: str
    lines: list[list[str]]
    """Name and note."""


class LiveTable(TypedDict):
    """A table that changes in time, as the page gets it."""

    live: bool
    title: str
    rows: PageRows
    """What the cache did; columns are `COLUMNS`."""
    kinds: list[str]
    """What the numbers of the column ``kind`` mean."""
    chunks: int
    """Chunks of a device's buffer."""
    device: str
    """What a device is called."""
    devices: int
    """How many have their memory in the table."""
    total: str


def table(run: Run) -> StandingTable | LiveTable:
    """Return what the page needs to show the registration table of the first NIC that is shown."""
    s, counters = run.scenario, run.registration
    hardware = s.hardware
    if not s.registers:
        title = "Pinned memory" if s.data_path.uses_kernel_tcp else "Registered (MR)"
        return {"live": False, "lines": _standing(run), "title": title}
    if s.domains == 1:
        return {"live": False, "lines": [], "title": ""}
    node, switch = focus(run), shown_switch(run)
    nic = switch * hardware.used_nics_per_switch
    segments = registrations(run.trace, node, switch)
    total = f"{counters.hits} hits, {counters.misses} misses"
    if counters.evictions:
        total += f", {counters.evictions} evicted"
    return {
        "live": True,
        "title": f"Registered (MR), {nic_name(node, nic)}",
        "rows": segments.page(COLUMNS, ("start", "end")),
        "kinds": list(REGISTRATION_KINDS),
        "chunks": run.recording.chunks,
        "device": hardware.device_name,
        "devices": hardware.devices_per_switch,
        # that all were hits stands in the headline; what is counted is the first switch's
        "total": f"{total}, {say_time(counters.time_ps)}{whose(run)}"
        if (counters.misses or counters.evictions) and not switch and node == counted(run)
        else "",
    }


def counted(run: Run) -> int:
    """Return the node of whose NICs a run counts registrations."""
    return most_disturbed(run.scenario, run.trace.nodes)


def whose(run: Run) -> str:
    """Return the words behind counts: of how many NICs they are, and of which node where nodes differ."""
    hardware = run.scenario.hardware
    nics = 1 if run.scenario.collective_record.is_message else hardware.used_nics_per_switch
    words = [f"{nics} NICs"] * (nics > 1) + [f"{unit(run.scenario)} {counted(run)}"] * (not run.trace.folded)
    return f", {' of '.join(words)}" if words else ""


def _standing(run: Run) -> list[list[str]]:
    """Return the lines of a table in which nothing happens: name and note."""
    s = run.scenario
    when, what = s.data_path.registration
    rests = [["this path registers nothing", ""] if when == "none" else [when, what]]
    if s.staged:
        size = say_bytes(s.slice_limit or s.nbytes)
        buffers = f"{s.window_slices} \u00d7 {size}"
        if s.data_path.uses_kernel_tcp:
            rests = [["pinned once, at start", ""]]
        return [["to send", buffers], ["to receive", buffers], *rests]
    if s.data_path.uses_device_memory:
        return [["one pool per device", ""], ["registered once, at start", ""]]
    return rests
