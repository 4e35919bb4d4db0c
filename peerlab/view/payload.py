"""Everything the page gets for one run, as one parcel of plain values and arrays."""

from peerlab.analysis.run import Run
from peerlab.collectives.choose import plan
from peerlab.model.hardware import Figure, named
from peerlab.units import PS_PER_US
from peerlab.view.curves import mark
from peerlab.view.datapath import scene
from peerlab.view.frames import moves
from peerlab.view.headline import cards
from peerlab.view.registration_table import table
from peerlab.view.shown_nodes import shown_nodes
from peerlab.view.timeline import timeline
from peerlab.view.words import alt_text, caption, colours

_MOVE_TIMES = ("enter", "start", "sent", "received", "turned", "end", "until")
MOVE_COLUMNS = ("device", "step", "slice", "whose", "stage", *_MOVE_TIMES)


def payload(run: Run, before: Run | None = None, number: int = 0) -> dict[str, object]:
    """Return what the page needs to show `run`; `before` is what was shown until now, `number` counts the parcels."""
    return {
        "meta": _meta(run, before, number),
        "cards": cards(run),
        "before": cards(before) if before is not None else None,
        "scene": scene(run),
        "moves": moves(run.trace, shown_nodes(run)).page(MOVE_COLUMNS, _MOVE_TIMES),
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
        "ring": schedule.is_ring,
        "recorded": 1 if run.trace.folded or s.collective == "point-to-point" else 3,
        "hot": run.bottleneck.kind if run.bottleneck else "",
        "code": s.as_code(),
        "words": alt_text(run),
        "key_colours": colours(run),
        "caption": caption(run),
        "sources": sources(run),
        "mark": mark(run),
        "ghost": mark(before) if before is not None else None,
    }


def _kept(run: Run) -> tuple[object, ...]:
    """Return a key that two runs share if their times may be compared on one axis."""
    s = run.scenario
    return (s.hardware.name, s.nodes, s.nbytes, s.collective)


def sources(run: Run) -> dict[str, object]:
    """Return what the simulation rests on: what it was fitted on, every figure with source or assumption, what is left out."""
    hardware = run.scenario.hardware
    figures, many = hardware.figures.values(), len(hardware.assumptions)
    title = f"{len(figures)} figures: {len(figures) - many} with sources, {many} assumed (†)"
    fitted = f"Some figures were fitted on {hardware.fitted_on}: elsewhere an extrapolation."
    said = [(fitted, True)] * bool(hardware.fitted_on)
    said += [(say_figure(f), bool(f.assumption)) for f in sorted(figures, key=lambda f: not f.assumption)]
    said += [
        (f"{named(key)}: left out, never a limit. {why[:1].upper()}{why[1:]}.", False)
        for key, why in hardware.leaves_out.items()
    ]
    return {"title": title, "lines": [{"text": text, "assumed": assumed} for text, assumed in said]}


def say_figure(figure: Figure) -> str:
    """Return a figure with basis, assumption and source as one line."""
    assumed = f" Assumed: {figure.assumption}." if figure.assumption else ""
    source = f" Source: {figure.source}." if figure.source else ""
    sign = "† " if figure.assumption else ""
    return f"{sign}{figure.named}: {figure}, {figure.basis}.{assumed}{source}"
