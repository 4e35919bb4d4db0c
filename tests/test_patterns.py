"""No pattern of peerlab's takes a time that grows faster than its text, whatever the text is."""

import ast
import re
import re._constants as op
import re._parser as parser
import signal
import time
from collections import defaultdict
from collections.abc import Mapping
from contextlib import contextmanager, suppress
from importlib import import_module
from re._compiler import compile as compile_parsed

import pytest

from peerlab.base.errors import HardwareError
from peerlab.diagnosis.knowledge import knowledge
from peerlab.topology import read_topology

SHORT, LONG = 4_000, 16_000
"""Letters of a text."""
WORST = 8
"""A text four times as long may take so many times as long: linear takes 4 times, quadratic 16 times."""
SLACK_S = 0.03
"""What the CPU's clock may be off by; at this length a linear pattern takes less, a quadratic one ten times as long."""
LIMIT_S = 0.4
"""Seconds of CPU after which a search is given up."""
LETTERS = ["a", "1", " ", *map(chr, range(256))]
MADE = {
    "peerlab/features/clusters/accelerators": "the name of a device, without a repeat",
    "peerlab/diagnosis/fits": "likewise",
    "peerlab/features/expect/expect_report": "names of clusters, one or another, without a repeat",
    "peerlab/features/expect/verdicts/causes": "settings of NCCL as faults.py has them, with a repeat of digits at the end at most",
    "peerlab/diagnosis/knowledge": "those of data/diagnosis.toml, which are taken from what it reads",
    "peerlab/records/anonymous": "names of hosts, one or another, without a repeat",
    "peerlab/records/text": "what stands before the head of a table, at the beginning of a line, its numbers as bounded digits",
}
"""Where patterns are put together when they are used."""


USES = ("match", "fullmatch", "search", "sub", "finditer", "findall", "split")


class GivenUpError(Exception):
    """A search took too long."""


def held(value):
    """Yield the patterns in a value of a module."""
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, tuple | list):
        for one in value:
            yield from held(one)
    elif isinstance(value, Mapping):
        yield from held(list(value.values()))


def of_functions(tree):
    """Yield function of `re` and pattern of each call within a function of a module."""
    bodies = [one for one in ast.walk(tree) if isinstance(one, ast.FunctionDef)]
    for one in {call for body in bodies for call in ast.walk(body) if isinstance(call, ast.Call)}:
        library, _, name = ast.unparse(one.func).partition(".")
        if library == "re" and name in ("compile", *USES):
            yield name, one.args[0]


def patterns(root):
    """Return (where it stands, pattern, what is done with it) of every pattern of the package."""
    texts = {file: file.read_text() for file in sorted((root / "peerlab").rglob("*.py"))}
    uses = defaultdict(set)
    for text in texts.values():
        for name, use in re.findall(rf"\b(_?[A-Z][A-Z_0-9]*)\.({'|'.join(USES)})\b", text):
            uses[name].add(use)
    rules = [one for rule in knowledge().rules for one in (rule.pattern, rule.beside, rule.unless)]
    found = [("data/diagnosis.toml", one, "search") for one in rules if one]
    for file, text in texts.items():
        if not re.search(r"^import re$", text, re.MULTILINE):
            continue
        where = file.relative_to(root).with_suffix("").as_posix()
        for name, value in vars(import_module(where.replace("/", ".").removesuffix(".__init__"))).items():
            found += [
                (f"{where}: {name}", one, use) for one in held(value) for use in uses[name] or {"search"}
            ]
        for use, argument in of_functions(ast.parse(text)):
            if not isinstance(argument, ast.Constant):
                assert where in MADE, (
                    f"{where}:{argument.lineno}: give the pattern a name, so that it is tried"
                )
                continue
            found.append((f"{where}:{argument.lineno}", re.compile(argument.value), use))
    return found


def taken_apart(items, state):
    """Return a text that parts of a pattern match, and the repeats in them as (what stands before it, what is repeated)."""
    text, repeats = "", []
    for kind, value in items:
        inner = []
        if kind is op.LITERAL:
            more = chr(value)
        elif kind in (op.NOT_LITERAL, op.ANY, op.IN):
            one = compile_parsed(parser.SubPattern(state, [(kind, value)]))
            more = next(letter for letter in LETTERS if one.fullmatch(letter))
        elif kind is op.BRANCH:
            every = [taken_apart(branch, state) for branch in value[1]]
            more, inner = every[0][0], [one for each, its in every for one in [("", each), *its]]
        elif kind in (op.SUBPATTERN, op.ATOMIC_GROUP):
            more, inner = taken_apart(value[3] if kind is op.SUBPATTERN else value, state)
        elif kind in (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT):
            least, _, repeated = value
            more, inner = taken_apart(repeated, state)
            inner = [*inner, ("", more)]
            more *= min(max(least, 1), 8)
        else:  # where a word ends, what must not follow
            more = ""
        repeats += [(text + before, again) for before, again in inner]
        text += more
    return text, repeats


