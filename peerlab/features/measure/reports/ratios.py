"""What a measurement says, in a notebook: ratios to the baseline with their quartiles, the noise behind them, a verdict each."""

# Ratios are paired, and compared with noise. All arms run in turn within a repetition, in another order
# each time; a ratio is taken within it. `staged` runs twice: its ratio to itself (A/A) is noise, and a
# ratio whose quartiles do not clear that noise gets no verdict. The data differ in every run, so that data
# left over from the run before cannot pass for an arrival, and their sums are whole numbers that a float32
# holds exactly.

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from html import escape
from itertools import groupby

import pandas as pd

from peerlab.base.display import shown
from peerlab.base.errors import RecordsError, nearest
from peerlab.base.units import PS_PER_S, say_range, say_time
from peerlab.collectives.conditions import say_block
from peerlab.features.measure.memories import PINNINGS
from peerlab.page.frame import framed, table
from peerlab.records import Records, checked_records
from peerlab.records.judge import FASTER, NOISE, SLOWER, WRONG, Comparison, compare

_WIDTH, _HEIGHT = 300, 22
_LEAST_END = 2.0
"""The axis goes at least from a half to twice."""
_SIGNS = {FASTER: ("good-ink", "▲"), SLOWER: ("hot-ink", "▼"), NOISE: ("muted", "~"), WRONG: ("hot-ink", "✕")}
_ABOUT = (
    "Upright line: median of the ratios within each repetition; bar: their quartiles; grey: noise (the baseline against itself, A/A). "
    "~: within the noise, no verdict. A median outside the grey is not enough: both quartiles have to be."
)


@dataclass(frozen=True, eq=False)
class Ratios:
    """Ratios of a measurement; a notebook shows them as a picture."""

    against: str
    """The arm that all others are compared with."""
    found: Sequence[Comparison]
    """What was found, in the order measured."""
    about: Sequence[str] = ()
    """What is to be known of the measurement."""

    @property
    def table(self) -> pd.DataFrame:
        """One row per condition: the fields of `peerlab.records.judge.Comparison`."""
        return pd.DataFrame([asdict(comparison) for comparison in self.found])

    _repr_html_ = shown

    def __repr__(self) -> str:
        compared = [
            comparison
            for comparison in self.found
            if (comparison.path, comparison.registration) != (self.against, "none")
        ]
        verdicts = Counter(comparison.verdict for comparison in compared)
        sentence = ", ".join(f"{count} {verdict}" for verdict, count in verdicts.items())
        return f"Ratios(against {self.against}: {sentence or 'nothing else was measured'})"


def ratios_html(report: Ratios) -> str:
    """Return ratios as HTML that brings its own style; all text is escaped."""
    blocks = groupby(report.found, key=lambda comparison: (comparison.ranks, comparison.size_bytes))
    end = _end(report.found)
    first = _fastest(report.found)
    body = "".join(_block(report.against, say_block(*key), list(block), end, first) for key, block in blocks)
    key, *notes = (
        f"<p class='pl-quiet'>{escape(note)}</p>" for note in (_ABOUT, *map(_sentence, report.about))
    )
    title = f"How many times as fast as {report.against}"
    return framed("ratios", title, _best(first) + key + body + "".join(notes))


def _sentence(note: str) -> str:
    """Return a note as a sentence, with its first letter and its end.

    >>> _sentence("no NIC, no wire")
    'No NIC, no wire.'
    """
    return f"{note[:1].upper()}{note[1:].removesuffix('.')}."


def _fastest(comparisons: Sequence[Comparison]) -> list[Comparison]:
    """Return the way that is fastest, without registration, at all sizes; nothing where none is clearly faster."""
    ways = [comparison for comparison in comparisons if comparison.registration == "none"]
    faster = [comparison for comparison in ways if comparison.verdict == FASTER]
    path = max(faster, key=lambda comparison: comparison.ratio).path if faster else ""
    return [comparison for comparison in ways if comparison.path == path]


def _best(first: Sequence[Comparison]) -> str:
    """Return as the answer the ratios of the way that is fastest."""
    if not first:
        return ""
    ratios = [comparison.ratio for comparison in first if comparison.verdict == FASTER]
    return f"<p class='pl-answer'><b>{escape(first[0].path)}: {say_range(min(ratios), max(ratios))} times</b>, where it is faster</p>"


def ratios(records: Records, against: str = "staged", only: str = "") -> Ratios:
    """Compare what was measured with one arm, in pairs within each repetition, and judge it by the noise.

    Parameters
    ----------
    records:
        What `peerlab.measure` returned.
    against:
        The arm that the others are compared with.
    only:
        The one arm that is to be compared; default: all.

    Raises
    ------
    RecordsError
        If these are no records, one of these arms was not measured, or `against` not without registration.
    """
    measured = sorted(set(checked_records(records).table["path"]) - {""})
    for field, arm in (("against", against), ("only", only)):
        if arm and arm not in measured:
            raise RecordsError(f"{field}: {arm!r} was not measured; {nearest(arm, measured)}")
    if comparisons := [
        comparison
        for comparison in compare(records, against)
        if only in ("", comparison.path) or comparison.path == against
    ]:
        sentences = [str(records.manifest[name]) for name in ("what_it_is",) if name in records.manifest]
        if (
            any(comparison.registration in ("lru", "per-transfer") for comparison in comparisons)
            and "pins" in records.manifest
        ):
            sentences.append(_pinning(str(records.manifest["pins"])))
        return Ratios(against, comparisons, [*sentences, *records.warnings])
    raise RecordsError(f"against: {against!r} was measured with registration alone")


