"""What copies and registrations cost, in words and tables: the command prints them, a notebook shows them."""

from collections.abc import Iterator

from peerlab.base.document import Document, Heading, Item, Items, Part, Table, Text
from peerlab.base.units import PS_PER_US, say_bytes, say_time
from peerlab.page.document_html import document_html
from peerlab.records.copies import CopyCost, CopyTime

_RATES_FROM = 64 * 1024
"""Below this a rate says how long starting takes, and nothing of the link."""
_LEGEND = (
    "Times are medians from starting a copy to having awaited it, with the quartiles of the repetitions; both ways: one copy "
    "each way at once, with the rate of each."
)


def copies_document(cost: CopyCost) -> Document:
    """Return what copies cost."""
    return Document(f"Copies between {_device(cost)} and host memory", tuple(_parts(cost)))


def copies_html(cost: CopyCost) -> str:
    """Return the same as HTML for a notebook."""
    return document_html(copies_document(cost), "copies")


def _device(cost: CopyCost) -> str:
    return ", ".join(cost.manifest.get("devices", ())) or "a GPU"


def _parts(cost: CopyCost) -> Iterator[Part]:
    columns = list(dict.fromkeys((time.way, time.host) for time in cost.copies))
    sizes = sorted({time.size_bytes for time in cost.copies})
    by_place = {(time.way, time.host, time.size_bytes): time for time in cost.copies}
    head = ("size", *(f"{way}, {host}" for way, host in columns))
    right = set(range(len(head)))
    rows = [(say_bytes(size), *(_time(by_place[way, host, size]) for way, host in columns)) for size in sizes]
    yield Table("Time of a copy", head, rows, right=right)
    rates = [
        (say_bytes(size), *(f"{by_place[way, host, size].rate_GBps:.1f}" for way, host in columns))
        for size in sizes
        if size >= _RATES_FROM
    ]
    if rates:
        yield Table("Rate of a copy, GB/s", head, rates, right=right)
    yield Text(_LEGEND, quiet=True)
    yield Text(_noise(cost), lead="Noise:")
    registered = [
        (
            time.what,
            say_bytes(time.size_bytes),
            f"{_us(time.register_us)} [{_us(time.low_us)} to {_us(time.high_us)}]",
            _us(time.deregister_us),
        )
        for time in cost.registrations
    ]
    yield Table(
        "Registering a region", ("what", "size", "register", "deregister"), registered, right={1, 2, 3}
    )
    yield Heading("What this says of a cluster file")
    yield Items(
        "",
        [
            Item(
                f"{figure.key} = {figure.value:.3g} {figure.unit}, {figure.low:.3g} to {figure.high:.3g}",
                figure.how,
            )
            for figure in cost.figures
        ],
    )
    yield Items("", [Item(note) for note in cost.notes])
    yield Text(
        f"Measured on {'; '.join(cost.manifest.get('accelerators', ()))}; {cost.manifest.get('processor', '')}; "
        f"{cost.manifest.get('date', '')}.",
        quiet=True,
    )


def _time(time: CopyTime) -> str:
    return f"{_us(time.time_us)} [{_us(time.low_us)} to {_us(time.high_us)}]"


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
