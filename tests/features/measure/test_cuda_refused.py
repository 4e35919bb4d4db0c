"""Without a GPU, what needs one says so in a line: which package is missing, or that there is no driver."""

import json
import os
import re
import signal
import subprocess
import sys
from dataclasses import asdict

import pytest
from command_line import peerlab_command
from gpus import why_no_gpu
from left_behind import own_files, processes, wait_until

import peerlab
from peerlab.base.errors import MeasurementError, PeerlabError
from peerlab.features.measure.schedule import Measurement, say_command

REASON = (
    r"measuring an NVIDIA GPU needs cuda[.\w]*: pip install 'peerlab\[cuda\]'"
    r"|no NVIDIA driver on this machine [^\n]*"
    r"|the GPU's driver: [^\n]*CUDA_ERROR_\w+[^\n]*"
)
without_gpu = pytest.mark.skipif(not why_no_gpu(), reason="this machine has a GPU")


@without_gpu
@pytest.mark.parametrize(
    "line", ["--memory cuda", "--memory cuda --json", "copies", "copies --save a.json", "copies --json"]
)
def test_a_command_says_what_is_missing_in_one_line_and_leaves_nothing(tmp_path, line):
    files = own_files()
    status, out, problem = peerlab_command("measure", *line.split(), cwd=tmp_path)
    assert status != 0
    assert out == ""
    assert re.fullmatch(rf"peerlab: ({REASON})\n", problem)
    assert own_files() == files
    assert list(tmp_path.iterdir()) == []


@without_gpu
def test_functions_raise_the_same_line():
    for ask in (lambda: peerlab.measure(memory="cuda"), peerlab.copy_cost):
        with pytest.raises(PeerlabError, match=rf"^({REASON})$"):
            ask()


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("--memory cua", "--memory: 'cua' is unknown; did you mean 'cuda'? known: host, cuda"),
        ("--memory cuda --arms tcp", "--arms: 'tcp' is unknown; known: staged, staged-pageable, direct"),
        ("--memory cuda --pins mlock", "--pins: 'mlock' is unknown; known: dma-buf, host-register"),
        ("--pins dma-buf", "--pins: 'dma-buf' is unknown; known: mlock, io_uring"),
        (
            "--memory cuda --pins host-register --arms staged --registrations lru",
            "--registrations: only the arm 'staged-pageable' registers memory; add it to arms",
        ),
        ("copy", "'copy' is nothing to measure; did you mean 'copies'? known: copies"),
        ("copies --ranks 2", "--ranks: copies are measured without it; allowed: sizes, repetitions"),
        ("copies --mpi", "--mpi: copies are measured by one process"),
        ("copies --sizes 2GiB", "--sizes: '2GiB' is not from 1 B to 1 GiB"),
        ("copies --sizes 0", "--sizes: '0' is not from 1 B to 1 GiB"),
        ("copies --sizes ,", "--sizes: '' is not a number with a unit"),
        ("copies --memory cuda", "--memory: copies are measured without it; allowed: sizes, repetitions"),
        ("--pins=, --ranks 2", "--pins: ',' is unknown; known: mlock, io_uring"),
        ("copies --repetitions 2", "--repetitions: 2 is not a whole number from 3 to 1000"),
    ],
)
def test_what_cannot_be_measured_is_refused_before_any_gpu_is_looked_for(line, problem):
    assert peerlab_command("measure", *line.split()) == (1, "", f"peerlab: {problem}\n")


@pytest.mark.parametrize(
    ("wrong", "problem"),
    [
        ({"sizes": []}, "sizes: give at least one"),
        ({"sizes": "KB"}, "sizes: 'KB' is not a number with a unit"),
        ({"sizes": 2**40}, "sizes: 1099511627776 is not from 1 B to 1 GiB"),
        (
            {"sizes": [None]},
            "sizes: None is not a whole number of bytes; a size looks like 67108864 or '64 MiB'",
        ),
        ({"repetitions": True}, "repetitions: True is not a whole number from 3 to 1000"),
        ({"repetitions": 5.0}, "repetitions: 5.0 is not a whole number from 3 to 1000"),
    ],
)
def test_a_function_refuses_the_same_in_words(wrong, problem):
    with pytest.raises(MeasurementError) as told:
        peerlab.copy_cost(**wrong)
    assert str(told.value) == problem


