"""Takes out of records what tells whose they are, and leaves what tells what was measured."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

from peerlab.records.columns import Columns
from peerlab.records.launch import ALLOWED, benchmark_of, is_launcher

_QUOTED = re.compile(r"""'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*\"""")
# Nothing of a word stands before it: GB/s and 3/4 are no paths.
_PATH = re.compile(r"(?<![\w/.])(?:~|\.{1,2})?(?:/[\w.+@%,:=-]+)+/?|[A-Za-z]:\\\\?[^\s\"']+")
_USER = re.compile(r"\b[\w.+-]+@[\w.-]+")
# Six pairs of digits; an InfiniBand port has twenty.
_MAC = re.compile(r"(?<!\w)(?:[0-9a-fA-F]{2}[:-]){5,19}[0-9a-fA-F]{2}(?![\w:])")
# All eight groups, or a double colon: a time of day has neither.
_IPV6 = re.compile(
    r"(?<!\w)(?:(?:[0-9a-fA-F]{1,4}:){7}[0-9a-fA-F]{1,4}|(?=[0-9a-fA-F:]{0,37}::)[0-9a-fA-F:]{2,39})(?!\w)"
)
# The second form is how AWS calls its hosts.
_IPV4 = re.compile(r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?![\w.]*\w)|\bip-\d{1,3}(?:-\d{1,3}){3}\b")
# Two points at least: with one it is a file's name.
_DOTTED = re.compile(r"\b[A-Za-z][\w-]*(?:\.[A-Za-z][\w-]*){2,}\b")
# In this order: a path may hold a user's name, and an address of mail a host's.
_TELLTALE = (
    *(("path", _PATH), ("user", _USER), ("address", _MAC), ("address", _IPV6), ("address", _IPV4)),
    ("host", _DOTTED),
)
_COUNT = re.compile(r"(?:-[A-Za-z]|--[a-z-]{1,24}=)?[0-9]{1,15}[KMGkmg]?i?[Bb]?")
_OPTION = re.compile(
    r"--[a-z][a-z_-]{0,24}|-[A-Za-z]|-np|-ppn"
)  # -Aname would be a short option with its value
_PLAIN = frozenset(
    (
        *("D", "H", "M", "MD", "cuda", "rocm", "openacc", "float", "half", "double", "bfloat16", "sum"),
        *("allr", "all_reduce", "allg", "all_gather", "redsct", "reduce_scatter", "alltoall", "sendrecv"),
        *("permute", "fp32", "bf16", "fp16", "uint8"),
    )
)


def anonymised(
    columns: Columns, manifest: Mapping[str, Any], warnings: Sequence[str]
) -> tuple[Columns, dict[str, Any], tuple[str, ...]]:
    """Return the parts of records without names of hosts, users and files, without addresses and paths.

    The same name gets the same stand-in everywhere (``host-1``). Of the command only what is known to be harmless is
    left; transport, providers, devices and the environment (an allow-list anyway) stay.
    """
    scrub = _Scrubber(_hosts(manifest), (name.partition(": ")[2] for name in columns["source"]))
    return (
        {**columns, "source": [scrub.text(name) for name in columns["source"]]},
        {name: scrub.entry(name, value) for name, value in manifest.items()},
        tuple(map(scrub.warning, warnings)),
    )


class _Scrubber:
    """Replaces names by numbered stand-ins, the same everywhere."""

    def __init__(self, hosts: Iterable[str], sources: Iterable[str]) -> None:
        self._stand_ins: dict[str, dict[str, str]] = {}
        entries = {name: "source" for name in sources if name} | {name: "host" for name in hosts if name}
        for name, kind in entries.items():
            self._stand_in(kind, name)
        self._known = entries
        # A short name may be the beginning of a longer one.
        longest_first = sorted(entries, key=len, reverse=True)
        # Without a name the pattern matches nothing; an empty one would match everywhere.
        self._names = re.compile(
            rf"(?<![\w-])(?:{'|'.join(map(re.escape, longest_first)) or '(?!)'})(?![\w-])"
        )

    def entry(self, name: str, value: Any) -> Any:
        """Return an entry of the manifest."""
        if name == "command" and isinstance(value, str):
            return _harmless(value)
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {key: self.entry(key, part) for key, part in value.items()}
        if isinstance(value, (list, tuple)):
            return [self.entry(name, part) for part in value]
        return value

    def text(self, text: str) -> str:
        """Return a text with stand-ins; names that are known come first, since a file's may hold a host's."""
        text = self._names.sub(lambda match: self._stand_in(self._known[match[0]], match[0]), text)
        for kind, pattern in _TELLTALE:
            text = pattern.sub(self._numbered(kind), text)
        return text

    def warning(self, text: str) -> str:
        """Return a warning without what it quotes."""
        # What a warning quotes is a piece of the log, in which nobody has looked for names.
        return self.text(_QUOTED.sub("'...'", text))

    def _numbered(self, kind: str) -> Callable[[re.Match[str]], str]:
        return lambda match: self._stand_in(kind, match[0])

    def _stand_in(self, kind: str, name: str) -> str:
        names = self._stand_ins.setdefault(kind, {})
        return names.setdefault(name, f"{kind}-{len(names) + 1}")


def _hosts(manifest: Mapping[str, Any]) -> list[str]:
    """Return the hosts that a manifest names, and those of its parts."""
    hosts, parts = (
        held if isinstance(held, (list, tuple)) else () for held in map(manifest.get, ("hosts", "parts"))
    )
    inner = (_hosts(part) for part in parts if isinstance(part, Mapping))
    return [*map(str, hosts), *chain.from_iterable(inner)]


def _harmless(command: str) -> str:
    """Return the words of a command that are known to tell nothing about its user; dots stand for the others."""
    words = [word if _is_harmless(word) else "..." for word in map(_shortened, command.split())]
    pairs = zip(["", *words], words, strict=False)
    return " ".join(word for before, word in pairs if not word == before == "...")


def _shortened(word: str) -> str:
    """Return the program's name without its folder, and without what a build adds to it."""
    name = word.rpartition("/")[2]
    return benchmark_of(name) or (name if is_launcher(name) else word)


def _is_harmless(word: str) -> bool:
    name, equals, value = word.partition("=")
    # Of a variable that may be kept, too, a value with a path or an address is left out.
    if equals and name in ALLOWED:
        return bool(re.fullmatch(r"[\w,:^;.]{0,60}", value)) and not _IPV4.search(value)
    known = word in _PLAIN or benchmark_of(word) or is_launcher(word)
    return bool(known) or bool(_COUNT.fullmatch(word) or _OPTION.fullmatch(word))
