"""What a diagnosis says: which path, by what evidence, what Peer Direct would bring, and what to check next."""

import math
import re
from collections.abc import Iterable, Iterator, Sequence

from peerlab.answer.gain import GainBand
from peerlab.base.document import Cell, Conclusion, Document, Fold, Heading, Item, Items, Part, Table, Text
from peerlab.base.units import TIMES_SIGN, say_bytes, say_digits, say_gain, say_percent, with_signs
from peerlab.diagnosis import Diagnosis, Evidence, Explanation, Forecast, explanations
from peerlab.model.paths import PATHS, PEER_DIRECT, path_titles
from peerlab.question.presets import known_clusters, load_cluster

# What stays inside a node is no data path between nodes, so no record has its title.
_NAMES = {**path_titles(), "in-node": "links inside the node"}
_CLEAR, _UNKNOWN = "clear", "cannot tell"
# Names of files and clusters may begin like a path: `host-rdma.toml` is none.
_PATH = re.compile(rf"(?<![\w./-])(?:{'|'.join(map(re.escape, _NAMES))})(?![\w/-]|\.\w)")
_HEAD = ("path", "odds", f"measured ÷ simulated (1{TIMES_SIGN} fits)")
_WEIGHED = (
    "Odds rest on how much each kind of evidence weighs, which is judgement (data/diagnosis.toml); points are the natural "
    "logarithms of the weights, added up: 2.3 points are 10 times likelier."
)
_EXPLAINS = "How well each path explains it"
_EVIDENCE, _FURTHER = "The evidence, the weightiest first", "What to check next"
_EACH_SIZE = "Each size: algorithm bandwidth in GB/s"
_WIDE = 1.5
"""Times its low end from which a range is wide: then a third digit of what lies in it would promise too much."""
_LEAST = 0.01
"""Odds below this would be written as 0 %, or add up to more than all with the others."""
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
    # A sign judges. Which path it was is neither good nor bad, and how sure that is, its name says.
    status = "unknown" if diagnosis.verdict == _UNKNOWN else "named"
    return Conclusion(status, _first_up(name), f"{_first_up(why)}.")


def _parts(diagnosis: Diagnosis, judging: str) -> Iterator[Part]:
    yield conclusion(diagnosis)
    clusters = (
        ", ".join(f"`{name}`" for name in diagnosis.clusters)
        or "no cluster, so only what holds on any machine is weighed"
    )
    against = "compared with" if diagnosis.chosen else "recognised:"
    yield Text(f"{diagnosis.seen.says}; {against} {clusters}", quiet=True)
    # A path that is clear says nothing of its speed: a slow run is named before the evidence.
    if diagnosis.shortfall:
        yield Text(f"{diagnosis.shortfall.says}.", lead="The run is slower than its own path:")
    # Before the evidence: who cannot tell wants to know what would.
    if fact := diagnosis.decides:
        yield Items("One fact would decide", [Item(fact.what, fact.tells, fact.command)])
    if diagnosis.path:  # without one the verdict has said that nothing follows
        yield from _forecast(diagnosis.forecast)
    odds = _percents([explanation.odds for explanation in diagnosis.ranking])
    ranked = list(map(_ranked, diagnosis.ranking, odds))
    # The verdict and its sentence have said how far the first is ahead where that is clear.
    yield Table(_EXPLAINS, _HEAD, ranked, right={1}, kind="explained", folded=diagnosis.verdict == _CLEAR)
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
        return [
            Item(check.what, check.tells, check.command)
            if check.command
            else Item(_first_up(f"{check.what}: {check.tells}"))
            for check in diagnosis.checks
        ]
    return [*([Item("is the run well, too?", "", judging)] if judging else []), _NOTHING_SHORTER]


def _ranked(explanation: Explanation, odds: str) -> tuple[Cell, ...]:
    # Links inside a node are no path of the record: they have the colour of the inside.
    role = PATHS[explanation.path].role if explanation.path in PATHS else "inside"
    fit = explanation.fit
    return (
        Cell(_first_up(path_name(explanation.path))),
        Cell(odds, bar=explanation.odds, role=role),
        Cell(_times(fit.ratio) if fit else "not simulated"),
    )


