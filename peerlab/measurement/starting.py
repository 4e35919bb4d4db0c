"""How processes of a measurement are started: fresh ones, never forks of a kernel with its threads."""

import os
from pathlib import Path

_PACKAGES = Path(__file__).parent.parent.parent


def environment() -> dict[str, str]:
    """Return the environment for a process of ours: it finds this very peerlab, and starts no threads of its own."""
    paths = [str(_PACKAGES), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "OPENBLAS_NUM_THREADS": "1"}
