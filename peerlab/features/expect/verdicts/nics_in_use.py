"""How many NICs a log says that the library uses."""

import re

from peerlab.diagnosis.observed import Observed

_VERBS = re.compile(r"NET/IB : Using (.*)")
_CARD = re.compile(r"\[\d{1,4}\]\S{1,60}:\d{1,4}")
_PLUGIN = re.compile(r"found (\d{1,3}) nics")
_CHOSEN = re.compile(r"NCCL_IB_HCA=(=?)(\w{1,30}_\d{1,2}(?::\d)?(?:,\w{1,30}_\d{1,2}(?::\d)?){0,31})")
_CUT = 200
"""Characters of a line that readers keep: a longer line may name more."""


def nics_in_use(seen: Observed) -> int | None:
    """Return the least number of NICs that a line of the log names; None where no line names them all.

    NCCL over verbs writes ``NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/IB [RO]; OOB eth0``, the plugin for EFA ``(found 4 nics)``; a script
    may choose some: ``NCCL_IB_HCA=mlx5_0,mlx5_3``.
    """
    counts = []
    for line in seen.said:
        # A line that was cut may name more NICs than are left of it.
        if (match := _VERBS.search(line)) and len(line) < _CUT:
            counts.append(len(_CARD.findall(match[1])))
        elif match := _PLUGIN.search(line):
            counts.append(int(match[1]))
        elif match := _CHOSEN.fullmatch(line):
            cards = match[2].split(",")
            # without a second = a name is the beginning of others: mlx5_1 chooses mlx5_10, too
            if match[1] or not any(card.endswith("_1") for card in cards):
                counts.append(len(cards))
    return min((count for count in counts if count), default=None)