def _percents(odds: Sequence[float]) -> list[str]:
    """Return odds in percent, the largest first, that add up to no more than all: only nothing is 0 % and only all is 100 %.

    >>> _percents([0.466, 0.276, 0.258]), _percents([0.996, 0.004])
    (['47 %', '27 %', '26 %'], ['> 99 %', '< 1 %'])
    """
    # The first is said in sentences, too, so that it is rounded as anywhere; the others share what is left of all.
    first, *others = (100 * share for share in odds)
    whole = [round(first), *map(int, others)]
    # A tie goes to the likelier one, as these come first; none is written as more than the first.
    nearest = sorted(range(1, len(whole)), key=lambda place: whole[place] - 100 * odds[place])
    raised = [place for place in nearest if whole[place] < whole[0]][: 100 - sum(whole)]
    whole = [number + (place in raised) for place, number in enumerate(whole)]
    return [_percent(share, number) for share, number in zip(odds, whole, strict=True)]


def _percent(share: float, whole: int) -> str:
    if 0 < share < _LEAST:
        return f"< {say_percent(_LEAST)}"
    return f"> {say_percent(1 - _LEAST)}" if 1 - _LEAST < share < 1 else say_percent(whole / 100)


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
    digits = _digits([(gain.low, gain.high)])
    # The log's own machine may be one that cannot do it: then the gain is of other hardware, and says of which.
    where = f", on hardware that has it, as {_title(forecast.cluster)}" if forecast.without else ""
    words = f"with Peer Direct at {say_bytes(forecast.sizes[-1])}{where}; {say_digits(gain.value, digits)}{TIMES_SIGN} as simulated"
    return Text(words, lead=f"{say_gain(gain.low, gain.high)} as fast", large=True)


def without_words(forecast: Forecast) -> list[Text]:
    """Return that the machine that a log fits has no Peer Direct, and why; nothing where the gain is its own."""
    if not forecast.without:
        return []
    cluster = load_cluster(forecast.without)
    why = re.sub(r"[\w-]+", lambda word: _title(word[0]), cluster.lacks[PEER_DIRECT])
    return [Text(f"The log fits {cluster.title}. That has no direct path: {why}.", quiet=True)]


def _title(name: str) -> str:
    return load_cluster(name).title if name in known_clusters() else name


def _digits(ranges: Iterable[tuple[float, float]]) -> int:
    """Return how many digits figures have that lie in such ranges."""
    return 2 if any(high > _WIDE * low for low, high in ranges) else 3


def _forecast(forecast: Forecast) -> Iterator[Part]:
    yield Heading("What would Peer Direct gain?")
    if forecast.why_not:
        # A cluster's name keeps its letters.
        named = forecast.why_not.startswith(tuple(known_clusters()))
        yield Text(forecast.why_not if named else _first_up(forecast.why_not))
        return
    yield gain_words(forecast)
    yield from without_words(forecast)
    others = _first_up(with_signs(_others(forecast.gain)))
    # On which wiring a gain holds belongs to the gain.
    if others and forecast.gain.wired:
        yield Text(f"{others}.", quiet=True)
        others = ""
    fitted = f", of which some figures were fitted on {forecast.fitted_on}" if forecast.fitted_on else ""
    rests = (
        f"Simulated on {forecast.cluster}{fitted}. Range: all assumed figures at the ends of their own ranges, times "
        f"the model's error on this log, a factor of {forecast.spread:.3g}.{f' {others}.' if others else ''}"
    )
    yield Fold(_EACH_SIZE, (_at_each_size(forecast), Text(rests, quiet=True)))


def _others(gain: GainBand) -> str:
    """Return what may be otherwise besides figures that have a range, whose band is the answer above."""
    words = gain.range_in_words()
    return words if gain.wired else words.partition("; ")[2]


def _at_each_size(forecast: Forecast) -> Table:
    """Return what was measured at each size, and what Peer Direct would reach there."""
    ends = list(zip(forecast.low_GBps, forecast.high_GBps, strict=True))
    digits = _digits(ends)
    rows = [
        (say_bytes(size), say_digits(was), say_digits(now, digits), f"{say_digits(low, digits)} to {say_digits(high, digits)}",
         Cell(f"{say_digits(now / was, digits)}{TIMES_SIGN}", strong=True))
        for size, was, now, (low, high) in zip(forecast.sizes, forecast.measured_GBps, forecast.GBps, ends, strict=True)
    ]  # fmt: skip
    head = ("message", "measured", "Peer Direct", "range", "gain")
    return Table(_EACH_SIZE, head, rows, right=range(1, 5))
