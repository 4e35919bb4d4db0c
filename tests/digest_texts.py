"""Commands of `peerlab` whose whole output is digested; `LOG/NAME` in one stands for a log of `tool_logs`, written as a file."""

import contextlib
import io
import shlex
import tempfile
from functools import cache
from pathlib import Path

import tool_logs

from peerlab.base.version import __version__
from peerlab.cli import main
from peerlab.cli.commands import command_line
from peerlab.question.presets import known_clusters

_SIMULATED = (
    "", "--collective allgather", "--collective reduce-scatter", "--collective alltoall", "--collective point-to-point",
    "--algorithm pairwise", "--algorithm tree --cluster p4d", "--protocol LL128 --cluster p4d --nodes 2", "--json",
    "--sensitivity --nodes 2 --message '4 MiB'", "--library none", "--cluster p4d --library rccl-cxi", "--jitter 0.1 --nodes 3 --message '1 MiB'",
    "--slow-node 2:0.5 --nodes 4", "--cluster ideal-100g --algorithm halving-doubling --slice none --dependency step",
    "--cluster ideal-100g-leafspine-2to1 --placement shuffled", "--memory host --collective alltoall", "--cache-regions 4 --path peer-direct",
    "--registration pool", "--transport roce --mtu 1024 --hops 5 --metres 100", "--wiring other-socket --acs-redirect on", "--nodes 1",
    "--cluster gaudi3 --path native", "--window 4 --slice 256KiB", "--algorithm sharp", "--algorithm nvls --cluster p5", "--nodes 1024",
)  # fmt: skip
_REFUSED = (
    "--nodes 0", "--collective allreduc", "--algorithm tree", "--path wire", "--protocol LL", "--collective point-to-point --nodes 1",
    "--collective alltoall --algorithm ring", "--memory host", "--library nccl-eva", "--library-version 2.99 --cluster p4d", "--mtu 9000",
    "--hops -1", "--metres -3", "--transport efs", "--cache-regions -1", "--page '5 KiB'", "--placement random", "--slow-node 99:0.5",
    "--jitter 9", "--window 0", "--message 0", "--dependency slices", "--registration pooled", "--wiring left", "--iterations 0",
    "--collective point-to-point --algorithm ring", "--algorithm halving-doubling --nodes 6", "--algorithm nvls", "--memlock -1",
)  # fmt: skip
_MORE = (
    "fabrics", "fabrics --cluster p4d --collective alltoall", "fabrics --json", "clusters", "clusters --json", "clusters dl1 --json",
    "step --nodes 4", "step --workload bert-large --batch 8 --cluster p4d --nodes 2 --json", "validate --only ring", "validate --only 'all-to-all*'",
    "plan --cluster p4d", "plan --cluster dl1", "plan --cluster p4d --tool osu", "plan --cluster alps-gh200 --tool nccl-tests --json",
    "sweep --vary nodes=2,4 --vary path=host-rdma,peer-direct", "sweep --vary collective=allreduce,alltoall --message '1 MiB'",
)  # fmt: skip

COMMANDS = (
    *(f"simulate {one}".strip() for one in (*_SIMULATED, *_REFUSED)),
    *(f"simulate --cluster {name} --nodes 2 --message '8 MiB'" for name in known_clusters()),
    *(f"clusters {name}" for name in known_clusters()),
    *_MORE,
    *(f"import LOG/{name}" for name in (*tool_logs.GOOD, "OSU_CRASHED")),
    *(f"diagnose LOG/{name}" for name in tool_logs.GOOD),
    *(f"{name} --help" for name in command_line()[1] if name != "lab"),
)
"""Every command, as it is typed behind `peerlab`."""


def printed(command: str) -> str:
    """Return what a command prints, output and errors, with its exit status; logs and version are called by one name everywhere."""
    logs = _logs()
    words = [one.replace("LOG/", f"{logs}/") for one in shlex.split(command)]
    output = io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
        try:
            status = main(words)
        except SystemExit as end:
            status = end.code
    text = output.getvalue().replace(str(logs), "LOG").replace(__version__, "VERSION")
    return f"{text}\nexit status {status}"


@cache
def _folder() -> tempfile.TemporaryDirectory:
    return tempfile.TemporaryDirectory()


@cache
def _logs() -> Path:
    place = Path(_folder().name)
    for name in (*tool_logs.GOOD, "OSU_CRASHED"):
        (place / name).write_text(getattr(tool_logs, name))
    return place
