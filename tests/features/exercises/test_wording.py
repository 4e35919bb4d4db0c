"""What people call a thing counts, in any spelling; what names something else, or several things, does not."""

import pytest
from computed_once import ByName, names_of
from hypothesis import assume, given
from hypothesis import strategies as st

from peerlab.features.exercises.catalogue import find
from peerlab.features.exercises.exercise import Choice
from peerlab.features.exercises.wording import _NAMES, meant, same
from peerlab.model.paths import path_title

ALL = ByName()
CHOICES = names_of(Choice)
SPELLINGS = (
    str.upper,
    str.title,
    lambda text: text.replace("-", "_"),
    lambda text: text.replace("-", " ") if " " not in text else text.replace("-", "\u2011"),
    lambda text: f"\u201c{text}\u201d.",
    lambda text: f"  the {text} ",
    lambda text: f"`{text}`",
)


pytestmark = pytest.mark.usefixtures("own_folder")


@pytest.mark.sample(part=10)
@pytest.mark.parametrize("name", CHOICES)
def test_an_option_is_itself_in_every_spelling(name):
    one = ALL[name]
    for option in one.options:
        as_it_stands = one.judge(option)
        for spell in SPELLINGS:
            verdict = one.judge(spell(option))
            assert (verdict.right, verdict.says) == (as_it_stands.right, as_it_stands.says), spell(option)


@pytest.mark.sample(part=10)
@pytest.mark.parametrize("name", CHOICES)
def test_every_other_name_means_its_own_option_and_no_other(name):
    one = ALL[name]
    assert set(one.called) <= set(one.options)
    for option, names in one.called.items():
        for called in names:
            assert meant(called, {other: one.called.get(other, ()) for other in one.options}) == option


@given(st.text(max_size=60))
def test_no_text_is_right_that_does_not_name_the_right_option(text):
    one = find("05-silent")
    assume(
        not any(same(text, name) for name in ("host-tcp",))
        and not "kernel tcp".startswith(text.strip().lower())
    )
    assert not one.judge(text).right


def test_a_name_is_of_one_thing():
    told = [(name, thing) for thing, names in _NAMES.items() for name in (thing, *names)]
    for name, thing in told:
        assert {other for written, other in told if same(written, name)} == {thing}


@pytest.mark.parametrize(
    ("path", "written"),
    [
        (
            "host-tcp",
            (
                "kernel TCP",
                "TCP",
                "tcp",
                "host-tcp",
                "HOST_TCP",
                "TCP/IP",
                "TCP through host memory",
                "TCP sockets",
            ),
        ),
        (
            "host-rdma",
            ("RDMA through host", "RDMA through host memory", "host rdma", "staging", "'staged RDMA'"),
        ),
        (
            "peer-direct",
            (
                "Peer Direct",
                "peer direct",
                "peer_direct",
                "PeerDirect",
                "GPUDirect",
                "GPUDirect RDMA",
                "GPU direct",
                "GDR",
            ),
        ),
    ],
)
def test_a_path_may_be_called_what_people_call_it(path, written):
    asked = find("05-silent")
    for name in written:
        assert asked.judge(name) == asked.judge(path_title(path)), name


@pytest.mark.parametrize(
    "text", ["not kernel TCP", "TCP or RDMA", "TCP and Peer Direct", "no TCP", "path", "the", "a", "?", "-"]
)
def test_what_denies_or_doubles_an_option_does_not_name_it(text):
    assert "Choose one of" in find("05-silent").judge(text).says


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("01-remains", "second crossing"),
        ("01-upgrade", "the uplink"),
        ("01-upgrade", "PCIe uplinks"),
        ("01-upgrade", "Gen4"),
        ("01-inside", "scale-up links"),
        ("02-winner", "Recursive doubling"),
        ("03-thrash", "cold"),
        ("03-silent", "Larger"),
        ("05-cannot", "can't tell"),
        ("05-believe", "the first"),
        ("06-today", "uplink"),
    ],
)
def test_a_natural_answer_is_right(name, written):
    assert find(name).judge(written).right


def test_an_arm_that_was_not_asked_for_is_told_so():
    for arm in ("staged", "direct"):
        assert "Choose one of: TCP; the bounce buffers; cannot tell." in find("04-part").judge(arm).says
