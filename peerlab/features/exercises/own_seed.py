"""The learner's own seed, in a file beside the labs: who sits beside them gets another transfer task."""

from pathlib import Path
from random import SystemRandom

FILE = "seed.txt"
_MOST = 9999


def own_seed() -> int:
    """Return the number in the file, drawn and written when it is first asked for; where nothing can be kept, another one each time."""
    # Drawn before the file is read: it is needed if there is none, or another one's.
    drawn = SystemRandom().randint(1, _MOST)
    try:
        return int(Path(FILE).read_text(encoding="ascii")[:9])
    except ValueError:  # a file of somebody else's stays
        return drawn
    except OSError:
        return _kept(drawn)


def _kept(drawn: int) -> int:
    try:
        # "x": of two kernels that begin at once one writes, and the other one reads what it wrote.
        with Path(FILE).open("x", encoding="ascii") as file:
            file.write(f"{drawn}\n")
    except FileExistsError:  # another kernel was sooner
        return own_seed()
    except OSError:
        return drawn
    return drawn
