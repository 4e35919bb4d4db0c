"""Predict, then reveal."""

import json
import re

import peerlab
from peerlab.base.places import folder


def test_nothing_is_simulated_before_an_answer_is_chosen():
    asked = []
    question = peerlab.predict("How much?", [1, 2, 4], lambda: asked.append(1) or 1.9)
    assert question.button.disabled
    question.choice.value = 4
    assert asked == []
    question.button.click()
    assert asked == [1]
    assert "Simulated: 1.9\u00d7." in question.verdict.value
    assert "You said 4\u00d7. The closest was 2\u00d7." in question.verdict.value


def test_a_right_answer_is_told_so_and_another_choice_is_judged_at_once():
    question = peerlab.predict("How much?", [10, 20], lambda: 19.0, unit=" %")
    question.choice.value = 20
    question.button.click()
    assert "That is the closest." in question.verdict.value
    question.choice.value = 10
    assert "The closest was 20 %." in question.verdict.value


def test_a_question_that_cannot_be_answered_says_why():
    question = peerlab.predict("?", [1, 2], lambda: peerlab.simulate(peerlab.Scenario(nodes=0)).time_s)
    question.choice.value = 1
    question.button.click()
    assert "nodes: 0 is out of range" in question.verdict.value


def test_what_was_measured_is_not_called_simulated():
    question = peerlab.predict("How much?", [1, 2], lambda: 1.9, how="Measured")
    question.choice.value = 2
    question.button.click()
    assert "Measured: 1.9\u00d7." in question.verdict.value


MEASURED = re.compile(r"\btimes\(|(?:arms|busy)\.table|puts\(\)")
"""What a lab has of measured figures."""


def test_what_a_lab_takes_from_a_measurement_it_calls_measured():
    """Lab 05 called the gain that juliet was measured with simulated."""
    cells = [
        "".join(cell["source"])
        for lab in folder("labs").glob("*.ipynb")
        for cell in json.loads(lab.read_text(encoding="utf-8"))["cells"]
        if cell["cell_type"] == "code"
    ]
    measured = [cell for cell in cells if "peerlab.predict(" in cell and MEASURED.search(cell)]
    assert len(measured) >= 4
    assert [cell for cell in measured if 'how="Measured"' not in cell] == []
