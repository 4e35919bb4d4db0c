"""Without a GPU, what needs one says so in a line: which package is missing, or that there is no driver."""

import json
import re
from dataclasses import asdict

import pytest
from command_line import peerlab_command
from gpus import why_no_gpu
from left_behind import own_files

import peerlab
from peerlab.base.errors import MeasurementError, PeerlabError
from peerlab.features.measure.schedule import Measurement, say_command

REASON = (
    r"--memory cuda needs cuda[.\w]*: pip install 'peerlab\[cuda\]'"
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
        ("--memory cua", "memory: 'cua' is unknown; did you mean 'cuda'? known: host, cuda"),
        ("--memory cuda --arms tcp", "arms: 'tcp' is unknown; known: staged, staged-pageable, direct"),
        ("--memory cuda --pins mlock", "pins: 'mlock' is unknown; known: dma-buf, host-register"),
        ("--pins dma-buf", "pins: 'dma-buf' is unknown; known: mlock, io_uring"),
        (
            "--memory cuda --pins host-register --arms staged --registrations lru",
            "registrations: only the arm 'staged-pageable' registers memory; add it to arms",
        ),
        ("copy", "'copy' is nothing to measure; did you mean 'copies'? known: copies"),
        ("copies --ranks 2", "ranks: copies are measured without it; allowed: sizes, repetitions"),
        ("copies --mpi", "--mpi: copies are measured by one process"),
        ("copies --sizes 2GiB", "sizes: '2GiB' is not from 1 B to 1 GiB"),
        ("copies --sizes 0", "sizes: '0' is not from 1 B to 1 GiB"),
        ("copies --repetitions 2", "repetitions: 2 is not a whole number from 3 to 1000"),
    ],
)
def test_what_cannot_be_measured_is_refused_before_any_gpu_is_looked_for(line, problem):
    assert peerlab_command("measure", *line.split()) == (1, "", f"peerlab: {problem}\n")


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
