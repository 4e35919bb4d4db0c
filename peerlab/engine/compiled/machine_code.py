"""The machine code of the compiled loop: what it is made of, and whether it is on disk; asking loads no compiler."""

import sys
from functools import lru_cache
from pathlib import Path
from zlib import crc32

from peerlab.engine import jitter, standing_still
from peerlab.model import stages

SOURCES = (
    *sorted(Path(__file__).parent.glob("*.py")),
    *(Path(str(module.__file__)) for module in (jitter, standing_still, stages)),
)
"""Everything that is compiled together, and the stages, whose numbers are constants in it."""
_PYTHON = f"py{sys.version_info.major}{sys.version_info.minor}"


def name() -> str:
    """Return what the function is called whose machine code is kept: it has a checksum of all that is compiled with it.

    Numba itself looks only at the file of that function. Times of files say nothing: those of a package that is installed are of the day on
    which it was built, and what numba kept of the version before stays where that was.
    """
    return f"run_{_checksum(tuple((file, file.stat().st_mtime_ns, file.stat().st_size) for file in SOURCES)):08x}"


@lru_cache(maxsize=1)
def _checksum(files: tuple[tuple[Path, int, int], ...]) -> int:
    return crc32(b"".join(file.read_bytes() for file, _, _ in files))


def on_disk() -> bool:
    """Return whether machine code of these sources is kept beside them; of code that is kept elsewhere nothing is known beforehand."""
    # numba names the list of the machine code of a function after file, function and Python
    folder = Path(__file__).parent / "__pycache__"
    return any(folder.glob(f"compiled_loop.*{name()}-*{_PYTHON}*.nbi"))
