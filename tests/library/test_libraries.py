"""Communication libraries as data: what a file may say, what is refused in words, and what a scenario shows of them."""

import pickle
import tomllib

import pytest

import peerlab
from peerlab.base.errors import HardwareError, ScenarioError
from peerlab.base.places import folder
from peerlab.library.library_files import known_libraries, load_library, read_library
from peerlab.library.library_record import version_number
from peerlab.question.presets import read_cluster

EFA = (folder("data") / "libraries" / "nccl-efa.toml").read_text()


def refused(error, **fields):
    with pytest.raises(error) as caught:
        peerlab.Scenario(**fields)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("name", [one for one in known_libraries() if one != "none"])
def test_every_library_has_figures_with_units_and_a_source_or_an_assumption_with_a_range(name):
    library = load_library(name)
    assert library.name == name
    assert library.figures
    for figure in library.figures.values():
        assert figure.unit
        assert figure.basis
        assert figure.source or (figure.assumption and figure.range), figure.key


@pytest.mark.parametrize(
    "path", sorted((folder("data") / "libraries").glob("*.toml")), ids=lambda path: path.stem
)
def test_every_constant_has_a_range_or_the_versions_whose_source_has_it(path):
    """What was read in a source is exact for some versions; for those beside them it says what they have."""
    document = tomllib.loads(path.read_text(encoding="utf-8"))
    last = read_library(path.read_text(encoding="utf-8"), path.name).versions[1]
    for name, entry in document.get("law", {}).items():
        if "range" in entry:
            assert entry["assumption"], name
            continue
        assert entry["source"], name
        first_held, last_held = entry["holds"]
        covers = version_number(first_held) <= version_number("2.18") and last_held == last
        assert covers or entry["otherwise"], name


def test_a_scenario_says_what_its_library_does_and_a_choice_can_be_forced():
    asked = peerlab.Scenario(
        cluster="p4d", nodes=2, path="peer-direct", library_version="2.19", message_bytes="64 MiB"
    )
    assert asked.library_says == "NCCL 2.19 over EFA: tree, Simple, chunks of 128 KiB"
    ring = asked.with_(algorithm="ring")
    assert "ring, Simple" in ring.library_says
    p5 = peerlab.Scenario(cluster="p5", nodes=2, message_bytes="16 MiB", protocol="LL128")
    assert p5.choice.course.protocol == "LL128"
    assert p5.with_(protocol="Simple", algorithm="tree").choice.course.key == ("tree", "Simple")
    assert peerlab.Scenario().library_says == "HCL over host NICs 1.21: pairwise"
    assert peerlab.Scenario(library="none").library_says == ""


def test_the_library_of_a_path_may_be_another_one():
    tcp = peerlab.Scenario(cluster="p4d", path="host-tcp")
    assert (tcp.used_library.name, tcp.hardware.library) == ("nccl-sockets", "nccl-sockets")
    assert peerlab.Scenario(cluster="p4d", library="none").used_library is None


def test_what_is_not_possible_is_refused_in_words():
    p4d = {"cluster": "p4d", "nodes": 2, "path": "peer-direct"}
    assert "nearest is 'nccl-efa'" in refused(
        ScenarioError, library="nccl-ef", **p4d
    ) or "nccl-efa" in refused(ScenarioError, library="nccl-ef", **p4d)
    assert "known from 2.8" in refused(ScenarioError, library_version="2.7.8", **p4d)
    assert "is no version" in refused(ScenarioError, library_version="new", **p4d)
    assert "later ones are not known" in refused(ScenarioError, library_version="9.1", **p4d)
    assert "NCCL_PROTO=simple" in refused(ScenarioError, protocol="LL128", **p4d)
    assert "GDR not supported" in refused(
        ScenarioError, protocol="LL", cluster="p5", nodes=2, path="host-rdma"
    )
    assert "unknown 'LL64'" in refused(ScenarioError, protocol="LL64", **p4d)
    assert "there is no library" in refused(ScenarioError, protocol="LL", library="none", **p4d)
    assert "has no protocols" in refused(ScenarioError, protocol="LL", cluster="dl1")
    assert "needs NCCL" in refused(ScenarioError, algorithm="tree", cluster="dl1")
    assert "has no 'nvls-tree'" in refused(ScenarioError, algorithm="nvls-tree", **p4d)


