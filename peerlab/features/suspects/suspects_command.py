"""`peerlab suspects`: which host or way is slow, and which runs to make next."""

import argparse
import json
from pathlib import Path
from typing import Any

from peerlab.base.errors import PeerlabError
from peerlab.base.terminal_text import command, fraction, number, table, wrapped
from peerlab.base.units import say_count, say_percent
from peerlab.features.suspects.rank_records import last_ranks
from peerlab.features.suspects.rank_words import ranks_as_dict, said_of_ranks
from peerlab.features.suspects.suspecting import Suspects, suspects

_EXAMPLES = """\
examples:
  peerlab suspects logs/                     a folder with one log for each run; each names its hosts
  peerlab suspects logs/ --sigma 0.02        runs of the same hosts repeat to 2 %
  peerlab suspects --ranks nccl-inspector-42/  records of all ranks of a job: who began last, and what of the wait that explains

A suspect is named from 95 % on, a rank once it explains 80 % of the wait.

exit status: 0 answered, 1 nothing to go by, 2 wrong usage
"""
_SHOWN = 8
_MOST_RANKS = 1024


def add(commands: Any) -> None:
    """Add the command."""
    sub = command(
        commands,
        "suspects",
        "say which node or cable is slow, and which runs tell most next",
        _suspects,
        epilog=_EXAMPLES,
    )
    sub.add_argument(
        "logs", nargs="*", metavar="FOLDER|LOG", type=Path, help="logs of runs on some of the hosts each"
    )
    sub.add_argument(
        "--ranks",
        metavar="FOLDER|FILE",
        type=Path,
        nargs="+",
        help="records of all ranks, as NCCL Inspector or PyTorch's profiler writes them: a file for each process",
    )
    sub.add_argument(
        "--sigma",
        metavar="SHARE",
        type=fraction,
        help="by how much healthy runs differ, such as 0.02 (default: from the logs)",
    )
    sub.add_argument(
        "--ranks-per-host",
        metavar="N",
        type=number,
        default=1,
        help="in the commands of the next runs (default: 1)",
    )
    sub.add_argument("--json", action="store_true", help="print everything as JSON")


def _suspects(options: argparse.Namespace) -> int:
    if options.ranks is not None:
        answers = last_ranks(options.ranks)
        print(json.dumps(ranks_as_dict(answers), indent=2) if options.json else said_of_ranks(answers))
        return 0
    if not options.logs:
        raise PeerlabError("suspects: give a folder of logs, or --ranks with records of all ranks")
    if options.sigma is not None and not isinstance(options.sigma, float):
        raise PeerlabError(f"--sigma: {options.sigma!r} is not a share, such as 0.02")
    ranks = options.ranks_per_host
    if not isinstance(ranks, int) or not 1 <= ranks <= _MOST_RANKS:
        raise PeerlabError(f"--ranks-per-host: {ranks!r} is not a whole number from 1 to {_MOST_RANKS}")
    source = options.logs[0] if len(options.logs) == 1 else options.logs
    answer = suspects(source, sigma=options.sigma)
    print(
        json.dumps(_as_dict(answer, options.ranks_per_host), indent=2)
        if options.json
        else suspects_text(answer, options.ranks_per_host)
    )
    return 0


def suspects_text(answer: Suspects, ranks_per_host: int = 1) -> str:
    """Return the answer for a terminal."""
    rows = [
        [say_percent(host_suspect.probability, 1), host_suspect.in_words]
        for host_suspect in answer.suspects[:_SHOWN]
    ]
    lines = [
        f"{say_count(answer.runs, 'run')}, which differ by {say_percent(answer.sigma, 1)} where nothing is slow",
        *_left_out(answer),
        "",
        table(["", "suspect"], rows, right=(0,)),
        "",
    ]
    if answer.decided:
        return "\n".join(
            [*lines, f"{answer.suspects[0].in_words[:1].upper()}{answer.suspects[0].in_words[1:]}: decided."]
        )
    if len(answer.alike) > 1:
        lines.append(
            "Alike: "
            + " and ".join(host_suspect.in_words for host_suspect in answer.alike[:4])
            + " explain the runs about equally."
        )
    rounds = say_count(max(1, round(answer.runs_left)), "round")
    lines += [f"Next, at the same time where they share nothing (about {rounds} left):"]
    return "\n".join([*lines, *(f"  {line}" for line in answer.commands(ranks_per_host))])


def _left_out(answer: Suspects) -> list[str]:
    """Return the lines that say which files and runs were not taken; none where all were."""
    files = f"left out, as they hold no run: {', '.join(answer.left_out)}" if answer.left_out else ""
    runs = f"left out, on as many hosts as no other: {say_count(answer.alone, 'run')}" if answer.alone else ""
    return [line for text in (files, runs) if text for line in wrapped(text)]


def _as_dict(answer: Suspects, ranks_per_host: int) -> dict[str, object]:
    return {
        "runs": answer.runs,
        "sigma": answer.sigma,
        "decided": answer.decided,
        "suspects": [
            {"hosts": list(host_suspect.hosts), "probability": host_suspect.probability}
            for host_suspect in answer.suspects
        ],
        "next": list(answer.commands(ranks_per_host)),
        "rounds_left": answer.runs_left,
        "left_out": list(answer.left_out),
        "alone": answer.alone,
    }