def _end(comparisons: Sequence[Comparison]) -> float:
    """Return the ratio at the right end of the axis; the left end is as far on the other side of 1."""
    drawn = [
        end
        for comparison in comparisons
        for end in (comparison.low, comparison.high, comparison.noise)
        if end
    ]
    most = max((max(end, 1 / end) for end in drawn if math.isfinite(end)), default=1.0)
    # A little further out than the furthest end, so that no mark is cut.
    return max(_LEAST_END, 1.08 * most)


def _pinning(pins: str) -> str:
    says = PINNINGS[pins].says if pins in PINNINGS else f"registered by {pins}"
    return f"{says[0].upper()}{says[1:]}."


def _block(
    against: str, where: str, block: Sequence[Comparison], end: float, first: Sequence[Comparison]
) -> str:
    baseline = next(
        comparison for comparison in block if comparison.path == against and not comparison.variant
    )
    head = ("", "ratio", "quartiles", "", "verdict")
    control_last = [comparison for comparison in block if comparison is not baseline]
    # The sort is stable: behind the control all keep the order in which they were measured.
    others = sorted(
        control_last, key=lambda comparison: not (comparison.variant and comparison.path == against)
    )  # the noise first
    if not others:
        return ""
    caption = f"{where}: {against} takes {say_time(round(baseline.time_s * PS_PER_S))}"
    return table(
        caption,
        head,
        (_row(comparison, end, comparison in first) for comparison in others),
        "arms",
        below={3: _axis(end)},
    )


def _row(comparison: Comparison, end: float, is_first: bool) -> tuple[str, ...]:
    """Return a row; that of the way which the answer names is in bold."""
    strong = "<b>{}</b>" if is_first else "{}"
    role, sign = _SIGNS.get(comparison.verdict, ("muted", "?"))
    says = escape(comparison.verdict)
    if comparison.verdict == NOISE:  # most rows of many: the sign is enough, and its words are heard
        says = f"<span class='pl-heard'>{says}</span>"
    verdict = f"<span style='color:var(--pl-{role})'><span class='pl-sign' aria-hidden='true'>{sign}</span> {says}</span>"
    return (
        strong.format(escape(_name(comparison))),
        strong.format(f"{comparison.ratio:.2f}"),
        f"{comparison.low:.2f} to {comparison.high:.2f}",
        _picture(comparison, end, role),
        verdict,
    )


def _name(comparison: Comparison) -> str:
    if comparison.variant:
        return f"{comparison.path} again ({comparison.variant})"
    if comparison.registration == "none":
        return comparison.path
    kept = f" of {comparison.capacity}" if comparison.registration == "lru" else ""
    text = {"lru": f"cache{kept}", "null": "cache that pins nothing"}.get(
        comparison.registration, comparison.registration
    )
    return f"{comparison.path}, {text}"


def _ticks(end: float) -> tuple[float, float, float]:
    """Return where the axis has figures: as fast, and the furthest powers of two on it."""
    far = 2.0 ** math.floor(math.log2(end))
    return 1 / far, 1.0, far


def _place(ratio: float, end: float) -> float:
    """Return how far right on the axis a ratio stands, percent."""
    # A ratio of 0 has no logarithm: it stands at the left end.
    share = math.log(ratio) / math.log(end) if ratio > 0 else -1.0
    return round(50 + 50 * min(max(share, -1.0), 1.0), 1)


def _axis(end: float) -> str:
    """Return the axis of the pictures below it: its name in its middle, and each figure above its line."""
    drawn = "".join(
        f"<span style='position:absolute;bottom:0;left:{_place(tick, end)}%;transform:translateX(-50%)'>{tick:g}\u00d7</span>"
        for tick in _ticks(end)
    )
    name = f"<div style='max-width:{_WIDTH}px;text-align:center'>times as fast</div>"
    return (
        f"{name}<span style='position:relative;display:block;max-width:{_WIDTH}px;height:20px'>{drawn}</span>"
    )


def _picture(comparison: Comparison, end: float, role: str) -> str:
    """Return band of noise, quartiles and median as boxes: notebooks keep those even where they take drawings out."""

    def place(ratio: float) -> float:
        return _place(ratio, end)

    if not math.isfinite(comparison.ratio):
        return ""
    noise = comparison.noise or 1.0
    boxes = [
        (place(1 / noise), place(noise) - place(1 / noise), "0;bottom:0;background:var(--pl-faint);opacity:.6"),
        *((place(tick), 0, f"0;bottom:0;border-left:1px solid var(--pl-{'edge' if tick == 1 else 'faint'})") for tick in _ticks(end)),
        (place(comparison.low), max(place(comparison.high) - place(comparison.low), 0.6), f"9px;height:4px;background:var(--pl-{role})"),
    ]  # fmt: skip
    drawn = "".join(
        f"<span style='position:absolute;left:{at}%;width:{width:.1f}%;top:{rest}'></span>"
        for at, width, rest in boxes
    )
    mark = (
        f"<span style='position:absolute;left:calc({place(comparison.ratio)}% - 1px);top:3px;width:2px;height:16px;"
        f"background:var(--pl-{role})'></span>"
    )
    return f"<span style='position:relative;display:block;width:100%;max-width:{_WIDTH}px;height:{_HEIGHT}px'>{drawn}{mark}</span>"
