"""The operations of numpy that an answer needs, on Python's own lists: for a browser tab, where numpy is not.

`peerlab.base.numbers` takes numpy where it is there, and this otherwise. What is not written here is refused by name when it is
called. `tests/test_whole_numbers.py` holds every operation to numpy's result, and whole answers byte by byte.

Two things differ from numpy, and no module that runs in a tab may rely on them. An index copies: ``part = rows[2:5]`` is never a
view, while ``rows[2:5] += 1`` writes into `rows`. And whole numbers do not overflow.
"""

from typing import Any

from peerlab.base.absent import Absent
from peerlab.base.whole_numbers import streams as random  # noqa: F401  numpy's name

# every public name of these modules is one of numpy's
from peerlab.base.whole_numbers.combining import *  # noqa: F403
from peerlab.base.whole_numbers.kinds import *  # noqa: F403
from peerlab.base.whole_numbers.making import *  # noqa: F403
from peerlab.base.whole_numbers.rows import *  # noqa: F403
from peerlab.base.whole_numbers.searching import *  # noqa: F403


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return Absent(f"numpy.{name}")
