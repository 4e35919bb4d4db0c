"""What a diagnosis says: which path, by what evidence, what Peer Direct would bring, and what to check next."""

import math
import re
from collections.abc import Iterator, Sequence

from peerlab.base.document import Cell, Conclusion, Document, Fold, Heading, Item, Items, Part, Table, Text
from peerlab.base.units import TIMES_SIGN, say_bytes, say_percent, say_range, with_signs
from peerlab.diagnosis import Diagnosis, Evidence, Explanation, Forecast, explanations
from peerlab.model.paths import PATHS, path_titles
from peerlab.question.presets import known_clusters

# What stays inside a node is no data path between nodes, so no record has its title.
_NAMES = {**path_titles(), "in-node": "links inside the node"}
STATUSES = {"clear": "pass", "probable": "warn", "cannot tell": "unknown"}
"""The status of each verdict."""
# Names of files and clusters may begin like a path: `host-rdma.toml` is none.
_PATH = re.compile(rf"(?<![\w./-])(?:{'|'.join(map(re.escape, _NAMES))})(?![\w/-]|\.\w)")
_HEAD = ("path", "odds", "measured ÷ simulated")
_WEIGHED = (
    "Odds rest on how much each kind of evidence weighs, which is judgement (data/diagnosis.toml); points are the natural "
    "logarithms of the weights, added up: 2.3 points are 10 times likelier."
)
_EVIDENCE, _FURTHER = "The evidence, the weightiest first", "What to check next"
_NOTHING_SHORTER = Item("the path is clear, and there is no shorter one")


def diagnosis_document(diagnosis: Diagnosis, name: str = "this log", judging: str = "") -> Document:
    """Return what a diagnosis says of the log called `name`; `judging` is the command that says whether the run is well."""
    return Document(f"Which data path is {name} from?", tuple(_parts(diagnosis, judging)))


def path_name(path: str) -> str:
    """Return a path in plain words."""
    return _NAMES.get(path, path)


def in_plain_words(words: str) -> str:
    """Return words in which each path has the name that pages show, not the one that is typed.

    >>> in_plain_words("host-tcp explains the log 9 times better than peer-direct")
    'kernel TCP explains the log 9 times better than Peer Direct'
    """
    return _PATH.sub(lambda path: path_name(path[0]), words)


def conclusion(diagnosis: Diagnosis) -> Conclusion:
    """Return the path and how clear that is, and why."""
    name = f"{path_name(diagnosis.path)}, {diagnosis.verdict}" if diagnosis.path else "cannot tell which path"
    why = in_plain_words(diagnosis.why)
    if path := diagnosis.path:
        named, rest = path_name(path), f"{explanations()[path]}; "
        # The name is the headline, so the sentence below it does not repeat it.
        why = rest + (f"it{why.removeprefix(named)}" if why.startswith(f"{named} ") else why)
    return Conclusion(STATUSES[diagnosis.verdict], _first_up(name), _first_up(why))


def _parts(diagnosis: Diagnosis, judging: str) -> Iterator[Part]:
    yield conclusion(diagnosis)
    yield Text(diagnosis.seen.says, quiet=True)
    clusters = ", ".join(diagnosis.clusters) or "no cluster: only what holds on any machine"
    yield Text(f"{'Held against' if diagnosis.chosen else 'Recognised'}: {clusters}", quiet=True)
    # A path that is clear says nothing of its speed: a slow run is named before the evidence.
    if diagnosis.shortfall:
        yield Text(f"{diagnosis.shortfall.says}.", lead="The run is slower than its own path:")
    # Before the evidence: who cannot tell wants to know what would.
    if fact := diagnosis.decides:
        yield Items("One fact would decide", [Item(fact.what, fact.tells, fact.command)])
    if diagnosis.path:  # without one the verdict has said that nothing follows
        yield from _forecast(diagnosis.forecast)
    yield Table("How well each path explains it", _HEAD, list(map(_ranked, diagnosis.ranking)), right={1})
    evidence = Items(_EVIDENCE, list(map(_evidence, diagnosis.evidence)))
    yield Fold(_EVIDENCE, (Text(_WEIGHED, quiet=True), evidence))
    yield Items("To know when reading it", list(map(Item, diagnosis.notes)))
    yield Items("What reading the log found", list(map(Item, diagnosis.warnings)))
    # One fact that would decide is what to check; the rest is for who has looked at it.
    further = Items(_FURTHER, _next(diagnosis, judging))
    yield Fold(_FURTHER, (further,)) if diagnosis.decides else further


