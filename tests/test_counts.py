"""Figures of a cluster are counted alike wherever people read how many there are, and how many are assumed."""

import re
import sys
from pathlib import Path

import pytest

import peerlab
from peerlab.cli import main
from peerlab.features.deck.compared_runs import ComparedRuns
from peerlab.features.deck.reading.outline import Outline, SlidePlan
from peerlab.features.deck.slides import slides
from peerlab.features.race.race_parcel import race_parcel
from peerlab.features.step import step_parcel
from peerlab.model.hardware import say_counted
from peerlab.picture.footer import sources
from peerlab.picture.still import still_svg
from peerlab.question.completeness import check

sys.path.insert(0, str(Path(__file__).parent.parent / "docs"))
sys.path.insert(0, str(Path(__file__).parent.parent / "docs" / "shooting"))
import handout
import write_model

SCENARIO = peerlab.Scenario()
WHOLE, FILE = SCENARIO.hardware, SCENARIO.given_cluster
_COUNT = re.compile(r"(\d+) (figures\b(?!: used)|of them assumed|assumed|with (?:a )?sources?)")


def counts(text):
    """Return what a text counts: figures, assumed ones, and those with a source."""
    words = {"figures": "figures", "with": "sourced", "of": "assumed", "assumed": "assumed"}
    flat = " ".join(re.sub(r"<[^>]+>", " ", text).split())
    return {(words[what.split()[0].strip(",:")], int(number)) for number, what in _COUNT.findall(flat)}


def of(cluster):
    figures, assumed = len(cluster.stated), len(cluster.assumptions)
    return {("figures", figures), ("assumed", assumed), ("sourced", figures - assumed)}


def printed(capsys, *arguments):
    assert main(list(arguments)) == 0
    return capsys.readouterr().out


def test_a_simulation_counts_its_figures_alike_everywhere(capsys):
    """It once had 31 figures in the lab, 30 in the handout and 27 on the command line, and 15 or 23 of them with a source."""
    run = peerlab.simulate(SCENARIO)
    race = peerlab.race(SCENARIO, SCENARIO.with_(path="peer-direct"))
    shown = {
        "simulate": printed(capsys, "simulate"),
        "sweep": printed(capsys, "sweep", "--nodes", "2"),
        "clusters": printed(capsys, "clusters", "dl1").partition("A simulation adds")[2],
        "below the lab": sources(run)["title"],
        "still": still_svg(run),
        "race": str(race_parcel(race)),
        "step": step_parcel.source(peerlab.step(workload="resnet50")),
        "handout": handout._sources(),
    }
    kinds = ("title", "compare", "race", "limits", "registration", "assumptions", "sources")
    outline = Outline(slides=tuple(SlidePlan(kind) for kind in kinds))
    made = zip(kinds, slides(outline, ComparedRuns(outline.scenario, peerlab.simulate)), strict=True)
    shown |= {f"slide {kind}": f"{one.title}; {one.body}; {one.source}" for kind, one in made}
    assert {name: counts(text) for name, text in shown.items() if not counts(text) <= of(WHOLE)} == {}
    assert [name for name, text in shown.items() if ("figures", len(WHOLE.stated)) not in counts(text)] == []


@pytest.mark.parametrize("name", peerlab.known_clusters())
def test_a_cluster_file_is_counted_with_where_its_nics_hang_and_says_that_it_is_the_file(name, capsys):
    cluster = peerlab.load_cluster(name)
    told = printed(capsys, "clusters", name).partition("In its file:")[2].partition("(marked")[0]
    assert counts(told) <= of(cluster)
    assert counts(told)
    report = check(name)
    assert (report.figures, report.assumptions) == (len(cluster.stated), len(cluster.assumptions))


def test_tables_of_clusters_count_what_their_files_say(capsys):
    short = f"{len(FILE.assumptions)} of {len(FILE.stated)}"
    (row,) = (line for line in printed(capsys, "clusters").splitlines() if line.startswith("dl1 "))
    assert short in row
    table = next(write_model._clusters())
    assert "assumed, of its file's figures" in table
    assert f"| {short} |" in next(line for line in table.splitlines() if "`dl1`" in line)


def test_figures_of_two_scenarios_on_one_machine_are_counted_once():
    assert say_counted(WHOLE, WHOLE) == WHOLE.counted
    both = say_counted(WHOLE, peerlab.Scenario(cluster="p4d").hardware)
    assert both != WHOLE.counted
