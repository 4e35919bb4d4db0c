"""What the page of a race gets: two roads, what each delivers at any moment, and the answer."""

from typing import TypedDict

from peerlab.answer.gain import GainBand
from peerlab.answer.race import Delivery, Race
from peerlab.answer.run import Run
from peerlab.base.units import (
    GIB,
    KIB,
    MIB,
    PS_PER_US,
    TIMES_SIGN,
    say_bytes,
    say_count,
    say_gain,
    say_percent,
    say_time,
)
from peerlab.model.hardware import say_counted
from peerlab.model.paths import data_path
from peerlab.picture.delivered import delivered_columns
from peerlab.picture.road import Road, road
from peerlab.picture.words import PROXY, colours, names_proxy, waits_for
from peerlab.question.naming import told_apart

_UNITS = (("GiB", GIB), ("MiB", MIB), ("KiB", KIB))
_OTHER = ("register", "cpu")
"""Colours of the second where both have one data path."""
_RANGELESS = "One simulation, so no range: each assumed figure has one value."
_COUNTED = "A slice counts as delivered when its last byte is in the receiver's memory."


class Racer(TypedDict):
    """One of the two."""

    title: str
    when: str
    """``before`` and ``now``, where a lab races what it showed before; else nothing."""
    role: str
    total: float
    """Bytes that it delivers to a node."""
    finish_us: float
    times: bytes
    """32-bit floats: the moments at which bytes arrive, microseconds."""
    shares: bytes
    """32-bit floats: which share of all its bytes has arrived then."""
    waits: str
    """What it mostly waits for."""
    proxy: bool
    """Whether that is said with the library's proxy, which no sign of its road names."""
    road: Road


class RaceAnswer(TypedDict):
    """What the race says in the end."""

    about: str
    """Who has won; both, where nobody has."""
    value: str
    """How many times as fast the winner is: the range, where that was asked."""
    note: str
    """The ratio of what is played; nothing where the range was not asked."""
    rangeless: str
    """What a ratio without a range rests on; nothing where it has one."""
    otherwise: str
    """What it is if the assumption that moves it most does not hold."""
    band: list[float] | None
    """From where to where the ratio lies while assumed figures go through their ranges; none: that was not asked."""
    ratio: float
    rows: list[list[str]]
    """``[what, of the first, of the second]``."""


class RaceParcel(TypedDict):
    """What the page of a race gets."""

    about: str
    source: str
    proxy: str
    """What the library's proxy is, where one waits for it; a slide, which has no room for it, does not name the proxy."""
    racers: list[Racer]
    key: list[list[str]]
    """On a slide: roles of stretches that are no path's own, each with what is done there; none where a path has a colour that none of its stretches has."""
    end_us: float
    counts: str
    """What counts as delivered."""
    same_way: bool
    """Whether both deliver as many bytes; else the page tells shares."""
    counted: str
    """What bytes are delivered to: a ``node``, or a ``domain`` where NVLink joins several."""
    unit: str
    unit_bytes: int
    answer: RaceAnswer
    words: str
    """The race in words, for those who do not see it."""


def race_parcel(race: Race, band: GainBand | None = None, when: tuple[str, str] = ("", "")) -> RaceParcel:
    """Return what the page needs to play a race; `band` is that of the winner's ratio, if it was asked for, `when` tells when each was shown."""
    names = told_apart([run.scenario for run in race.runs])
    least = min(delivery.total for delivery in race.deliveries)
    # The unit of the smaller delivery: in that of the larger it might be 0.
    unit, unit_bytes = next((scale for scale in _UNITS if least >= scale[1]), ("B", 1))
    roles = _roles(race)
    several = zip(names, when, roles, race.runs, race.deliveries, strict=True)
    racers = [_racer(*racer) for racer in several]
    return {
        "about": _about(race),
        "source": _source(race),
        "proxy": PROXY if any(map(names_proxy, race.runs)) else "",
        "racers": racers,
        "key": _key(race, racers),
        "end_us": race.end_ps / PS_PER_US,
        "counts": _COUNTED,
        "same_way": race.same_way,
        "counted": race.runs[0].scenario.hardware.counted_as,
        "unit": unit,
        "unit_bytes": unit_bytes,
        "answer": _answer(race, names, band),
        "words": _words(race, names),
    }


def _racer(title: str, when: str, role: str, run: Run, delivery: Delivery) -> Racer:
    times, shares = delivered_columns(delivery)
    return {
        "title": title,
        "when": when,
        "role": role,
        "total": delivery.total,
        "finish_us": run.time_ps / PS_PER_US,
        "times": times,
        "shares": shares,
        "waits": waits_for(run),
        "proxy": names_proxy(run),
        "road": road(run),
    }


def _roles(race: Race) -> list[str]:
    first, other = (data_path(str(run.scenario.path)).role for run in race.runs)
    # Two runs on one path would be drawn in one colour.
    return [first, other if other != first else next(role for role in _OTHER if role != first)]


