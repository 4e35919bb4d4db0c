"""What peerlab decides, it decides by data: its own sentences may be worded anew, and nothing else changes."""

from types import SimpleNamespace

import pytest

import peerlab
from peerlab.answer.metrics import Bottleneck
from peerlab.diagnosis.evidence import Evidence
from peerlab.diagnosis.pathology import trusted
from peerlab.library.library_words import LibraryWords
from peerlab.picture.words import names_proxy, way


def test_evidence_of_the_smallest_message_is_trusted_however_it_is_worded():
    of_rate = {"kind": "rate", "says": "", "points": {}, "known": True, "source": ""}
    assert trusted(Evidence(seen="eight bytes take 9 µs", of_smallest=True, **of_rate))
    assert not trusted(Evidence(seen="a message of a few bytes takes the rate away", **of_rate))


@pytest.mark.parametrize(
    ("words", "what", "short"),
    [
        (LibraryWords(who="NCCL 2.19 over EFA", does=("tree", "Simple"), chunk="128 KiB"), "tree, Simple, chunks of 128 KiB", "tree, Simple, 128 KiB"),
        (LibraryWords(who="HCL over host NICs 1.21", does=("pairwise",)), "pairwise", "HCL: pairwise"),
        (LibraryWords(who="Own CCL: site build, 1.0", does=("ring",)), "ring", "Own: ring"),
        (LibraryWords(who="Open MPI, tuned 5.0"), "", "Open MPI, tuned 5.0"),
        (LibraryWords(alone="topology alone", because="nobody: measured"), "", "topology alone"),
        (LibraryWords(), "", ""),
    ],
)  # fmt: skip
def test_parts_of_what_a_library_does_stay_apart_whatever_its_title_holds(words, what, short):
    """The card once read them out of the sentence: a title with a colon was taken for what the library does."""
    assert (words.what, words.short) == (what, short)


def test_the_proxy_is_named_where_it_is_waited_for_and_not_where_a_word_says_so():
    def run(kind, label, both=None):
        return SimpleNamespace(bottleneck=Bottleneck(kind, label, 0.9, both))

    assert names_proxy(run("proxy", "posting thread"))
    assert names_proxy(run("nic_tx", "NIC send", 0.95))
    assert not names_proxy(run("nic_tx", "NIC send"))
    assert not names_proxy(run("core", "an HTTP proxy's core"))
    assert not names_proxy(SimpleNamespace(bottleneck=None))


def test_a_way_over_the_cpu_says_so_where_the_path_says_what_it_crosses():
    direct = peerlab.Scenario(cluster="dl1", path="peer-direct")
    assert "across the PCIe switch and writes" in way(direct)
    assert "across the PCIe switch and the CPU and writes" in way(direct.with_(wiring="root-port"))
