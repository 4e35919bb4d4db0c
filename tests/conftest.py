"""Shared by all tests: hypothesis profiles and their seed, which files run in one process, and where the reference data lies."""

import gc
import os
import random
import re
import signal
import sys
from contextlib import chdir, contextmanager
from pathlib import Path

import pytest
from drawing import SOAK, draw, not_drawn
from groups import Groups, group_of, rank
from hypothesis import HealthCheck, settings

_COMMON = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("test", max_examples=20, **_COMMON)
settings.register_profile("soak", max_examples=600, **_COMMON)
settings.load_profile("soak" if SOAK else "test")

# some 400,000 objects of modules and tests live as long as a process: Python's collector took a third of its time to look through them
gc.set_threshold(50_000, 20, 20)

# jsonschema, which notebooks need, would make a grammar that takes a second (peerlab/features/lab/server.py)
sys.modules.setdefault("rfc3987_syntax", None)

# a shell's background job ignores what Ctrl+C and Ctrl+\\ send, and so would every process that a test starts and interrupts
for number, handler in ((signal.SIGINT, signal.default_int_handler), (signal.SIGQUIT, signal.SIG_DFL)):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, handler)


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config):
    """Choose another seed for every run, before hypothesis looks for it; all processes of a run have the same."""
    if hasattr(config, "workerinput"):
        config.option.hypothesis_seed = config.workerinput["hypothesis_seed"]
    elif config.option.hypothesis_seed is None:
        config.option.hypothesis_seed = str(random.SystemRandom().randrange(2**32))


@pytest.hookimpl(optionalhook=True)  # without xdist nobody calls it
def pytest_configure_node(node):
    """Tell a worker of xdist the seed: it is given the command's arguments, not its options."""
    node.workerinput["hypothesis_seed"] = node.config.option.hypothesis_seed


def pytest_terminal_summary(terminalreporter, config):
    """Say what repeats a failure: the same examples are drawn again with the same seed."""
    failed = {re.split(r"[\[@]", report.nodeid)[0] for report in terminalreporter.stats.get("failed", [])}
    if failed:
        soak = "PEERLAB_SOAK=1 " if SOAK else ""
        command = f"{soak}.venv/bin/python -m pytest --hypothesis-seed={config.option.hypothesis_seed}"
        terminalreporter.section("to repeat what failed")
        terminalreporter.line(f"{command} {' '.join(sorted(failed))}")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """Draw from long trials that are alike, and begin with the groups that take longest."""
    left_out = [] if SOAK else not_drawn(items, config.option.hypothesis_seed)
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]
    items.sort(key=rank)


@pytest.hookimpl(optionalhook=True)  # without xdist nobody calls it
def pytest_xdist_make_scheduler(config, log):
    """Keep a group's tests in one process."""
    return Groups(config, log)


@pytest.hookimpl(optionalhook=True)  # without xdist nobody calls it
def pytest_xdist_auto_num_workers():
    """Start one process more than there are processors: who waits for a browser or a server would leave one idle for a third of its time."""
    return len(os.sched_getaffinity(0)) + 1


WORKERS = {}
"""Group to the processes that ran tests of it."""


def pytest_runtest_logreport(report):
    WORKERS.setdefault(group_of(report.nodeid), set()).add(getattr(report, "worker_id", "master"))


def pytest_sessionfinish(session):
    """Fail if groups were torn apart: what is slow to start was started twice, and nothing else would tell."""
    torn = sorted(group for group, workers in WORKERS.items() if len(workers) > 1)
    if torn and not session.exitstatus:
        session.exitstatus = pytest.ExitCode.INTERNAL_ERROR
        session.config.get_terminal_writer().line(f"torn apart, in several processes: {', '.join(torn)}")


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


@pytest.fixture(scope="session")
def run_seed(request):
    """The seed of this run, for random trials that hypothesis does not draw."""
    return request.config.option.hypothesis_seed


@pytest.fixture
def drawn(request, run_seed):
    """What draws from cases that a test walks in a loop: all in a long trial (`drawing.py`)."""
    chance = random.Random(f"{run_seed} {request.node.nodeid}")  # noqa: S311  (repeatable)
    return lambda cases, **how: list(cases) if SOAK else draw(list(cases), chance, **how)


@pytest.fixture
def own_folder(tmp_path):
    """A folder of the test's own, in which it runs."""
    with chdir(tmp_path):
        yield tmp_path


@pytest.fixture(scope="session")
def sharing():
    """A context in which runs are shared; fixtures of a module or longer enter it themselves."""
    from kept_runs import stand_ins

    kept = stand_ins()

    @contextmanager
    def share():
        with pytest.MonkeyPatch.context() as patch:
            for place, stand_in in kept.items():
                patch.setattr(place, stand_in)
            yield

    return share


@pytest.fixture
def anew():
    """Ask for this where the same scenario has to be simulated twice."""


@pytest.fixture(autouse=True)
def _shared_runs(request, sharing):
    """Give who simulates a scenario again the run that is there; whoever patches something, or asks for `anew`, simulates anew."""
    if {"monkeypatch", "anew"} & set(request.fixturenames):
        yield
        return
    with sharing():
        yield
