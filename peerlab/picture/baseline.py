"""What a run differs by from the one before it, so that a page names what it compares with: ``with the cache``, ``through host``."""

from dataclasses import fields

from peerlab.base.units import say_bytes, say_count, say_percent
from peerlab.picture.words import slow_links, slow_nics, slow_nodes
from peerlab.question.scenario import Scenario

_SAID = frozenset(
    {"cluster", "nodes", "path", "registration", "collective", "message_bytes", "slow_nodes", "slow_nics"}
    | {"slow_links", "jitter"}
)
"""Fields that have words of their own; the rarer ones are one entry."""
_CACHES = {"cached": "with the cache", "per-transfer": "without the cache"}


def settings(s: Scenario) -> dict[str, str]:
    """Return the settings of a scenario by field, each as it stands before a figure: ``with the cache``, ``on 8 nodes``.

    The last entry holds all rarer fields; its text is never shown.
    """
    given = {
        "cluster": f"on {s.hardware.title}",
        "nodes": f"on {say_count(s.nodes, 'node')}",
        "path": _path(s),
        "collective": f"in {s.collective_record.title}",
        "message_bytes": f"for {say_bytes(s.nbytes)}",
        "slow_nodes": _with(slow_nodes(s), "without slow node"),
        "slow_nics": _with(slow_nics(s), "with all NICs"),
        "slow_links": _with(slow_links(s), "without slow link"),
        "jitter": f"with {say_percent(s.jitter)} jitter" if s.jitter else "without jitter",
    }
    if s.data_path.uses_device_memory:  # elsewhere the cache changes nothing
        given["registration"] = _CACHES.get(str(s.registration), "with one pool")
    rest = [
        f"{field.name}={getattr(s, field.name)!r}"
        for field in fields(s)
        if field.init and field.name not in _SAID and getattr(s, field.name) != field.default
    ]
    return {**given, "rest": ", ".join(rest)}


def _path(s: Scenario) -> str:
    title = s.data_path.title
    return "through host" if title.endswith("through host") else f"by {title}"


def _with(parts: list[str], none: str) -> str:
    if not parts:
        return none
    return f"with {parts[0]}" if len(parts) == 1 else f"with {len(parts)} slow parts"
