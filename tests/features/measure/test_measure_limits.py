"""Little memory, little that may be locked, one core, no privileges."""

import json
import mmap
import os
import re
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from peerlab.base.errors import MeasurementError
from peerlab.collectives.ring_moves import PAGE
from peerlab.features.measure.ranks import manifest, probe, room
from peerlab.features.measure.ranks.memory.locked_memory import show_limit
from peerlab.features.measure.ranks.pins import IoUringPins, LockedPages, Registrar
from peerlab.features.measure.schedule import Measurement, Registration

COMMAND = [sys.executable, "-m", "peerlab.cli", "measure"]
AS_NOBODY = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
READING = [
    "--inh-caps",
    "+dac_read_search",
    "--ambient-caps",
    "+dac_read_search",
]  # the interpreter may lie below /root


def run(*command, **more):
    """Return exit status, output and error output."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, **more)
    return done.returncode, done.stdout, done.stderr


def locked_bytes():
    """Return what this process has locked."""
    status = Path("/proc/self/status").read_text()
    return 1024 * int(status.partition("VmLck:")[2].split()[0])


@pytest.fixture
def ground():
    """Memory of this process, page by page."""
    return np.frombuffer(mmap.mmap(-1, 16 * PAGE), np.uint8)


def test_a_cache_locks_what_it_keeps_and_nothing_else(ground):
    before, start = locked_bytes(), ground.ctypes.data
    registrar = Registrar(Registration("lru", 2), LockedPages)
    for page in (0, 1, 2, 1):
        registrar.release(registrar.acquire(start + page * PAGE, PAGE))
    counters = registrar.counters
    assert (counters.hits, counters.misses, counters.evictions) == (1, 3, 1)
    assert locked_bytes() - before == 2 * PAGE
    registrar.close()
    assert locked_bytes() == before
    assert registrar.seconds > 0


def test_without_a_cache_nothing_stays_locked_and_the_null_control_locks_nothing(ground):
    before, start = locked_bytes(), ground.ctypes.data
    each = Registrar(Registration("per-transfer", 0), LockedPages)
    lease = each.acquire(start + 10, PAGE)
    assert locked_bytes() - before == 2 * PAGE  # rounded to pages
    each.release(lease)
    assert locked_bytes() == before
    null = Registrar(Registration("null", 64), LockedPages)
    null.release(null.acquire(start, PAGE))
    assert locked_bytes() == before


def test_io_uring_pins_until_it_is_closed(ground):
    if probe.why_not("io_uring"):
        pytest.skip(f"io_uring: {probe.why_not('io_uring')}")
    registrar = Registrar(Registration("lru", 2), IoUringPins)
    for page in (0, 1, 2):
        registrar.release(registrar.acquire(ground.ctypes.data + page * PAGE, PAGE))
    assert registrar.counters.evictions == 1
    registrar.close()


def test_the_kernel_refuses_at_its_limit_and_what_that_means_is_said():
    refused = show_limit("1 MiB", "64 KiB")
    assert (refused.regions, refused.error) == (16, "ENOMEM")
    assert refused.explanation == (
        "registering 64 KiB failed: ENOMEM (mlock: Cannot allocate memory); 1 MiB are registered already, the locked-memory "
        "limit (RLIMIT_MEMLOCK) is 1 MiB; raise it with 'ulimit -l', LimitMEMLOCK= of a service or --ulimit memlock= of a container"
    )
    assert resource.getrlimit(resource.RLIMIT_MEMLOCK)[0] != 1 << 20  # only there


@pytest.mark.parametrize("limit", ["1 GiB", "1 KiB", "a lot"])
def test_a_limit_that_cannot_be_shown_is_refused(limit):
    with pytest.raises(MeasurementError, match=r"^limit: "):
        show_limit(limit)


def nobody(*arguments, memlock=1 << 20):
    """Run the command as an ordinary user on one core, with a small locked-memory limit."""
    if os.getuid() or not shutil.which("setpriv"):
        pytest.skip("needs root and setpriv to become another user")

    def confine():
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        resource.setrlimit(resource.RLIMIT_MEMLOCK, (memlock, memlock))

    return run(*AS_NOBODY, *READING, *COMMAND, *arguments, preexec_fn=confine)


def test_nobody_on_one_core_measures_all_arms_and_registers_where_the_limit_allows():
    status, out, problem = nobody("--ranks", "2", "--sizes", "64KiB,1MiB", "--repetitions", "3", "--json")
    assert (status, problem) == (0, "")
    document = json.loads(out)
    assert document["manifest"]["processors"] == 1
    assert document["manifest"]["locked_memory_limit"] == "1 MiB"
    assert all(row["correct"] for row in document["rows"])
    registered = {(row["size_bytes"], row["registration"]) for row in document["rows"]}
    assert {kind for size, kind in registered if size == 64 << 10} == {"none", "per-transfer", "lru", "null"}
    assert {kind for size, kind in registered if size == 1 << 20} == {"none"}
    assert document["warnings"] == [
        (
            "no registration at 2 ranks, 1 MiB: it takes more than the locked-memory limit, 1 MiB; raise it ('ulimit -l'), "
            "or name registrations to have them tried"
        )
    ]


def test_nobody_who_insists_sees_the_kernel_refuse():
    status, out, problem = nobody("--ranks", "2", "--sizes", "2MiB", "--registrations", "lru")
    assert (status, out) == (1, "")
    assert re.fullmatch(
        r"peerlab: rank [01], while measuring direct \(lru:64\), 2 ranks, 2 MiB: registering 1 MiB failed: "
        r"ENOMEM \(mlock: .*\); 1 MiB are registered already, the locked-memory limit \(RLIMIT_MEMLOCK\) is 1 MiB; raise it .*\n",
        problem,
    )


def test_nobody_who_may_lock_nothing_measures_without_registration_and_is_told_if_asking_for_it():
    status, out, _ = nobody("--ranks", "2", "--sizes", "4KiB", "--repetitions", "1", "--json", memlock=0)
    assert status == 0
    assert json.loads(out)["warnings"] == [
        "no registration: it does not work here: EPERM (mlock: Operation not permitted)"
    ]
    _, _, problem = nobody("--ranks", "2", "--sizes", "4KiB", "--registrations", "lru", memlock=0)
    assert (
        "EPERM (mlock: Operation not permitted); 0 B are registered already, the locked-memory limit"
        in problem
    )


def fake_group(root, available_kib, **files):
    """Write a /proc and a /sys that say how much memory there is."""
    (root / "proc").mkdir()
    (root / "proc/meminfo").write_text(f"MemTotal: 99 kB\nMemAvailable:   {available_kib} kB\n")
    for part in ("cpu", "memory"):
        (root / "sys/fs/cgroup" / part).mkdir(parents=True)
    for name, value in files.items():
        (root / "sys/fs/cgroup" / name.replace("__", "/").replace("_DOT_", ".")).write_text(f"{value}\n")
    return root


@pytest.mark.parametrize(
    ("files", "processors"),
    [
        ({}, None),
        ({"cpu_DOT_max": "150000 100000"}, 1.5),
        ({"cpu_DOT_max": "max 100000"}, None),
        ({"cpu__cpu_DOT_cfs_quota_us": 50000, "cpu__cpu_DOT_cfs_period_us": 100000}, 0.5),
        ({"cpu__cpu_DOT_cfs_quota_us": -1, "cpu__cpu_DOT_cfs_period_us": 100000}, None),
    ],
)
def test_the_manifest_says_how_much_of_the_processors_a_container_may_use(tmp_path, files, processors):
    described = manifest.describe_machine(fake_group(tmp_path, 1 << 20, **files))
    assert described["processor_quota"] == processors
    assert described["free_memory_bytes"] == 1 << 30


@pytest.mark.parametrize(
    ("files", "free"),
    [
        ({}, 1 << 30),
        ({"memory_DOT_max": "max", "memory_DOT_current": 5}, 1 << 30),
        ({"memory_DOT_max": 300 << 20, "memory_DOT_current": 100 << 20}, 200 << 20),
        (
            {"memory__memory_DOT_limit_in_bytes": 2**63 - 4096, "memory__memory_DOT_usage_in_bytes": 5},
            1 << 30,
        ),
        ({"memory__memory_DOT_limit_in_bytes": 64 << 20, "memory__memory_DOT_usage_in_bytes": 65 << 20}, 0),
    ],
)
def test_free_is_what_the_machine_and_the_container_leave(tmp_path, files, free):
    assert room.free_bytes(fake_group(tmp_path, 1 << 20, **files)) == free


@pytest.mark.parametrize(
    ("line", "folder", "limit", "used"),
    [
        ("0::/user.slice/job/step", "user.slice/job", "memory.max", "memory.current"),
        ("4:memory:/job/step", "memory/job/step", "memory.limit_in_bytes", "memory.usage_in_bytes"),
    ],
)
def test_a_limit_counts_wherever_it_is_set_above_this_process(tmp_path, line, folder, limit, used):
    root = fake_group(tmp_path, 1 << 20)
    (root / "proc/self").mkdir()
    (root / "proc/self/cgroup").write_text(f"1:cpu:/elsewhere\n{line}\n")
    group = root / "sys/fs/cgroup" / folder
    group.mkdir(parents=True)
    (group / limit).write_text(f"{300 << 20}\n")
    (group / used).write_text(f"{290 << 20}\n")
    (group / "memory.stat").write_text(f"anon 5\ninactive_file {40 << 20}\n")
    assert room.free_bytes(root) == 50 << 20  # cached files give way


def test_what_does_not_fit_into_the_container_is_refused(tmp_path):
    root = fake_group(tmp_path, 1 << 20, memory_DOT_max=512 << 20, memory_DOT_current=0)
    room.check(Measurement.of(sizes="8 MiB"), 4, root)
    with pytest.raises(
        MeasurementError, match=r"^sizes: 64 MiB on 4 ranks needs .* of memory, 512 MiB are free; choose "
    ):
        room.check(Measurement.of(sizes="64 MiB"), 4, root)


def test_files_that_may_not_be_so_large_are_no_traceback():
    """Shared memory counts as a file: `ulimit -f` stops it, as a full tmpfs would."""

    def confine():
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))

    status, out, problem = run(*COMMAND, "--ranks", "2", "--sizes", "8MiB", preexec_fn=confine)
    assert (status, out) == (1, "")
    assert problem == (
        "peerlab: --sizes: no 12 MiB of shared memory for a rank: File too large; choose smaller sizes or fewer ranks\n"
    )


def test_a_small_dev_shm_is_no_obstacle():
    if os.getuid() or not shutil.which("unshare"):
        pytest.skip("needs root and unshare for a /dev/shm of its own")
    small = 'mount -t tmpfs -o size=64k none /dev/shm && exec "$@"'
    arguments = ["--ranks", "2", "--sizes", "1MiB", "--repetitions", "1", "--json"]
    status, out, problem = run("unshare", "--mount", "sh", "-c", small, "sh", *COMMAND, *arguments)
    if "mount" in problem or "unshare" in problem:
        pytest.skip(problem)
    assert (status, problem) == (0, "")
    assert all(row["correct"] for row in json.loads(out)["rows"])


@pytest.mark.long("processes")
def test_little_address_space_is_one_line():
    def confine():
        resource.setrlimit(resource.RLIMIT_AS, (1200 << 20, 1200 << 20))

    status, _, problem = run(
        *COMMAND, "--ranks", "2", "--sizes", "320MiB", "--arms", "direct", preexec_fn=confine
    )
    assert status == 1
    assert re.fullmatch(r"peerlab: [^\n]+\n", problem), problem