def _key(race: Race, racers: list[Racer]) -> list[list[str]]:
    """Return what colours of the roads mean that are not those of their own path."""
    key = dict[str, str]()
    for run, racer in zip(race.runs, racers, strict=True):
        own, drawn = racer["role"], {stretch["role"] for stretch in racer["road"]["stretches"]}
        if own not in drawn:
            return []
        key |= {role: says.partition(",")[0] for role, says in colours(run) if role in drawn - {own}}
    return [[role, says] for role, says in key.items()]


def _about(race: Race) -> str:
    """Return what both do, as far as it is the same."""
    scenarios = [run.scenario for run in race.runs]
    machines = {scenario.hardware.title for scenario in scenarios}
    operations = {scenario.collective_record.title for scenario in scenarios}
    sizes, nodes = (
        {say_bytes(scenario.nbytes) for scenario in scenarios},
        {say_count(scenario.nodes, "node") for scenario in scenarios},
    )
    parts = [
        " of ".join(names.pop() for names in (operations, sizes) if len(names) == 1),
        # Only what both have in common stands above the two.
        " of ".join(names.pop() for names in (nodes, machines) if len(names) == 1),
    ]
    return ", ".join([part for part in parts if part] + ["both on one clock"])


def _source(race: Race) -> str:
    figures = say_counted(*(run.scenario.hardware for run in race.runs))
    return " ".join(filter(None, [_delivers(race), f"Simulated by peerlab from {figures}."]))


def _delivers(race: Race) -> str:
    """Return how much a node sends of how large a message, where both send as much and it is a known part of it: twice 7/8 of it in an AllReduce of eight."""
    s, total = race.runs[0].scenario, race.deliveries[0].total
    parts = {
        f"{name}{s.domains - 1}/{s.domains}": times * (s.domains - 1) / s.domains
        for name, times in (("", 1), (f"2 {TIMES_SIGN} ", 2))
    }
    part = next(
        (name for name, share in parts.items() if abs(total - share * s.nbytes) < 0.001 * s.nbytes), ""
    )
    alike = race.same_way and len({run.scenario.nbytes for run in race.runs}) == 1
    if not part or not alike:
        return ""
    return f"Each {s.hardware.counted_as} sends {say_bytes(round(total))}: {part} of the {say_bytes(s.nbytes)} message."


def _answer(race: Race, names: list[str], band: GainBand | None) -> RaceAnswer:
    winner = race.winner
    return {
        "about": names[winner] if winner is not None else " against ".join(names),
        "value": say_gain(band.low, band.high) if band else f"{race.times_as_fast:.2f}{TIMES_SIGN}",
        "note": f"{race.times_as_fast:.2f}{TIMES_SIGN} as simulated" if band else "",
        "rangeless": "" if band else _RANGELESS,
        "otherwise": _otherwise(band) if band else "",
        "band": [band.low, band.high] if band else None,
        "ratio": race.times_as_fast,
        "rows": _rows(race),
    }


def _otherwise(band: GainBand) -> str:
    """Return what the ratio is if the assumption that moves it most does not hold."""
    # The one assumption that moves it most: a card has room for no more.
    decisive = band.decisive
    if decisive is None or decisive not in band.left_out or not decisive.cases:
        return ""
    first, *others = decisive.cases
    if not others:
        return f"{first.gain:.2f}{TIMES_SIGN} if {first.says}"
    gains = [case.gain for case in decisive.cases]
    return f"{say_gain(min(gains), max(gains))} depending on {decisive.figure.label}"


def _rows(race: Race) -> list[list[str]]:
    cores = "CPU cores busy"
    figures = (
        ("copies per byte", lambda run: f"{run.copies_per_byte:.2g}"),
        ("DRAM per byte", lambda run: f"{run.dram_bytes_per_byte:.2g} B"),
        (cores, lambda run: f"{run.cores_busy:.1f}" if run.cores_busy else "0"),
    )
    rows = [[what, *map(of, race.runs)] for what, of in figures]
    # Where nobody's cores work, that they do not tells the two not apart.
    return [row for row in rows if row[0] != cores or any(run.cores_busy for run in race.runs)]


def band_of(race: Race) -> GainBand | None:
    """Return from where to where the winner's ratio lies, where both exchange the same on one machine."""
    scenario, other = (run.scenario for run in race.runs)
    alike = (scenario.hardware, scenario.nbytes, scenario.nodes, scenario.collective) == (
        other.hardware,
        other.nbytes,
        other.nodes,
        other.collective,
    )
    # A gain is of two paths, all else equal: of two clusters or sizes it would have no range of its own.
    if race.winner is None or not alike or scenario.path == other.path:
        return None
    winner, loser = race.runs[race.winner], race.runs[1 - race.winner]
    return winner.gain_band(loser)


def _words(race: Race, names: list[str]) -> str:
    sentences = [
        f"{name} takes {say_time(run.time_ps)} and mostly waits for {waits_for(run)}"
        for name, run in zip(names, race.runs, strict=True)
    ]
    # At the moment when the winner is through: that is how far the other one is behind.
    first = min(run.time_ps for run in race.runs)
    sentence = "Both are through at once"
    if race.winner is not None:
        late = race.deliveries[1 - race.winner]
        sentence = f"When {names[race.winner]} is through, {names[1 - race.winner]} has delivered {say_percent(late.at(first) / late.total)}"
    return f"{_about(race)}: {'; '.join(sentences)}. {sentence}."
