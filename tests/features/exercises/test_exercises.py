"""Every exercise: its solution is right, and each typical wrong answer is told what is wrong."""

import re

import pytest
from computed_once import ByName

import peerlab
from peerlab.base.errors import PeerlabError
from peerlab.features.exercises.catalogue import find
from peerlab.features.exercises.exercise import Code
from peerlab.features.exercises.labs import training_gain
from peerlab.training.step_headline import headline, rows

ALL = ByName()


pytestmark = pytest.mark.usefixtures("own_folder")


@pytest.mark.parametrize("name", ALL)
def test_a_typical_wrong_answer_is_told_what_is_wrong(name):
    exercise = ALL[name]
    if isinstance(exercise, Code):
        return  # tried in the lab itself, where its cell stands
    assert exercise.wrong(), "an exercise knows a typical wrong answer"
    for answer, says in exercise.wrong():
        verdict = exercise.judge(answer)
        assert not verdict.right
        assert verdict.says == says


@pytest.mark.parametrize(
    "answer",
    [object(), [], {}, "", "<b>", -1e300, float("nan"), b"\x00", 10**400],
    ids=lambda one: str(one)[:8],
)
def test_nonsense_is_no_answer_and_raises_nothing(answer):
    assert [name for name, exercise in ALL.items() if exercise.judge(answer).right] == []


def test_an_answer_between_two_mistakes_is_told_the_nearer():
    """50 is what the NICs carry, and only by chance near to 55.4 GB/s in GiB/s, 51.6."""
    busbw = find("02-busbw")
    assert "what the NICs" in busbw.judge(50).says
    assert "GiB/s" in busbw.judge(51.6).says


def test_the_beginning_of_an_option_will_do():
    assert find("01-upgrade").judge(" pcie gen4 ").right
    assert "wait longer" in find("01-upgrade").judge("NICs").says
    assert "Choose one of" in find("03-silent").judge("when").says
    assert "Choose one of" in find("01-upgrade").judge("p").says


def test_code_that_ends_the_program_or_returns_nonsense_is_told_so():
    def leave(_):
        raise SystemExit(3)

    assert find("01-crossings").judge(leave).says == "Your code raised SystemExit: 3"
    assert "one number, not a str" in find("03-hits").judge(lambda *_: "8").says
    for name, function in (("03-hits", "`hits`"), ("03-freed", "`freed`")):
        assert f"{function} is no function any more" in find(name).judge(3).says


def test_a_function_that_returns_none_is_told_so_and_one_that_is_not_written_yet_says_nothing():
    """`return None` compiles to what `...` compiles to, and got no reply at all."""

    def nothing(*_):
        return None

    def passes(*_):
        pass

    def open_yet(*_): ...

    def open_yet_below(*_): ...

    written = [one for one in ALL.values() if isinstance(one, Code) and one.function]
    assert len(written) > 4
    for one in written:
        for answer in (nothing, passes):
            verdict = peerlab.exercise(one.name, answer=answer).verdict
            assert verdict is not None, one.name
            assert not verdict.right
            wanted = (
                "In step 2" if one.name == "03-freed" else "None|nothing|Return"
            )  # freed acts, and returns nothing
            assert re.search(wanted, verdict.says), (one.name, verdict.says)
        for answer in (open_yet, open_yet_below, ...):
            assert peerlab.exercise(one.name, answer=answer).verdict is None


def test_an_unknown_exercise_names_the_nearest():
    with pytest.raises(PeerlabError, match="did you mean '01-gain'"):
        peerlab.exercise("01-gian")


def test_hints_come_one_by_one_and_then_the_solution():
    asked = peerlab.exercise("01-gain")
    hints = len(asked.exercise.hints)
    for given in range(hints):
        assert asked.hint.description == f"Hint {given + 1} of {hints}"
        asked.hint.click()
        assert asked.hint_text.value.count("<li>") == given + 1
    assert "<pre>" not in asked.hint_text.value
    asked.hint.click()
    assert "<pre>" in asked.hint_text.value
    assert asked.hint.disabled
    assert peerlab.progress().loc["01-gain", "hints"] == hints + 1


def test_there_is_no_hint_to_a_right_answer():
    asked = peerlab.exercise("01-gain")
    asked.hint.click()
    asked.answer("1.78")
    assert asked.hint.layout.display == "none"
    assert "<li>" in asked.hint_text.value  # what was told stays
    asked.answer("0.56")
    assert asked.hint.layout.display is None
    assert peerlab.exercise("01-crossings", answer=lambda _: 2).hint.layout.display is None
    assert peerlab.exercise("01-upgrade", answer="PCIe Gen4").hint.layout.display == "none"


def test_without_widgets_an_exercise_and_a_prediction_are_words():
    asked = peerlab.exercise("01-upgrade")
    first = asked._repr_mimebundle_()["text/plain"]
    assert "  * PCIe Gen4 between switch and CPU" in first
    assert "Answer with peerlab.exercise('01-upgrade', answer=...)" in first
    asked.answer("NICs of 200 Gbit/s")
    asked.hint.click()
    assert repr(asked).endswith("Not yet. " + asked.verdict.says)
    assert asked.exercise.hints[0] in repr(asked)
    guess = peerlab.predict("How many?", [1, 2], lambda: 1.9)
    assert repr(guess) == "Predict: How many?\n  1\u00d7, 2\u00d7\nSimulate it with .reveal()."
    guess.reveal()
    assert repr(guess).endswith("Simulated: 1.9\u00d7. The closest was 2\u00d7.")


