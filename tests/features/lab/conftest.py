"""Labs that are started for a test end with it."""

import pytest
from running import Running


@pytest.fixture
def start(tmp_path):
    """Start a lab, with another command, folder, port or environment than by default."""
    running = []

    def begin(*command, folder=tmp_path, **how):
        running.append(Running(folder, *command, **how))
        return running[-1]

    yield begin
    for one in running:
        one.close()
