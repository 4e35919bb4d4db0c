"""The machine code of the compiled loop: what it is made of, and whether it is on disk; asking loads no compiler."""

import sys
from pathlib import Path

from peerlab.engine import jitter, standing_still
from peerlab.model import stages

SOURCES = (
    *sorted(Path(__file__).parent.glob("*.py")),
    *(Path(str(module.__file__)) for module in (jitter, standing_still, stages)),
)
"""Everything that is compiled together, and the stages, whose numbers are constants in it."""
_INDEX = f"compiled_loop.*py{sys.version_info.major}{sys.version_info.minor}*.nbi"
"""What numba calls the list of the machine code that it keeps."""


def on_disk() -> bool:
    """Return whether machine code of these sources is kept beside them; of code that is kept elsewhere nothing is known beforehand."""
    # older code is of another version and is compiled anew
    changed = max(file.stat().st_mtime for file in SOURCES)
    folder = Path(__file__).parent / "__pycache__"
    return any(code.stat().st_mtime > changed for code in folder.glob(_INDEX))
