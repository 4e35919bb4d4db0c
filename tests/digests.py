"""What peerlab gave, as some 1,500 digests: spans, figures, parcels, stills, text of the command line and pages.

    python tests/digests.py                      what has changed since the digests were written, a line each (a minute)
    python tests/digests.py --write [KIND ...]   writes them anew (tests/digests_of/KIND.json)
    python tests/digests.py --texts FOLDER       writes what the digests are of; `diff -ru BEFORE AFTER` shows what changed

A change that moves names or modules leaves every digest as it is. One that changes physics, words or pictures writes them anew and says
so in CHANGELOG. Numbers are rounded to 9 digits; scripts and style sheets of pages are files of the repository and left out.
"""

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from hashlib import sha256
from pathlib import Path

import numpy as np
from digest_pages import PAGES
from digest_scenarios import scenario, scenarios
from digest_texts import COMMANDS, printed

import peerlab
from peerlab.base.errors import PeerlabError
from peerlab.picture.payload import payload
from peerlab.picture.still import still_svg

FOLDER = Path(__file__).parent / "digests_of"


@cache
def _run(subject: str) -> peerlab.Run | str:
    """Return the run of a scenario, or why it fails."""
    try:
        return peerlab.simulate(scenario(subject))
    except PeerlabError as problem:
        return str(problem)


def _spans(run: peerlab.Run) -> str:
    """Return the spans of a scenario's last iteration, a row each: node, resource, its number, stage, slice, start, end, bytes."""
    trace = run.trace
    spans = trace.last.unrolled
    names = np.array([f"{one.kind} {one.index}" for one in trace.resources])[spans["resource"]]
    stages = np.array(trace.stages)[spans["stage"]]
    order = ("node", "slice", "start", "end", "nbytes")
    rows = zip(*(spans[name].tolist() for name in order), names.tolist(), stages.tolist(), strict=True)
    return "\n".join(sorted(" ".join(map(str, row)) for row in rows))


def plain(value: object) -> object:
    """Return a value as JSON has it, with numbers of 9 digits and columns of numbers as lists."""
    if isinstance(value, Mapping):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, bytes | memoryview):
        return sha256(value).hexdigest()
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, list | tuple | set):
        return [plain(one) for one in (sorted(value) if isinstance(value, set) else value)]
    if isinstance(value, float | np.floating):
        return float(f"{value:.9g}")
    return value if isinstance(value, bool | int | str | None) else str(value)


def _text(value: object) -> str:
    return json.dumps(plain(value), indent=1, ensure_ascii=False)


Subjects = Mapping[str, Callable[[], str]]


def _of_runs(text: Callable[[peerlab.Run], str], every: int = 1) -> Subjects:
    return {one: partial(_of_run, text, one) for one in scenarios()[::every]}


def _of_run(text: Callable[[peerlab.Run], str], subject: str) -> str:
    run = _run(subject)
    return run if isinstance(run, str) else text(run)


@cache
def kinds() -> dict[str, Subjects]:
    """Return by kind what is digested, each by its name."""
    return {
        "spans": _of_runs(_spans),
        "figures": _of_runs(lambda run: _text(run.as_dict())),
        "parcels": _of_runs(lambda run: _text(payload(run)), 2),
        "stills": _of_runs(still_svg, 3),
        "texts": {one: partial(printed, one) for one in COMMANDS},
        "pages": PAGES,
    }


def digest(text: str) -> str:
    """Return the digest of a text."""
    return sha256(text.encode()).hexdigest()[:16]


def written(kind: str) -> dict[str, str]:
    """Return the digests that were written of a kind, by what they are of."""
    return json.loads((FOLDER / f"{kind}.json").read_text())


def changes(kind: str, names: list[str] | None = None) -> Iterator[str]:
    """Yield what has changed of a kind since its digests were written, a line each; of some names only, if they are given."""
    subjects, before = kinds()[kind], written(kind)
    for name in subjects if names is None else names:
        if name not in before:
            yield f"{kind}: new: {name}"
        elif digest(subjects[name]()) != before[name]:
            yield f"{kind}: changed: {name}"
    if names is None:
        yield from (f"{kind}: gone: {name}" for name in before if name not in subjects)


def write(kind: str) -> None:
    """Write the digests of a kind."""
    found = {name: digest(text()) for name, text in kinds()[kind].items()}
    (FOLDER / f"{kind}.json").write_text(json.dumps(found, indent=0, ensure_ascii=False) + "\n")


def write_texts(kind: str, folder: Path) -> None:
    """Write what the digests of a kind are of, a file each, and beside them which file is what."""
    place = folder / kind
    place.mkdir(parents=True, exist_ok=True)
    for name, text in kinds()[kind].items():
        (place / f"{digest(name)}.txt").write_text(f"{name}\n\n{text()}\n")


def main() -> int:
    """Compare, or write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "kinds", nargs="*", metavar="KIND", help=f"which: {', '.join(kinds())} (default: all)"
    )
    parser.add_argument("--write", action="store_true", help="write the digests anew")
    parser.add_argument("--texts", type=Path, metavar="FOLDER", help="write what the digests are of")
    options = parser.parse_args()
    wanted = options.kinds or list(kinds())
    if unknown := [kind for kind in wanted if kind not in kinds()]:
        parser.error(f"no kind {unknown[0]!r}; there are {', '.join(kinds())}")
    found = []
    for kind in wanted:
        if options.texts:
            write_texts(kind, options.texts)
        elif options.write:
            write(kind)
        else:
            found += changes(kind)
    print("\n".join(found) or f"{sum(len(kinds()[kind]) for kind in wanted)} digests: nothing has changed")  # noqa: T201  (a script)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