def test_an_answer_typed_into_the_field_is_checked_once():
    asked = peerlab.exercise("01-gain")
    asked.check.click()
    assert "Give an answer first." in asked.feedback.value
    asked.field.value = "0.56"
    asked.check.click()
    assert "turn the ratio round" in asked.feedback.value
    asked.field.value = "1.78"
    assert "Right." in asked.feedback.value
    assert dict(peerlab.progress().loc["01-gain"]) == {"right": True, "tries": 2, "hints": 0}


def test_markup_in_an_answer_stays_text():
    asked = peerlab.exercise("01-gain", answer="<img src=x onerror=alert(1)>")
    assert "<img" not in asked.feedback.value


def test_an_exercise_about_a_measurement_takes_the_learners_own():
    mine = own_records(tcp=2.0, shm=4.0)
    assert "Right." in peerlab.exercise("04-part", "TCP", records=mine).feedback.value
    assert "Not yet." in peerlab.exercise("04-part", "the bounce buffers", records=mine).feedback.value
    both = peerlab.exercise("04-both", 1 / (1 / 1.5 + 1 / 1.6 - 1), records=own_records(tcp=1.5, shm=1.6))
    assert "Right." in both.feedback.value
    assert (
        "multiplies" in peerlab.exercise("04-both", 2.4, records=own_records(tcp=1.5, shm=1.6)).feedback.value
    )


def test_two_parts_whose_lines_overlap_cannot_be_told_apart():
    alike = own_records(tcp=2.0, shm=2.0)
    assert "Right." in peerlab.exercise("04-part", "cannot tell", records=alike).feedback.value


def test_records_that_stopped_early_are_told_what_they_lack():
    told = peerlab.exercise("04-part", "TCP", records=own_records(tcp=2.0)).feedback.value
    assert "your records lack staged-shm at their largest size" in told


def test_records_for_an_exercise_about_none_are_refused():
    with pytest.raises(PeerlabError, match="'01-gain' is about no measurement"):
        peerlab.exercise("01-gain", 1, records=own_records(tcp=2.0))


def test_what_are_no_records_is_refused():
    with pytest.raises(PeerlabError, match="are no records; give what"):
        peerlab.exercise("04-noise", records="mine.csv")


def test_code_that_is_interrupted_or_leaves_is_told_so():
    def leaves(line):
        raise SystemExit(line)

    def interrupted(line):
        raise KeyboardInterrupt(line)

    assert "raised SystemExit" in find("05-bounces").judge(leaves).says
    assert "does your code come to an end?" in find("05-bounces").judge(interrupted).says


def own_records(**arms):
    """Return records of five repetitions in which arms are so many times as fast as staged."""
    ratios = {"staged": 1.0, "direct": 3.0} | {{"shm": "staged-shm"}.get(a, a): r for a, r in arms.items()}
    conditions = [(path, "", ratio) for path, ratio in ratios.items()] + [("staged", "A/A", 1.0)]
    common = {"kind": "measured", "source": "a test", "collective": "allreduce", "registration": "none"}
    common |= {"size_bytes": 1 << 20, "ranks": 4, "correct": True}
    return peerlab.Records.of(
        [
            common
            | {"path": path, "variant": variant, "repetition": number}
            | {"time_s": 1e-3 * (1 + number / 100) / ratio}
            for path, variant, ratio in conditions
            for number in range(5)
        ]
    )


def test_the_measured_ring_asks_as_often_as_the_simulated_one():
    """Lab 04 says that they agree, where nothing or everything is kept."""
    ring = peerlab.Scenario(cluster="juliet", nodes=4, path="peer-direct", dependency="step")
    asked = find("04-requests").truth()
    kept, none = (peerlab.simulate(ring.with_(cache_regions=k)).registration for k in (64, 0))
    assert (kept.hits, kept.misses) == (asked, 0)
    assert (none.hits, none.misses) == (0, asked)


def test_find_knows_every_exercise():
    assert [find(name).name for name in ALL] == list(ALL)


class Leaving:
    """A number that ends the kernel instead."""

    def __float__(self):
        raise SystemExit(3)


class Unruly(str):
    """A text whose methods fail."""

    __slots__ = ()

    def _fails(self, *_):
        raise RuntimeError

    strip = casefold = partition = __str__ = __len__ = _fails


@pytest.mark.parametrize("name", ["01-copies", "01-upgrade"])
def test_whatever_was_answered_is_judged(name):
    assert "with a number" in find("01-copies").judge(Leaving()).says
    for answer in (Leaving(), Unruly("many")):
        verdict = find(name).judge(answer)
        assert not verdict.right
        assert verdict.says
        assert "Not yet." in peerlab.exercise(name, answer=answer).feedback.value
    assert find("01-copies").judge(Unruly(find("01-copies").truth())).right


def test_how_fast_is_no_count():
    assert find("01-copies").judge("two").right
    assert not find("01-copies").judge("twice as fast").right


def test_no_exercise_asks_for_what_the_next_cell_shows_and_no_first_reply_is_the_formula():
    """Lab 07 asked for a gain that stood in large type two cells below; lab 08's first reply named the bytes to divide."""
    host, direct = training_gain.steps()
    shown = headline([host, direct], ["the detour", "Peer Direct"]), rows([host, direct])
    assert f"{direct.gain(host):.2f}" in str(shown)
    assert f"{find('07-gain').truth():.2f}" not in str(shown)
    first = find("08-goodput").judge(50).says
    assert not re.search(r"\d", first.replace("50", ""))