def attacks(pattern):
    """Return what a slow text of a pattern may begin with, and what it then repeats."""
    parsed = parser.parse(pattern.pattern, pattern.flags)
    whole, repeats = taken_apart(parsed, parsed.state)
    pumps = {("", whole), ("", " "), ("", "\n"), ("", "a_")}
    for before, again in repeats:
        pumps |= {(before, again), ("", before + again), ("", before), (before, again + " ")}
    return sorted((before, again) for before, again in pumps if again)


def endless(pattern):
    """Return whether something in a pattern may repeat without end: else its time is bounded at each letter."""
    return "MAXREPEAT" in str(parser.parse(pattern.pattern, pattern.flags))


@contextmanager
def given_up_after(cpu_s):
    def give_up(*_):
        raise GivenUpError

    before = signal.signal(signal.SIGVTALRM, give_up)
    signal.setitimer(signal.ITIMER_VIRTUAL, cpu_s)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def seconds(work, text):
    """Return what a piece of work takes with a text, seconds of CPU."""
    begin = time.process_time()
    try:
        with given_up_after(LIMIT_S):
            work(text)
    except GivenUpError:
        return LIMIT_S
    return time.process_time() - begin


def grows_too_fast(work, text_of):
    """Return whether a text four times as long takes more than eight times as long."""
    if seconds(work, text_of(LONG)) <= SLACK_S:
        return False
    long, short = (min(seconds(work, text_of(length)) for _ in range(3)) for length in (LONG, SHORT))
    return long > WORST * short + SLACK_S or long >= LIMIT_S


def searching(pattern, use):
    if isinstance(pattern.pattern, bytes):
        pattern = re.compile(pattern.pattern.decode("latin-1"), pattern.flags | re.ASCII)
    do = getattr(pattern, use)
    if use == "sub":
        return lambda text: do("", text)
    return (lambda text: sum(1 for _ in do(text))) if use == "finditer" else do


def repeated(before, again, behind="\0"):
    return lambda length: before + (again * (length // len(again) + 1))[:length] + behind


def slow(pattern, use):
    """Return what a pattern is slow with; None: nothing of what is tried."""
    work = searching(pattern, use)
    return next((one for one in attacks(pattern) if grows_too_fast(work, repeated(*one))), None)


@pytest.mark.parametrize(
    ("pattern", "use"),
    [
        (r"^\s*GPU0", "search"),
        (r"\w+_\w+", "fullmatch"),
        (r"LnkCap:.*?Speed", "search"),
    ],
)
def test_a_pattern_that_grows_too_fast_is_caught(pattern, use):
    assert slow(re.compile(pattern, re.MULTILINE), use)


def test_no_pattern_takes_longer_than_its_text_grows(root):
    every = [one for one in patterns(root) if endless(one[1])]
    assert len(every) > 40
    assert {where: found for where, pattern, use in every if (found := slow(pattern, use))} == {}


MATRIX = "        GPU0    GPU1\nGPU0     X      SYS\n"
TOPOLOGIES = {
    "blank lines": ("", "\n", MATRIX),
    "spaces": ("", " ", f"\n{MATRIX}"),
    "a_a_a_": ("        GPU0    ", "a_", f"-\n{MATRIX}"),
    "links that end nowhere": ("00:01.0 VGA: NVIDIA\n\tLnkSta: none\n", "LnkCap:", ""),
    "links within one line": ("00:01.0 VGA: NVIDIA\n\tLnkSta: none\nLnkCap: ", "Speed 1 ", ""),
    "a long name": ("00:01.0 ", "Mellanox ", "\n\tLnkSta: none\n"),
    "many bridges": ("LnkSta: none\n", "00:01.0 PCI bridge: x\n\tBus: primary=00, secondary=01\n", ""),
    "host bridges": ("00:01.0 VGA: NVIDIA\nLnkSta: none\n", "Root Complex ", ""),
    "a tree of dashes": ("-[0000:00]-", "-", ""),
    "a tree of branches": ("-[0000:00]-", "+-", ""),
    "colours": (MATRIX, "\x1b[", ""),
    "NVLinks": (
        "<system><cpu><pci busid='1' class='0x030200'><gpu>", "<nvlink target='N' tclass='0x0302'/>",
        "</gpu></pci></cpu></system>",
    ),
    "elements within elements": ("<topology><object>", "<object/>", "</object></topology>"),
}  # fmt: skip


@pytest.mark.parametrize("what", TOPOLOGIES)
def test_a_topology_that_is_made_to_be_slow_is_read_as_fast_as_any(what):
    before, again, behind = TOPOLOGIES[what]

    def text_of(length):
        numbered = "".join(again.replace("N", str(number)) for number in range(length // len(again)))
        return (before + numbered + behind).encode()

    def work(text):
        with suppress(HardwareError):
            read_topology(text)

    assert not grows_too_fast(work, text_of)