DRIVER = """
import enum, os, time
class Result(enum.IntEnum):
    CUDA_SUCCESS = 0
    CUDA_ERROR_NO_DEVICE = 100
def cuInit(_):
    {init}
    return (Result.CUDA_SUCCESS,)
def cuDriverGetVersion():
    return Result.CUDA_SUCCESS, 13000
def cuDeviceGetCount():
    return Result.CUDA_SUCCESS, 0
"""


@pytest.fixture
def played(tmp_path_factory, monkeypatch):
    """Return what puts a module in the driver's place, for the processes that look for GPUs."""

    def play(init):
        folder = tmp_path_factory.mktemp("driver")
        package = folder / "cuda/bindings"
        package.mkdir(parents=True)
        for place in (package, package.parent):
            (place / "__init__.py").touch()
        (package / "driver.py").write_text(DRIVER.format(init=init))
        monkeypatch.setenv("PYTHONPATH", str(folder))

    return play


@pytest.mark.parametrize(
    ("init", "problem"),
    [
        ("raise RuntimeError('no libcuda.so.1')", "no NVIDIA driver on this machine"),
        (
            "return (Result.CUDA_ERROR_NO_DEVICE,)",
            "the GPU's driver: starting failed: CUDA_ERROR_NO_DEVICE: the driver finds no GPU",
        ),
        ("pass", "the GPU's driver finds no GPU that this process may use"),
        ("raise OSError('too old')", "looking for GPUs ended early: OSError: too old"),
        (
            "os.kill(os.getpid(), 9)",
            "looking for GPUs ended early: killed by SIGKILL (somebody's, or the kernel's",
        ),
    ],
)
def test_a_driver_that_fails_is_one_line(played, init, problem):
    played(init)
    status, out, told = peerlab_command("measure", "copies")
    assert (status, out, told.count("\n")) == (1, "", 1)
    assert told.startswith(f"peerlab: {problem}")


def test_ranks_are_not_started_where_there_is_no_gpu(played):
    played("pass")
    problem = "peerlab: the GPU's driver finds no GPU that this process may use\n"
    assert peerlab_command("measure", "--memory", "cuda") == (1, "", problem)


@pytest.mark.parametrize("module", ["gpus", "copy_cost"])
def test_a_driver_that_hangs_keeps_no_process_of_a_command_that_was_killed(played, module, tmp_path):
    hangs = tmp_path / "hangs"
    played(f"open({str(hangs)!r}, 'w'); time.sleep(600)")
    code = "import subprocess, sys; subprocess.run([sys.executable, *sys.argv[1:]])"
    asked = ["-m", f"peerlab.features.measure.cuda.{module}", "[[4], 3, 0, false]"]
    with subprocess.Popen([sys.executable, "-c", code, *asked], start_new_session=True) as starter:
        session = starter.pid
        try:
            started = wait_until(hangs.exists, 20)
        finally:
            starter.kill()
    ended = wait_until(lambda: processes(session) == {}, 20)
    for pid in processes(session):
        os.kill(pid, signal.SIGKILL)
    assert (started, ended) == (True, True)


def test_a_record_names_the_gpus_and_the_processor_that_copies_for_tcp():
    from peerlab.features.measure.cuda.gpus import GpuHere
    from peerlab.features.measure.ranks.coordinator import accelerators

    gpu = GpuHere(name="a GPU", driver="13.0", free_bytes=1 << 30, total_bytes=16 << 30, dma_buf=False)
    named = accelerators([gpu], "a processor")
    assert (named["devices"], named["processor"]) == (["a GPU"], "a processor")
    assert named["accelerators"] == ["a GPU: 16 GiB, driver of CUDA 13.0, exports no DMA-BUF"]
    assert accelerators([], "a processor") == {}


def test_host_memory_that_copies_need_is_asked_for_first(monkeypatch):
    from peerlab.features.measure.cuda import copy_cost
    from peerlab.features.measure.cuda.gpus import GpuHere
    from peerlab.features.measure.ranks import room

    gpu = GpuHere(name="a GPU", driver="13.0", free_bytes=64 << 30, total_bytes=64 << 30, dma_buf=True)
    monkeypatch.setattr(copy_cost, "gpus_here", lambda: (gpu,))
    monkeypatch.setattr(room, "free_bytes", lambda _: 4 << 30)
    with pytest.raises(
        MeasurementError,
        match=r"^sizes: 1 GiB, pinned and pageable, needs 4.\d+ GiB of memory, 4 GiB are free; choose smaller sizes$",
    ):
        peerlab.copy_cost(sizes="1 GiB")
    with pytest.raises(MeasurementError, match=r"^gpu: 1 is not a whole number from 0 to 0$"):
        peerlab.copy_cost(gpu=1)


