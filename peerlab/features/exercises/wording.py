"""An answer in words, as people write it: in any case, with or without hyphens, quotes, articles and plurals, under any of its names."""

# An answer counts by what it means. `features/exercises/wording` has the other names of paths and parts
# (kernel TCP, host-tcp) and `features/exercises/figure` the other units of a figure; every exercise asks
# these two. The reply to a figure that is no known mistake is the first hint, which says the method, and
# then whether the figure is too high.

import re
from collections.abc import Mapping, Sequence

from peerlab.diagnosis import CANNOT_TELL, explanations
from peerlab.model.paths import path_titles

_NAMES: Mapping[str, Sequence[str]] = {
    "host-tcp": ("TCP", "TCP/IP", "TCP through host", "TCP through host memory", "TCP sockets", "sockets"),
    "host-rdma": (
        "RDMA through host memory", "RDMA via host", "RDMA via host memory", "RDMA over host memory",
        "staged RDMA", "staging", "host staging", "staging through host memory", "staged", "detour",
    ),
    "peer-direct": (
        "direct", "GPUDirect", "GPUDirect RDMA", "GPU Direct", "GPU Direct RDMA", "GDR", "GDRDMA",
        "Gaudi Direct", "P2P", "peer to peer",
    ),
    "device-tcp": ("TCPXO", "TCPX", "GPUDirect-TCPX", "FasTrak", "TCP into device memory"),
    "PCIe uplink": ("uplink", "PCIe", "PCIe link", "PCIe to host", "PCIe from host", "uplink up", "uplink down"),
    "NIC": ("network card", "adapter", "network adapter", "wire", "network", "NIC send", "NIC receive"),
    "CPU core": ("CPU", "core", "processor", "host CPU"),
    "host memory": ("DRAM", "memory", "main memory", "RAM", "host DRAM", "memory bandwidth"),
    "latency": ("flight", "in flight", "in flight (latency)"),
    "server": ("node", "host", "machine"),
    "region": ("entry", "registration"),
    CANNOT_TELL: (
        "can't tell", "can't say", "cannot say", "cannot know", "nobody can tell", "unknown", "unclear",
        "undecided", "don't know",
    ),
}  # fmt: skip
"""What else people call a thing: the field's other names, and those of views and reports. A path has its names there as well."""

_JOINED = re.compile(r"(?<=\w)[-_\u2010-\u2013](?=\w)|[\"'`\u2018-\u201f]")
"""Hyphens within a word, and quotes."""
_ARTICLES = ("a", "an", "the")
_PLURAL = re.compile(r"(?<=\w\w)ies$|(?<=\w\w[^s])s$")


def _words(text: str) -> list[str]:
    """Return the words of a text without what does not tell them apart; a hyphen joins two words into one."""
    joined = _JOINED.sub("", text.casefold())
    words = [word for word in re.findall(r"[^\W_]+", joined) if word not in _ARTICLES]
    return [_PLURAL.sub(lambda end: "y" if end[0] == "ies" else "", word) for word in words]


def _squeezed(text: str) -> str:
    return "".join(_words(text))


_KNOWN = {
    # Other names of a path as pictures and reports have them.
    _squeezed(name): _squeezed(term)
    for term, names in _NAMES.items()
    for name in (*names, *(table[term] for table in (path_titles(), explanations()) if term in table))
}


def _named(text: str) -> str:
    """Return one spelling for all names of a thing."""
    squeezed = _squeezed(text)
    return _KNOWN.get(squeezed, squeezed)


def same(text: str, other: str) -> bool:
    """Tell whether two texts name the same thing.

    >>> same("kernel TCP", "host_tcp"), same("nodes", "Server"), same("TCP", "Peer Direct")
    (True, True, False)
    """
    return bool(_words(text)) and _named(text) == _named(other)


def meant(answer: object, options: Mapping[str, Sequence[str]] | Sequence[str]) -> str | None:
    """Return the option that an answer means; None if it means none of them, or several.

    An option may be called by all its words, by its first ones, by what stands before its colon, or by one of its other names.

    Parameters
    ----------
    answer:
        What was answered; what is no text means nothing.
    options:
        What there is to choose from; as a mapping, each with its other names.
    """
    if not isinstance(answer, str):
        return None
    answer = str.__str__(answer)  # whatever a kind of text of the learner's own does instead
    if not _words(answer):
        return None
    called = options if isinstance(options, Mapping) else dict.fromkeys(options, ())
    whole = [option for option, names in called.items() if _calls(answer, option, names)]
    # The beginning of one option alone: of several it means none.
    meant = whole or [option for option in called if _words(option)[: len(_words(answer))] == _words(answer)]
    return meant[0] if len(meant) == 1 else None


def _calls(answer: str, option: str, names: Sequence[str]) -> bool:
    return any(same(answer, name) for name in (option, option.partition(":")[0], *names))
