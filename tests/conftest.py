"""Shared by all tests: hypothesis profiles, long trials, and where the reference data lies."""

import os
import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

SOAK = bool(os.environ.get("PEERLAB_SOAK"))

_COMMON = {"deadline": None, "derandomize": not SOAK, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("test", max_examples=60, **_COMMON)
settings.register_profile("soak", max_examples=600, **_COMMON)
settings.load_profile("soak" if SOAK else "test")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # a shell's background job ignores Ctrl+C, and so would every process that a test starts and interrupts
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def reference_dir() -> Path:
    """The folder with real logs and other simulators' results; it is not part of the project."""
    folder = os.environ.get("PEERLAB_REFERENCE_DIR")
    if not folder:
        pytest.skip("PEERLAB_REFERENCE_DIR is not set")
    return Path(folder)


@pytest.fixture(scope="session")
def root() -> Path:
    """The checkout."""
    return Path(__file__).parent.parent