def _next(diagnosis: Diagnosis, judging: str) -> Sequence[Item]:
    # Without a check the path is settled; whether its speed is right is another question and another command.
    if diagnosis.checks:
        return [Item(check.what, check.tells, check.command) for check in diagnosis.checks]
    return [*([Item("is the run well, too?", "", judging)] if judging else []), _NOTHING_SHORTER]


def _ranked(explanation: Explanation) -> tuple[Cell, ...]:
    # Links inside a node are no path of the record: they have the colour of the inside.
    role = PATHS[explanation.path].role if explanation.path in PATHS else "inside"
    # Below half a per cent it would be written as 0 %, which it is not.
    odds = "<1 %" if explanation.odds < 0.005 else say_percent(explanation.odds)
    fit = explanation.fit
    return (
        Cell(_first_up(path_name(explanation.path))),
        Cell(odds, bar=explanation.odds, role=role),
        Cell(f"{_times(fit.ratio)} ({fit.cluster.name})" if fit else "not simulated"),
    )


def _evidence(evidence: Evidence) -> Item:
    # From what it makes likelier to what it makes unlikely.
    ordered = sorted(evidence.points.items(), key=lambda point: -point[1])
    points = ", ".join(_points(*point) for point in ordered) or "says nothing for or against"
    grounds = f"{'known' if evidence.known else 'assumed'}: {evidence.source}"
    return Item(in_plain_words(f"{evidence.seen}: {evidence.says}"), points, source=grounds)


def _points(path: str, points: float) -> str:
    likelier = "likelier" if points > 0 else "less likely"
    return f"{path_name(path)} {math.exp(abs(points)):.2g} times {likelier} ({points:+.1f})"


def _times(ratio: float) -> str:
    """Return a ratio with two decimals, one below 0.01 with one digit."""
    return f"{ratio:.2f}{TIMES_SIGN}" if ratio >= 0.01 else f"{ratio:.1g}{TIMES_SIGN}"


def _first_up(words: str) -> str:
    return words[:1].upper() + words[1:]


def gain_words(forecast: Forecast) -> Text:
    """Return from where to where Peer Direct would be faster at the largest size, and the gain as simulated."""
    gain = forecast.gain
    words = f"with Peer Direct at {say_bytes(forecast.sizes[-1])}; {gain.value:.2f}{TIMES_SIGN} as simulated"
    return Text(words, lead=f"{say_range(gain.low, gain.high)}{TIMES_SIGN} as fast", large=True)


def _conditions(forecast: Forecast) -> str:
    """Return on what the range of a gain rests, without the range itself, which is the answer above it."""
    gain = forecast.gain
    words = with_signs(gain.range_in_words())
    return words.removeprefix(f"{say_range(gain.low, gain.high)}{TIMES_SIGN} ")


def _forecast(forecast: Forecast) -> Iterator[Part]:
    yield Heading("What would Peer Direct gain?")
    if forecast.why_not:
        # A cluster's name keeps its letters.
        named = forecast.why_not.startswith(tuple(known_clusters()))
        yield Text(forecast.why_not if named else _first_up(forecast.why_not))
        return
    yield gain_words(forecast)
    yield Text(f"{_first_up(_conditions(forecast))}.", quiet=True)
    ends = zip(
        forecast.sizes,
        forecast.measured_GBps,
        forecast.GBps,
        forecast.low_GBps,
        forecast.high_GBps,
        strict=True,
    )
    rows = [
        (say_bytes(size), f"{was:.3g} GB/s", f"{now:.3g} GB/s", f"{low:.3g} to {high:.3g} GB/s", Cell(f"{now / was:.2f}{TIMES_SIGN}", strong=True))
        for size, was, now, low, high in ends
    ]  # fmt: skip
    head = ("message", "measured", "simulated", "range", "gain")
    yield Table("Algorithm bandwidth, simulated with Peer Direct", head, rows, right=range(5))
    fitted = f"; some of its figures were fitted on {forecast.fitted_on}" if forecast.fitted_on else ""
    yield Text(
        f"Simulated on {forecast.cluster}{fitted}. Range: all assumed figures at the ends of their ranges, and the model's own error on "
        f"this log, a factor of {forecast.spread:.3g}.",
        quiet=True,
    )
