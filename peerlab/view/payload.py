"""Everything the page gets for one run, as one parcel of plain values and arrays."""

from peerlab.collectives.choose import plan
from peerlab.model.hardware import Figure
from peerlab.model.path import STAGES
from peerlab.run import Run
from peerlab.units import PS_PER_US, say_bytes
from peerlab.view.curves import mark
from peerlab.view.datapath import scene
from peerlab.view.frames import moves
from peerlab.view.headline import cards
from peerlab.view.registration import table
from peerlab.view.sight import focus, sight
from peerlab.view.theme import stage_role
from peerlab.view.timeline import timeline

MOVE_COLUMNS = ("device", "step", "slice", "whose", "stage", "resource", "enter", "start", "end", "until")
_MOVE_TIMES = ("enter", "start", "end", "until")


def payload(run: Run, before: Run | None = None, number: int = 0) -> dict[str, object]:
    """Return what the page needs to show `run`; `before` is what was shown until now, `number` counts the parcels."""
    return {
        "meta": _meta(run, before, number),
        "cards": cards(run),
        "before": cards(before) if before is not None else None,
        "scene": scene(run),
        "moves": moves(run.trace, sight(run)).page(MOVE_COLUMNS, _MOVE_TIMES),
        "timeline": timeline(run),
        "table": table(run),
    }


def _meta(run: Run, before: Run | None, number: int) -> dict[str, object]:
    s, schedule = run.scenario, plan(run.scenario).schedule
    comparable = before is not None and _kept(before) == _kept(run)
    return {
        "number": number,
        "key": "|".join(map(str, _kept(run))),
        "end_us": run.time_ps / PS_PER_US,
        "before_us": before.time_ps / PS_PER_US if before is not None and comparable else None,
        "nodes": s.nodes,
        "devices": s.hardware.devices if s.collective != "point-to-point" else 1,
        "drawn": s.hardware.devices_per_switch if s.collective != "point-to-point" else 1,
        "steps": schedule.steps,
        "reducing": schedule.reducing_steps,
        "collective": s.collective,
        "ring": s.algorithm in ("auto", "ring", "hierarchical"),
        "recorded": 1 if run.trace.folded or s.collective == "point-to-point" else 3,
        "hot": run.bottleneck.kind if run.bottleneck else "",
        "code": s.as_code(),
        "words": words(run),
        "key_colours": colours(run),
        "caption": caption(run),
        "sources": sources(run),
        "mark": mark(run),
        "ghost": mark(before) if before is not None else None,
    }


def _kept(run: Run) -> tuple[object, ...]:
    """Return what two runs must share for their times to be compared on one axis."""
    s = run.scenario
    return (s.hardware.name, s.nodes, s.nbytes, s.collective)


def colours(run: Run) -> list[list[str]]:
    """Return the colour key: role and meaning of every colour that this run uses."""
    s = run.scenario
    used = [stage.name for stage in s.stages]
    if s.registers:
        used.insert(0, "register")
    if s.collective != "point-to-point":
        used += ["reduce"] if s.reduces and s.collective != "allgather" else []
        used += ["gather"] if s.hardware.devices > 1 else []
    used.append("flight")
    key: dict[str, str] = {}
    for stage in used:
        key.setdefault(stage_role(stage), _SHORT.get(stage, STAGES[stage]))
    return [[role, text] for role, text in key.items()]


_SHORT = {
    "d2h": "copy device to host memory or back",
    "h2d": "copy device to host memory or back",
    "cpu-send": "CPU: kernel copies and TCP/IP",
    "network": "NIC to NIC, through host memory",
    "direct": "NIC to NIC, straight from device memory",
    "wire": "port to port",
    "register": "register memory (MR)",
    "reduce": "add up on the device",
    "gather": "scale-up links inside the node",
    "flight": "in flight",
}


def caption(run: Run) -> str:
    """Return the line below the pictures: what was simulated, in one breath."""
    s = run.scenario
    size = s.slice_limit
    slices = f"slices of {say_bytes(size)}" if size and size < s.nbytes else "whole transfers"
    warm = (
        f", run {s.runs} of {s.runs} (the cache is warm)"
        if s.registers and s.runs > 1 and s.registration == "cached"
        else ""
    )
    beyond = " More ranks than the vendor's library allows: an extrapolation." if s.extrapolates else ""
    return f"Simulated: {s.hardware.title}, {_how(run)}, {slices}{warm}{_disturbed(run)}.{beyond}"


def _how(run: Run) -> str:
    s = run.scenario
    if s.collective == "point-to-point":
        return "one message"
    name = "ring" if s.algorithm in ("auto", "hierarchical") else s.algorithm
    return name if s.hardware.devices == 1 else f"hierarchical {name}"


def _disturbed(run: Run) -> str:
    """Return what makes nodes differ, and which of them is shown."""
    s, parts = run.scenario, []
    if s.placement:
        parts.append(f"{s.placement} placement" if isinstance(s.placement, str) else "nodes placed as given")
    if s.jitter:
        parts.append(f"jitter {100 * s.jitter:g} % (seed {s.seed})")
    for node, speed in (s.slow_nodes or {}).items():
        parts.append(f"node {node} at {100 * speed:g} %")
    if not run.trace.folded and s.collective != "point-to-point":
        parts.append(f"shown: node {focus(run)}")
    return "".join(f", {part}" for part in parts)


def sources(run: Run) -> dict[str, object]:
    """Return what the simulation rests on: what it was fitted on, every figure with source or assumption, what is left out."""
    machine = run.scenario.hardware
    figures, many = machine.figures.values(), len(machine.assumptions)
    title = f"{len(figures)} figures with sources" + (f", {many} of them assumed (†)" if many else "")
    fitted = f"Some figures were fitted on {machine.fitted_on}: elsewhere an extrapolation."
    said = [(fitted, True)] * bool(machine.fitted_on)
    said += [(say_figure(f), bool(f.assumption)) for f in sorted(figures, key=lambda f: not f.assumption)]
    said += [
        (f"{key}: left out, never a limit. {why[:1].upper()}{why[1:]}.", False)
        for key, why in machine.leaves_out.items()
    ]
    return {"title": title, "lines": [{"text": text, "assumed": assumed} for text, assumed in said]}


def say_figure(figure: Figure) -> str:
    """Return a figure with basis, assumption and source as one line."""
    assumed = f" Assumed: {figure.assumption}." if figure.assumption else ""
    source = f" Source: {figure.source}." if figure.source else ""
    sign = "† " if figure.assumption else ""
    return f"{sign}{figure.key} = {figure}, {figure.basis}.{assumed}{source}"


def words(run: Run) -> str:
    """Return the data path in words, for those who do not see it."""
    s, found = run.scenario, run.bottleneck
    device = s.hardware.device_name
    match s.path:
        case "host-rdma":
            way = f"Slices are copied from {device} memory up the PCIe uplink into host memory, sent by the NIC from there, and copied down again on the other side"
        case "host-tcp":
            way = f"Slices are copied from {device} memory into host memory, copied and sent by the CPU over TCP, and copied down again on the other side"
        case "peer-direct":
            way = f"The NIC reads slices straight from {device} memory across the PCIe switch and writes them straight into the other side's"
        case _:
            way = "Slices go from port to port"
    busiest = f"; {found.label}: {found.share:.0%}" if found else ""
    return f"Data path. {way}. Wire {run.wire_busy:.0%} busy{busiest}."
