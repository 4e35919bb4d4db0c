"""How many NICs a log says that the library uses."""

import re

from peerlab.diagnosis.observed import Observed

_VERBS = re.compile(r"NET/IB : Using (.*)")
_CARD = re.compile(r"\[\d{1,4}\]\S{1,60}:\d{1,4}")
_PLUGIN = re.compile(r"found (\d{1,3}) nics")
_CUT = 200
"""Characters of a line that readers keep: a longer line may name more."""


def nics_in_use(seen: Observed) -> int | None:
    """Return the least number of NICs that a line of the log names; None where no line names them all.

    NCCL over verbs writes ``NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/IB [RO]; OOB eth0``, the plugin for EFA ``(found 4 nics)``.
    """
    counts = []
    for line in seen.said:
        # A line that was cut may name more NICs than are left of it.
        if (match := _VERBS.search(line)) and len(line) < _CUT:
            counts.append(len(_CARD.findall(match[1])))
        elif match := _PLUGIN.search(line):
            counts.append(int(match[1]))
    return min((count for count in counts if count), default=None)