def test_each_registration_of_staged_messages_counts_in_host_memory():
    from peerlab.collectives.ring_moves import RingLayout
    from peerlab.features.measure.ranks.room import needed_bytes

    of = {"memory": "cuda", "ranks": 2, "sizes": "64 MiB"}
    footprint = RingLayout(2, 64 << 20).footprint
    direct, usual, registered = (
        needed_bytes(Measurement.of(**of, **more))
        for more in ({"arms": ["staged", "direct"]}, {}, {"pins": "host-register"})
    )
    assert usual - direct == footprint
    assert registered - usual == 4 * footprint  # per transfer, two caches, and the one that pins nothing


def test_each_way_to_register_belongs_to_one_arm():
    names = {
        pins: [str(case) for case in Measurement.of(memory="cuda", pins=pins).cases]
        for pins in ("dma-buf", "host-register")
    }
    plain = ["staged", "staged-pageable", "direct"]
    assert names["dma-buf"][:3] == names["host-register"][:3] == plain
    assert names["dma-buf"][3] == "direct (per-transfer)"
    assert names["host-register"][3] == "staged-pageable (per-transfer)"
    assert names["dma-buf"][-1] == "staged (A/A)"


def test_a_plan_for_a_gpu_travels_as_json_and_its_command_measures_the_same():
    from peerlab.cli.commands import _read

    plan = Measurement.of(memory="cuda", ranks=3, sizes="1 MiB", registrations="lru:4")
    assert Measurement.from_plain(json.loads(json.dumps(asdict(plan)))) == plan
    options = vars(_read(say_command(plan).split()[1:]))
    del options["run"]
    assert Measurement.of(**options) == plan


def test_a_file_from_before_there_was_a_gpu_is_still_a_plan():
    plain = asdict(Measurement.of(ranks=2)) | {"memory": "host"}
    del plain["memory"]
    assert Measurement.from_plain(plain) == Measurement.of(ranks=2)


def test_registration_that_the_driver_cannot_is_left_out_or_refused():
    from peerlab.features.measure.cuda.gpus import GpuHere
    from peerlab.features.measure.ranks.coordinator import fitting, forbidden

    gpu = {"name": "a GPU", "driver": "12.9", "free_bytes": 1 << 30, "total_bytes": 1 << 30}
    plan = Measurement.of(memory="cuda", ranks=2)
    assert forbidden(plan, [GpuHere(**gpu, dma_buf=True)]) == ""
    why = forbidden(plan, [GpuHere(**gpu, dma_buf=False)])
    assert why == "the driver exports no DMA-BUF of a GPU"
    assert [str(plan.cases[case]) for case in fitting(plan, 2, 64 << 10, why)] == [
        *("staged", "staged-pageable", "direct", "staged (A/A)"),
    ]
    assert (
        forbidden(Measurement.of(memory="cuda", pins="host-register"), [GpuHere(**gpu, dma_buf=False)]) == ""
    )
    other = GpuHere(**gpu | {"name": "an older GPU"}, dma_buf=False)
    assert forbidden(plan, [GpuHere(**gpu, dma_buf=True), other]).endswith("of an older GPU")


def test_what_does_not_fit_into_the_gpu_is_refused_with_how_much_there_is():
    from peerlab.features.measure.cuda.gpus import GpuHere, check

    gpu = GpuHere(name="a GPU", driver="13.0", free_bytes=2 << 30, total_bytes=16 << 30, dma_buf=True)
    plan = Measurement.of(memory="cuda", ranks=[2, 4], sizes="64 KiB")
    with pytest.raises(
        MeasurementError,
        match=r"^sizes: 64 KiB on 4 ranks needs 2\.\d+ GiB of the GPU's memory, 2 GiB of 16 GiB are free; ",
    ):
        check(plan, (gpu,))
    check(plan, (gpu, gpu, gpu, gpu))  # each rank has its own
