"""How long copies and registrations take, in words and tables: the command prints them, a notebook shows them."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from peerlab.base.document import Document, Fold, Heading, Item, Items, Part, Table, Text
from peerlab.base.units import PS_PER_US, say_bytes, say_percent, say_time, say_unit
from peerlab.page.document_html import document_html
from peerlab.records.copy_times import CopyCost, CopyTime, RegisterTime

_RATES_FROM = 64 * 1024
"""Bytes of a copy; below this its rate says how long starting takes, and nothing about the link."""
_HOW = "How a time is measured, and its noise"
_LEGEND = (
    "A time is from starting a copy until it has been awaited: the median of the repetitions, in brackets their quartiles beside it. Both "
    "ways: one copy in each direction at once, with the rate of one direction."
)


def copies_document(cost: CopyCost) -> Document:
    """Return how long copies take."""
    return Document(f"Copies between {_device(cost)} and host memory", tuple(_parts(cost)))


def copies_html(cost: CopyCost) -> str:
    """Return the same as HTML for a notebook."""
    return document_html(copies_document(cost), "copies")


def _device(cost: CopyCost) -> str:
    return ", ".join(cost.manifest.get("devices", ())) or "a GPU"


def _parts(cost: CopyCost) -> Iterator[Part]:
    for place, host in enumerate(dict.fromkeys(time.host for time in cost.copies)):
        yield replace(_of_host(host, [time for time in cost.copies if time.host == host]), folded=place > 0)
    if cost.copies:
        yield Fold(_HOW, (Text(_LEGEND, quiet=True), Text(_noise(cost), lead="Noise:")))
    if cost.registrations:
        yield replace(_registered(cost.registrations), folded=True)
    yield from _figures(cost)
    yield Items("", [Item(note) for note in cost.notes])
    yield Text(
        f"Measured on {'; '.join(cost.manifest.get('accelerators', ())) or 'a GPU'}; {cost.manifest.get('processor', '')}; "
        f"{cost.manifest.get('date', '')}.",
        quiet=True,
    )


def _registered(times: Sequence[RegisterTime]) -> Table:
    rows = [
        (
            time.what,
            say_bytes(time.size_bytes),
            _spread(time.register_us, time.low_us, time.high_us),
            _us(time.deregister_us),
        )
        for time in times
    ]
    return Table("Registering a region", ("what", "size", "register", "deregister"), rows, right={1, 2, 3})


def _figures(cost: CopyCost) -> Iterator[Part]:
    yield Heading("What a cluster file can take from this")
    items = [
        Item(
            f"{figure.key} = {figure.value:.3g}{say_unit(figure.unit)}, {figure.low:.3g} to {figure.high:.3g}",
            figure.how,
        )
        for figure in cost.figures
    ]
    if items:
        yield Items("", items)
    else:
        yield Text(
            "Nothing: measure pinned copies, of at most 4 KiB for the time of starting, of 8 MiB or more for the rate."
        )


def _of_host(host: str, times: Sequence[CopyTime]) -> Table:
    """Return a row for each size: the time of each way with its quartiles, and the rate where it says something about the link."""
    ways = list(dict.fromkeys(time.way for time in times))
    cells: dict[int, dict[str, tuple[str, str]]] = {}
    for time in times:
        rate = f"{time.rate_GBps:.1f}" if time.size_bytes >= _RATES_FROM else "-"
        cells.setdefault(time.size_bytes, {})[time.way] = (
            _spread(time.time_us, time.low_us, time.high_us),
            rate,
        )
    head = ("size", *(column for way in ways for column in (way, "GB/s")))
    rows = [
        (say_bytes(size), *(cell for way in ways for cell in of_way.get(way, ("-", "-"))))
        for size, of_way in sorted(cells.items())
    ]
    return Table(f"{host.capitalize()} host memory", head, rows, right=set(range(len(head))))


def _spread(middle_us: float, low_us: float, high_us: float) -> str:
    """Return a median with its quartiles, in per cent of it."""
    low, high = (say_percent(quartile / middle_us - 1, sign=True) for quartile in (low_us, high_us))
    spread = f"{low} {high}" if float(low[:-1]) or float(high[:-1]) else f"±{low[1:]}"
    return f"{_us(middle_us)} [{spread}]"


def _us(us: float) -> str:
    return say_time(round(us * PS_PER_US))


def _noise(cost: CopyCost) -> str:
    """Return how far the same copy differs from itself: the widest quartiles of all kinds and sizes."""
    widest = max(cost.copies, key=lambda time: max(time.again_high, 1 / time.again_low))
    factor = max(widest.again_high, 1 / widest.again_low)
    return (
        f"the same copy, timed twice in a row, differs by a factor of {factor:.2f} at most at the quartiles "
        f"({widest.way}, {widest.host}, {say_bytes(widest.size_bytes)}). A smaller difference says nothing."
    )
