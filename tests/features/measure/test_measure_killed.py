"""Whichever process is killed, at whatever moment: one line that says so, within two seconds, and nothing is left."""

import os
import random
import re
import signal
import subprocess
import sys
import termios
import threading
import time
from fcntl import ioctl

import pytest
from left_behind import (
    PATIENCE_S,
    loopback,
    own_files,
    processes,
    ranks,
    shared_files,
    socket_ids,
    wait_until,
)

import peerlab
from peerlab.base.errors import MeasurementError
from peerlab.features.measure.schedule import Measurement
from peerlab.features.measure.stream import Stream

ENDLESS = Measurement.of(ranks=4, sizes="256 KiB", repetitions=1000)
SMALL = {"ranks": 2, "sizes": "64 KiB", "arms": "direct", "registrations": "none", "repetitions": 1}


def follow(stream):
    """Iterate to the end; return what it raised and when."""
    with pytest.raises(MeasurementError) as told:
        list(stream)
    return str(told.value), time.monotonic()


@pytest.mark.sample(4)
@pytest.mark.parametrize("seed", range(100))
def test_a_rank_that_is_killed_at_any_moment_is_named_and_nothing_is_left(seed):
    chance = random.Random(seed)  # noqa: S311  (repeatable on purpose)
    files, shared = own_files(), shared_files()
    killed = {}

    def kill(session):
        wait_until(lambda: len(ranks(session)) == 4)
        time.sleep(chance.uniform(0, 1.5))
        killed["sockets"] = loopback() & socket_ids(session)
        killed["rank"] = chance.randrange(4)
        killed["at"] = time.monotonic()
        os.kill(ranks(session)[killed["rank"]], signal.SIGKILL)

    with Stream(ENDLESS) as stream:
        session = stream.pid
        killer = threading.Thread(target=kill, args=(session,))
        killer.start()
        problem, at = follow(stream)
    killer.join()
    assert re.fullmatch(rf"rank {killed['rank']} was killed by SIGKILL \(.*\) while [^\n]*", problem)
    assert at - killed["at"] < PATIENCE_S
    assert wait_until(lambda: processes(session) == {})
    assert (own_files(), shared_files()) == (files, shared)
    assert killed["sockets"]
    assert loopback() & killed["sockets"] == set()


def test_after_a_rank_was_killed_the_next_measurement_works():
    with Stream(ENDLESS) as stream:
        threading.Thread(target=lambda: wait_until(lambda: kill_any(stream.pid))).start()
        follow(stream)
    assert peerlab.measure(**SMALL).table["correct"].all()


def kill_any(session):
    """Kill a rank if there is one; return whether there was."""
    for pid in ranks(session)[:1]:
        os.kill(pid, signal.SIGKILL)
        return True
    return False


def test_if_what_measures_is_killed_its_ranks_end_and_one_line_says_so():
    with Stream(ENDLESS) as stream:
        progress = iter(stream)
        while not next(progress).done:
            pass
        session, before = stream.pid, time.monotonic()
        assert len(ranks(session)) == 4
        os.kill(session, signal.SIGKILL)
        with pytest.raises(MeasurementError, match=r"^the process that measures was killed by SIGKILL$"):
            list(progress)
    assert wait_until(lambda: processes(session) == {})
    assert time.monotonic() - before < PATIENCE_S


TALKATIVE = Measurement.of(ranks=2, sizes=64, arms="tcp", repetitions=400)


def stuck_in_a_line(stream):
    """Wait until what measures cannot go on telling its rows, as nobody has read the first part of the line."""
    waiting = bytearray(4)

    def unread():
        ioctl(stream._process.stdout, termios.FIONREAD, waiting)
        return int.from_bytes(waiting, sys.byteorder) > 32 << 10

    assert wait_until(unread)


def test_if_what_measures_is_killed_in_the_middle_of_a_line_one_line_says_so():
    with Stream(TALKATIVE) as stream:
        stuck_in_a_line(stream)
        os.kill(stream.pid, signal.SIGKILL)
        with pytest.raises(MeasurementError, match=r"^the process that measures was killed by SIGKILL$"):
            list(stream)


def test_cancelled_in_the_middle_of_a_line_it_ends_quietly():
    with Stream(TALKATIVE) as stream:
        stuck_in_a_line(stream)
        stream.cancel()
        assert not any(progress.rows for progress in stream)
        assert stream.records.warnings == ("stopped after 0 of 1 sizes",)


SCRIPT = """
from peerlab.features.measure.schedule import Measurement
from peerlab.features.measure.stream import Stream

with Stream(Measurement.of(ranks=4, sizes="256 KiB", repetitions=1000)) as stream:
    print(stream.pid, flush=True)
    for progress in stream:
        print(progress.done, flush=True)
"""


@pytest.mark.parametrize("deadly", [signal.SIGKILL, signal.SIGINT])
def test_if_whoever_wanted_to_know_is_killed_everything_ends(deadly):
    script = subprocess.Popen([sys.executable, "-c", SCRIPT], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    session = int(script.stdout.readline())
    while int(script.stdout.readline()) == 0:
        pass
    assert len(ranks(session)) == 4
    script.send_signal(deadly)
    script.communicate(timeout=PATIENCE_S)
    assert wait_until(lambda: processes(session) == {})


def test_what_is_forgotten_ends():
    stream = Stream(ENDLESS)
    next(iter(stream))
    session = stream.pid
    del stream
    assert wait_until(lambda: processes(session) == {})
