"""`peerlab diagnose`: which data path a log took, and what Peer Direct would bring."""

import argparse
import json
from pathlib import Path
from typing import Any

import peerlab
from peerlab.base.document import document_lines, document_markdown
from peerlab.base.errors import one_line, shell_word
from peerlab.base.progress_bar import progress_bar
from peerlab.base.terminal_text import add_nodes, command, wrapped
from peerlab.diagnosis.observed import say_runs
from peerlab.features.diagnose.diagnosis_document import diagnosis_document
from peerlab.records.benchmarks import TOOLS
from peerlab.records.load import load

_EXAMPLES = """\
examples:
  peerlab diagnose nccl.log                    which data path, by what evidence, and what Peer Direct would bring
  peerlab diagnose nccl.log --cluster p4d      held against this cluster instead of those recognised
  peerlab diagnose bare.log --nodes 4          a log of which only the table is left
  peerlab diagnose osu.log --cluster my.toml --json

exit status: 0 answered ("cannot tell" is an answer too), 1 the log or the cluster cannot be read, 2 wrong usage
"""


def add(commands: Any) -> None:
    """Add the command."""
    sentence = "say which data path a log is from, with the evidence, and what Peer Direct would bring"
    sub = command(commands, "diagnose", sentence, _diagnose, epilog=_EXAMPLES)
    sub.add_argument("log", metavar="LOG", type=Path, help=f"output of {TOOLS}")
    sub.add_argument(
        "--cluster", metavar="NAME", help="where it is from: a known cluster or a .toml file; else recognised"
    )
    add_nodes(sub)
    form = sub.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print everything as JSON")
    form.add_argument("--markdown", action="store_true", help="print it as Markdown, to paste into an issue")


def _diagnose(options: argparse.Namespace) -> int:
    records = load(options.log, options.nodes)
    runs = records.runs
    with progress_bar("diagnose", "simulations"):
        # Two runs in one log may have taken two paths: each is diagnosed by itself.
        diagnoses = [peerlab.diagnose(run, options.cluster) for run in runs]
    if options.json:
        rows = [diagnosis.as_dict() for diagnosis in diagnoses]
        print(json.dumps(rows[0] if len(rows) == 1 else {"runs": rows}, indent=2))
        return 0
    if len(diagnoses) > 1:
        print("\n".join(wrapped(say_runs(runs))))
    for place, diagnosis in enumerate(diagnoses, start=1):
        head = [f"\nrun {place} of {len(diagnoses)}"] if len(diagnoses) > 1 else []
        name = one_line(options.log.name)
        which = f"run {place} of {len(diagnoses)} in {name}" if len(diagnoses) > 1 else name
        document = diagnosis_document(diagnosis, which, _judging(options))
        print(
            document_markdown(document) if options.markdown else "\n".join([*head, *document_lines(document)])
        )
    return 0


def _judging(options: argparse.Namespace) -> str:
    """Return the command that says whether the log is well, with what was said of it here."""
    # A name that begins with a dash would be read as an option.
    log = f"./{options.log}" if str(options.log).startswith("-") else options.log
    rows = [("--log", log), ("--cluster", options.cluster), ("--nodes", options.nodes)]
    return " ".join(["peerlab expect", *(f"{option} {shell_word(value)}" for option, value in rows if value)])
