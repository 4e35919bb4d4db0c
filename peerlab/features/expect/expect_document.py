"""The words of an expectation and of a verdict, written once: a terminal and Markdown show all of them, a page has the same words around its picture."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from peerlab.base.document import Conclusion, Document, Fold, Graphic, Item, Items, Part, Table, Text
from peerlab.base.units import say_bytes, say_percent
from peerlab.features.expect.band_picture import band_html, one_size_html
from peerlab.features.expect.closest_size import closest_row
from peerlab.features.expect.expectation import figure

Told = Mapping[str, Any]
"""What `as_dict` of a verdict, an expectation or one of their parts returns."""
STATUSES = {"healthy": "pass", "held-up": "warn", "below": "fail", "unknown": "unknown"}
"""The status of each verdict."""
UNSEEN = "What one log cannot rule out: faults that would leave it above its floor"
_OPEN = {"unknown": "cannot tell: "}
"""Before the sentence of a verdict."""
_EACH = "Each size: bus bandwidth in GB/s, as nccl-tests print it"
_LINES = "Where expected, floor and ceiling come from"
_SAME = 0.05
"""A log and a curve that differ by less on average are alike."""


def expectation_document(expectation: Told) -> Document:
    """Return what a machine should reach."""
    head = ("size", "floor", "expected (band)", "ceiling", "what limits")
    rows = [_expected_row(row) for row in expectation["rows"]]
    parts: list[Part] = [Conclusion("unknown", expectation["what_if"], "")] if expectation["what_if"] else []
    parts += [
        Text(expectation["says"], quiet=True),
        Graphic(_picture(expectation["rows"])),
        Table(_EACH, head, rows, right=range(4), kind="sizes", folded=True),
        Fold(_LINES, tuple(Text(note, quiet=True) for note in expectation["notes"])),
    ]
    return Document("What this machine should reach", tuple(parts))


def _picture(rows: Sequence[Told]) -> str:
    return band_html(rows) if len(rows) > 1 else one_size_html(rows[0])


def verdict_document(verdict: Told, title: str = "Is this run healthy?") -> Document:
    """Return whether a run is well, and which faults would look like it."""
    return Document(title, tuple(_verdict(verdict)))


def _verdict(verdict: Told) -> Iterator[Part]:
    yield Conclusion(STATUSES[verdict["verdict"]], conclusion(verdict), "")
    if sentence := verdict["because"] or closest_words(verdict):
        yield Text(sentence)
    yield Text(log_words(verdict), quiet=True)
    yield judged_table(verdict["rows"])
    yield from (Text(note, quiet=True) for note in verdict["notes"])
    yield Items("Which fault would look like this, and what decides", list(map(_cause, verdict["causes"])))
    if verdict["ruled_out"]:
        yield Text(ruled_out(verdict["ruled_out"]))
    yield Items(UNSEEN, [Item(unseen_words(fault), fault["decides"]) for fault in verdict["unseen"]])


def conclusion(verdict: Told) -> str:
    """Return a verdict as a sentence."""
    return first_up(_OPEN.get(verdict["verdict"], "") + verdict["why"])


def closest_of(verdict: Told) -> Told | None:
    """Return the row of a run that is well which comes closest to its floor; none of another."""
    return closest_row(verdict["rows"]) if STATUSES[verdict["verdict"]] == "pass" else None


def closest_words(verdict: Told) -> str:
    """Return which size of a run that is well comes closest to its floor; empty of another."""
    row = closest_of(verdict)
    if row is None:
        return ""
    return f"Closest to its floor is {say_bytes(row['size'])}: {figure(row['measured'])} GB/s, where the floor is {figure(row['floor'])}."


def log_words(verdict: Told) -> str:
    """Return what the log is, and of which machine it was taken to be."""
    held = f"; compared with `{verdict['cluster']}`" if verdict["cluster"] else ""
    return f"{verdict['log']}{held}"


def judged_table(rows: Sequence[Told]) -> Table:
    """Return the sizes of a log beside what they should be; alone where that is not known."""
    if not any(row["expected"] for row in rows):
        bare = [(say_bytes(row["size"]), figure(row["measured"])) for row in rows]
        return Table(_EACH, ("size", "measured"), bare, right=range(2), kind="sizes", folded=True)
    head = ("size", "measured", "floor", "expected (band)", "ceiling", "")
    return Table(_EACH, head, list(map(_judged_row, rows)), right=range(5), kind="sizes", folded=True)


def share_words(cause: Told) -> str:
    """Return how much of the gap a fault explains."""
    return "the log says so" if cause["said"] else say_percent(cause["explains"])


def cause_words(cause: Told) -> str:
    """Return what a fault means, and what it would leave where that is not what the log has."""
    times = cause["leaves"]
    leaves = "" if abs(times - 1) < _SAME else f"the log has {say_percent(times)} of what it would leave"
    return first_up("; ".join(filter(None, (cause["means"], leaves))))


def unseen_words(fault: Told) -> str:
    """Return a fault that one log cannot rule out, with what it would leave."""
    logged = ", and the log says so" if fault["said"] else ""
    return f"{first_up(fault['name'])}{logged}: {figure(fault['GBps'])} GB/s, where the floor is {figure(fault['floor'])}"


def ruled_out(names: Sequence[str]) -> str:
    """Return the faults that the log contradicts."""
    return f"Ruled out: {', '.join(names)}"


def first_up(words: str) -> str:
    """Return words as a sentence begins."""
    return words[:1].upper() + words[1:]


def _cause(cause: Told) -> Item:
    share = share_words(cause) if cause["said"] else f"explains {share_words(cause)} of the gap"
    words = cause_words(cause)
    return Item(f"{first_up(cause['name'])}: {share}{f'. {words}' if words else ''}", cause["decides"])


def _judged_row(row: Told) -> tuple[str, ...]:
    words = "below its floor" if row["below"] else "held up" if row["disturbed"] else ""
    own = (say_bytes(row["size"]), figure(row["measured"]))
    return (*own, *(_expected_row(row)[1:4] if row["expected"] else ("-", "-", "-")), words)


def _expected_row(row: Told) -> tuple[str, ...]:
    band = f"{figure(row['expected'])} ({figure(row['low'])} to {figure(row['high'])})"
    floor = "-" if row["floor"] is None else figure(row["floor"])
    return say_bytes(row["size"]), floor, band, figure(row["ceiling"]), row.get("limits", "")