@pytest.mark.parametrize(
    ("before", "after", "says"),
    [
        ("value = 18,", "value = 30,", "range"),
        ("value = 18,", "value = -1,", "must be zero or more"),
        ("value = 18,", 'value = "much",', "is not a number"),
        ("[library]\nhop", "[library]\nhopp", "unknown figure 'library.hopp'"),
        ("value = [75, 35]", "value = []", "not a number, or a list of numbers"),
        ("value = [75, 35]", "value = [75, nan]", "not a number, or a list of numbers"),
        ('when = "staged"', 'when = "sometimes"', "[[forbids]] when: unknown 'sometimes'"),
        ('protocols = ["LL", "LL128"]', 'protocols = ["LX"]', "[[forbids]] protocols: unknown 'LX'"),
        ('protocols = ["LL", "LL128"]', "protocols = [1]", "[[forbids]] protocols: unknown 1"),
        ('extends = "nccl"', 'extends = "nccl"\nmaker = "Foo"', "maker: unknown 'Foo'"),
        ("host-tcp =", "foo =", "[instead]: unknown 'foo'"),
        ('host-tcp = "nccl-sockets"', 'host-tcp = "foo"', "[instead] host-tcp: unknown 'foo'"),
        ('says = "EFA', 'algorithm = "foo"\nsays = "EFA', "[[unsolved]] algorithm: unknown 'foo'"),
        ('says = "EFA', 'says = "\\u001b[31mEFA', "must be a text on one line"),
        ('why = "on p4d', 'why = "\\u0007on p4d', "must be a text on one line"),
        ('value = [75, 35], unit = "us"', 'value = [75, 35], unit = "s"', "law.steering: unit 's' is not possible; give it in 'us'"),
        ("value = [75, 35]", "value = [75, 1e9]", "law.steering: 1e+09 us is out of range; possible are 1 ns to 1 s"),
        ('holds = ["2.8", "2.31"]', 'holds = ["2.31", "2.8"]', "must be the first and the last version"),
        ('holds = ["2.8", "2.31"]', 'holds = "2.8"', "must be the first and the last version"),
        ("value = [75, 35]", "valeu = 1, value = [75, 35]", "law.steering has an unknown entry 'valeu'"),
        ("[law]", '[law]\nstep = { value = [0.001, 576000, 524288], unit = "B", basis = "b", source = "s" }', "law.step: 0.001 B is out of range; possible are 1 KiB to 1 GiB"),
        ("[law]", '[law]\nnvlink_rate = { value = [130, 240, 1e-6, 741.6], unit = "GB/s", basis = "b", source = "s" }', "law.nvlink_rate: 1e-06 GB/s is out of range; possible are 10 MB/s to 1 PB/s"),
        ('extends = "nccl"', 'extends = "nccl"\nversion = "9"', "version = '9' is no version; give one such as '2.31'"),
        ('extends = "nccl"', 'extends = "mccl"', "unknown library 'mccl'"),
        ('name = "nccl-efa"', "name = 3", "must be a text"),
        ('title = "NCCL over EFA"', "", "title is missing"),
        ("[instead]", "[insted]", "unknown entry 'insted'"),
    ],
)  # fmt: skip
def test_damaged_files_are_refused_in_a_line(before, after, says):
    assert before in EFA
    with pytest.raises(HardwareError, match=r"my\.toml: ") as caught:
        read_library(EFA.replace(before, after), "my.toml")
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_that_forbids_every_protocol_or_is_called_none_is_refused_in_words(tmp_path):
    mine = tmp_path / "mine.toml"
    text = EFA.replace('"nccl-efa"', '"mine"', 1).replace(
        '"LL", "LL128"]\nwhen = "staged"', '"LL", "LL128", "Simple"]\nwhen = "always"'
    )
    mine.write_text(text)
    said = refused(ScenarioError, cluster="p5", nodes=2, library=str(mine))
    assert said.startswith("library: NCCL over EFA forbids every protocol here: without GPUDirect RDMA")
    mine.write_text(EFA.replace('"nccl-efa"', '"none"', 1))
    assert "give yours a name of its own" in refused(HardwareError, cluster="p5", nodes=2, library=str(mine))


def test_a_title_without_a_transport_is_said_as_it_is(tmp_path):
    mine = tmp_path / "mine.toml"
    mine.write_text(EFA.replace('"nccl-efa"', '"mine"', 1).replace('"NCCL over EFA"', '"My NCCL"'))
    assert peerlab.Scenario(cluster="p4d", nodes=2, library=mine).library_says.startswith(
        "My NCCL 2.20: tree"
    )


def test_what_would_change_nothing_is_refused_and_advice_leads_somewhere():
    p5 = {"cluster": "p5", "path": "peer-direct"}
    assert "between nodes only" in refused(ScenarioError, protocol="LL", nodes=1, **p5)
    assert "between nodes only" in refused(ScenarioError, protocol="LL", collective="alltoall", **p5)
    assert "with one node leave it at 'auto'" in refused(ScenarioError, algorithm="tree", nodes=1, **p5)
    for cluster, name in (("p5", "ring"), ("p5", "hierarchical"), ("dl1", "tree")):
        said = refused(ScenarioError, cluster=cluster, algorithm=name, collective="alltoall")
        assert said.endswith("; others do: pairwise, direct")
        for other in ("pairwise", "direct"):
            assert (
                peerlab.Scenario(cluster=cluster, algorithm=other, collective="alltoall").algorithm == other
            )
    gaudi2 = {"cluster": "gaudi2", "path": "native"}
    assert "serves no 'native'" in refused(ScenarioError, algorithm="tree", **gaudi2)
    assert "no library serves 'native'" in refused(ScenarioError, protocol="LL", **gaudi2)
    assert "give one as text" in refused(ScenarioError, library_version=2.20, **p5)


