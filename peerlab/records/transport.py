"""Lines of a log that tell about the transport."""

import re
from collections.abc import Iterable

from peerlab.records.launch import allowed
from peerlab.records.text import Line

_MOST = 100
"""Kept at most; a large job says the same for every rank."""
_LONGEST = 200

_TELLS = re.compile(
    r"((?:\[(?:send|receive)\] )?via (?:NET|P2P|SHM|CollNet|COLLNET)/.*"
    r"|Selected [Pp]rovider is .*"
    r"|Using network .*"
    r"|NET/(?:OFI|IB(?:ext\w{0,6})?|gIB|Socket|Plugin|UCX|Libfabric|FasTrak|GPUDirectTCPX\w*)\b.*"
    r"|use ring PXN \d GDR \d"
    r"|MNNVL \d cliqueId \S+ cliqueSize \d+"
    r"|GPU Direct RDMA (?:Enabled|Disabled).*"
    r"|DMA-?BUF .*|Dma-buf .*|nv_?peer_?mem.*"
    r"|UCX +INFO .{0,200}(?:inter|intra)-node.*"
    r"|(?:inter|intra)-node cfg#\d+ .*"  # a table of UCX_PROTO_INFO, and lines that lost their head
    r"|rendezvous (?:pipeline )?(?:(?:cuda|rocm)_copy|zero-copy)\b.*"
    r"|Send Buffer on .*)"
)
_SET = re.compile(
    r"\b([A-Z][A-Z0-9_]{3,60}) set (?:by environment )?to (\S{1,200}?)\.?\s*\Z"  # NCCL itself, of NCCL_IB_HCA without "by environment"
    r"|\A\s*(?:\++\s*)?(?:export\s+)?([A-Z][A-Z0-9_]{3,60})=([\"']?)([^\s\"']{1,200})\4\s*\Z"  # a script's export, its trace, or a line of env
)


def transport_lines(lines: Iterable[Line]) -> list[str]:
    """Return what lines say about the transport, each once, in order, cut at 200 characters."""
    entries: dict[str, None] = {}
    for line in lines:
        if match := _TELLS.search(line.text):
            entries.setdefault(match[1][:_LONGEST].rstrip())
            if len(entries) == _MOST:
                break
    return list(entries)


def environment_lines(lines: Iterable[Line]) -> dict[str, str]:
    """Return what lines say about environment variables, as far as they may be kept."""
    matches = (_SET.search(line.text) for line in lines if " to " in line.text or "=" in line.text)
    return allowed(f"{match[1] or match[3]}={match[2] or match[5]}" for match in matches if match)
