"""The headline: the figures of a run, each beside what it was before the last change."""

from peerlab.metrics import LATENCY
from peerlab.model.checks import COLLECTIVE_NAMES
from peerlab.run import Run
from peerlab.units import say_bytes, say_time
from peerlab.view.registration import everywhere


def cards(run: Run, before: Run | None) -> list[dict[str, object]]:
    """Return the cards of the headline; with `before`, each says what it was and the ratio."""
    return [
        _bandwidth(run, before),
        _time(run, before),
        _bottleneck(run, before),
        _copies(run, before),
        _cores(run, before),
        _registration(run, before),
    ]


def _card(
    name: str, label: str, value: str, note: str, was: str = "", verdict: str = ""
) -> dict[str, object]:
    return {"name": name, "label": label, "value": value, "note": note, "was": was, "verdict": verdict}


def _ratio(now: float, then: float) -> str:
    """Return how many times `now` is `then`, for people."""
    return f"{now / then:.2f}x" if then > 0 and 0.01 < now / then < 100 else ""


def _verdict(gain: float) -> str:
    return "better" if gain > 1.005 else "worse" if gain < 0.995 else "same"


def _bandwidth(run: Run, before: Run | None) -> dict[str, object]:
    s = run.scenario
    one = s.collective == "point-to-point"
    name = "Point-to-point bandwidth" if one else f"{COLLECTIVE_NAMES[s.collective]} busbw"
    wire = "wire" if run.trace.folded or one else "busiest NIC" if s.path != "native" else "busiest ports"
    card = _card("busbw", name, "", f"{wire} {run.wire_busy:.0%} busy")
    card["GBps"] = run.busbw_GBps if run.time_ps else None
    if not run.time_ps:
        card["note"] = "one rank exchanges nothing"
    if before is not None and before.time_ps and run.time_ps:
        card["was_GBps"] = before.busbw_GBps
        card["ratio"] = _ratio(run.busbw_GBps, before.busbw_GBps)
        card["verdict"] = _verdict(run.busbw_GBps / before.busbw_GBps)
    return card


def _time(run: Run, before: Run | None) -> dict[str, object]:
    s = run.scenario
    note = "node 0 to node 1" if s.collective == "point-to-point" else f"{s.ranks} ranks"
    card = _card("time", f"Time for {say_bytes(s.nbytes)}", say_time(run.time_ps), note)
    if before is not None and before.time_ps and run.time_ps:
        card["was"] = f"was {say_time(before.time_ps)}"
        card["verdict"] = _verdict(before.time_ps / run.time_ps)
    return card


def _bottleneck(run: Run, before: Run | None) -> dict[str, object]:
    found = run.bottleneck
    if found is None:
        return _card("bottleneck", "Bottleneck", "none", "no time passes")
    of = "of the time in flight" if found.kind == LATENCY else "busy"
    card = _card("bottleneck", "Bottleneck", _cap(found.label), f"{found.share:.0%} {of}")
    then = before.bottleneck if before else None
    if then and then.kind != found.kind:
        card["was"] = f"was {then.label}"
    return card


def _cap(text: str) -> str:
    return text[:1].upper() + text[1:]


def _copies(run: Run, before: Run | None) -> dict[str, object]:
    dram = run.dram_bytes_per_byte
    modelled = "host.dram" in run.scenario.hardware.figures or not run.scenario.staged
    note = f"DRAM: {dram:.2g} B per byte" if dram else "DRAM untouched" if modelled else "DRAM not modelled"
    card = _card("copies", "Copies per byte", f"{run.copies_per_byte:.2g}", note)
    if before is not None and before.copies_per_byte != run.copies_per_byte:
        card["was"] = f"was {before.copies_per_byte:.2g}"
        card["verdict"] = "better" if run.copies_per_byte < before.copies_per_byte else "worse"
    return card


def _cores(run: Run, before: Run | None) -> dict[str, object]:
    cores = run.cores_busy
    card = _card("cores", "CPU cores busy", f"{cores:.1f}" if cores else "0", "per node")
    if before is not None and abs(before.cores_busy - cores) >= 0.05:
        card["was"] = f"was {before.cores_busy:.1f}" if before.cores_busy else "was 0"
        card["verdict"] = "better" if cores < before.cores_busy else "worse"
    return card


def _registration(run: Run, before: Run | None) -> dict[str, object]:
    value, note = _registration_words(run)
    card = _card("registration", "Registration", value, note)
    if before is not None:
        then = _registration_words(before)[0]
        card["was"] = f"was {then}" if then != value else ""
    return card


def _registration_words(run: Run) -> tuple[str, str]:
    s, counters = run.scenario, run.registration
    if s.path == "host-tcp":
        return "none", "kernel TCP needs none"
    if s.path != "peer-direct":
        return ("at start", "bounce pool, once") if s.staged else ("none", "this path needs none")
    if s.registration == "pool":
        return "at start", "one pool, once"
    asked = counters.hits + counters.misses
    if not asked:
        return "none", "nothing to register"
    spent = (
        f"{counters.misses} misses, {say_time(counters.time_ps)}{everywhere(run)}"
        if counters.misses
        else "nothing to register"
    )
    return f"{counters.hits / asked:.0%} hits", spent