def test_a_slice_that_is_set_stands_in_place_of_the_librarys_chunks():
    p4d = peerlab.Scenario(cluster="p4d", nodes=2, path="peer-direct")
    assert p4d.library_says.endswith("tree, Simple, chunks of 128 KiB")
    assert p4d.with_(slice_bytes="32 KiB").library_says.endswith("tree, Simple, slices of 32 KiB, as set")
    assert p4d.with_(slice_bytes="32 KiB").library_figures["chunk_bytes"] == 32768


@pytest.mark.parametrize(
    ("cluster", "library", "says"),
    [
        ("azure-nd-a100-v4", "rccl-cxi", "RCCL over Slingshot CXI does not run on A100"),
        ("dl1", "nccl-efa", "NCCL over EFA does not run on Gaudi"),
        ("p4d", "openmpi-cxi", "and another network than Open MPI over Slingshot CXI"),
        ("p4d", "nccl-efa", ""),
        ("p4d", None, ""),
        ("mi250x-slingshot", "openmpi-cxi", ""),
        ("juliet", "nccl-verbs", ""),
    ],
)
def test_a_library_that_no_such_machine_has_is_called_a_what_if(cluster, library, says):
    found = peerlab.Scenario(cluster=cluster, library=library).library_misfit
    assert says in found
    assert bool(found) == bool(says)


def test_a_file_of_ones_own_is_a_library_too(tmp_path):
    mine = tmp_path / "mine.toml"
    mine.write_text(EFA.replace("value = 18,", "value = 6,").replace('"nccl-efa"', '"mine"', 1))
    slow, fast = (
        peerlab.simulate(peerlab.Scenario(cluster="p5", nodes=2, message_bytes=8, library=library))
        for library in ("nccl-efa", str(mine))
    )
    assert fast.time_s == pytest.approx(slow.time_s - 24e-6, rel=1e-6)  # two hops, 12 us each


def test_a_cluster_file_names_its_library_and_may_know_its_figures_better():
    text = (folder("data") / "hardware" / "p5.toml").read_text()
    figure = 'hop = { value = 6, unit = "us", basis = "per hop", source = "a log" }'
    better = read_cluster(text.replace("[library]", f"[library]\n{figure}"), "mine.toml")
    asked = peerlab.Scenario(cluster=better, nodes=2)
    assert asked.hardware.figures["library.hop"].value == 6
    assert asked.hardware.figures["library.message"].value == 16
    with pytest.raises(HardwareError, match="unknown library 'nccl-ef'"):
        read_cluster(text.replace('"nccl-efa"', '"nccl-ef"'), "mine.toml")


def test_a_scenario_with_a_library_can_be_sent_to_another_process():
    asked = peerlab.Scenario(cluster="p5", nodes=2, library="nccl-efa", protocol="LL")
    assert asked.choice
    assert pickle.loads(pickle.dumps(asked)) == asked  # noqa: S301  (our own)
    assert eval(asked.as_code()) == asked  # noqa: S307
    loaded = asked.with_(library=load_library("nccl-efa"))
    assert eval(loaded.as_code()) == loaded == asked  # noqa: S307


def test_what_the_library_assumes_is_in_the_band():
    met = {one.key for one in peerlab.question.used_figures.assumed(peerlab.Scenario(cluster="p5", nodes=2))}
    assert {"library.hop", "library.message", "library.rendezvous"} <= met
    assert "fabric.latency" not in met
    dl1 = {one.key for one in peerlab.question.used_figures.assumed(peerlab.Scenario())}
    assert {"library.hop", "library.message", "library.overlap_lost"} <= dl1


def test_where_nccl_says_nothing_the_library_of_mpi_is_offered():
    said = peerlab.Scenario(
        cluster="alps-gh200", nodes=2, collective="point-to-point", path="peer-direct"
    ).library_says
    assert said.endswith("for a program over MPI ask for library openmpi-cxi")
    for other in (
        {"cluster": "p5", "collective": "point-to-point"},
        {"cluster": "alps-gh200", "collective": "broadcast"},
    ):
        assert "MPI" not in peerlab.Scenario(**{"nodes": 2, "path": "peer-direct", **other}).library_says
