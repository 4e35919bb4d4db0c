"""What a diagnosis says: which path, by what evidence, what Peer Direct would bring, and what to check next."""

import math
from collections.abc import Iterator, Sequence

from peerlab.base.document import Cell, Conclusion, Document, Fold, Heading, Item, Items, Part, Table, Text
from peerlab.base.units import say_bytes, say_percent
from peerlab.diagnosis import Diagnosis, Evidence, Explanation, Forecast, explanations
from peerlab.model.paths import PATHS, path_titles

# What stays inside a node is no data path between nodes, so no record has its title.
_NAMES = {**path_titles(), "in-node": "links inside the node"}
STATUSES = {"clear": "pass", "probable": "warn", "cannot tell": "unknown"}
"""The status of each verdict."""
_HEAD = ("path", "odds", "bandwidth, measured by simulated")
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


def _parts(diagnosis: Diagnosis, judging: str) -> Iterator[Part]:
    path = diagnosis.path
    named = f"{path} ({explanations()[path]}), {diagnosis.verdict}" if path else "Cannot tell which path"
    yield Conclusion(STATUSES[diagnosis.verdict], named, diagnosis.why)
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
        Cell(path_name(explanation.path), below=explanation.path),
        Cell(odds, bar=explanation.odds, role=role),
        Cell(f"{fit.ratio:.3g} times on {fit.cluster.name}" if fit else "not simulated"),
    )


def _evidence(evidence: Evidence) -> Item:
    # From what it makes likelier to what it makes unlikely.
    ordered = sorted(evidence.points.items(), key=lambda point: -point[1])
    points = ", ".join(_points(*point) for point in ordered) or "says nothing for or against"
    grounds = f"{'known' if evidence.known else 'assumed'}: {evidence.source}"
    return Item(f"{evidence.seen}: {evidence.says}", points, source=grounds)


def _points(path: str, points: float) -> str:
    likelier = "likelier" if points > 0 else "less likely"
    return f"{path} {math.exp(abs(points)):.2g} times {likelier} ({points:+.1f})"


def gain_words(forecast: Forecast) -> Text:
    """Return by how much Peer Direct would be faster at the largest size, and how sure that is."""
    words = f"with Peer Direct at {say_bytes(forecast.sizes[-1])}; {forecast.gain.range_in_words()}."
    return Text(words, lead=f"{forecast.ratio[-1]:.2f} times")


def _forecast(forecast: Forecast) -> Iterator[Part]:
    yield Heading("With Peer Direct")
    if forecast.why_not:
        yield Text(forecast.why_not)
        return
    yield gain_words(forecast)
    ends = zip(
        forecast.sizes,
        forecast.measured_GBps,
        forecast.GBps,
        forecast.low_GBps,
        forecast.high_GBps,
        strict=True,
    )
    rows = [
        (say_bytes(size), f"{was:.3g} GB/s", f"{now:.3g} GB/s", f"{low:.3g} to {high:.3g} GB/s", Cell(f"{now / was:.3g}x", strong=True))
        for size, was, now, low, high in ends
    ]  # fmt: skip
    head = ("message", "measured", "with it", "from, to", "gain")
    yield Table("Algorithm bandwidth, simulated with Peer Direct", head, rows, right=range(5))
    fitted = f"; some of its figures were fitted on {forecast.fitted_on}" if forecast.fitted_on else ""
    yield Text(
        f"Simulated on {forecast.cluster}{fitted}. From, to: all assumed figures at the ends of their ranges, and the model's own error on "
        f"this log, a factor of {forecast.spread:.3g}.",
        quiet=True,
    )
