"""Exercises as cards of a page: what they ask and what an answer is told is the notebook's, without a widget and without pandas."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from peerlab.base.places import folder
from peerlab.features.exercises.catalogue import exercises, find
from peerlab.features.exercises.exercise import Code
from peerlab.features.exercises.lessons.cards import NEEDS_NOTEBOOK, card, drawn_card, judged, prediction_card
from peerlab.features.exercises.lessons.lab_article import NOTEBOOK_ONLY, lab_article, lab_articles
from peerlab.features.exercises.predict import predict
from peerlab.features.site.tab_fields import fields_of

pytestmark = pytest.mark.usefixtures("own_folder")

ALONE = """
import json, sys
sys.modules.update(dict.fromkeys(["numpy", "pandas", "bokeh", "scipy", "simpy", "tqdm", "yaml", "ipywidgets", "IPython"]))
from peerlab.features.exercises.lessons.cards import NEEDS_NOTEBOOK, judged
from peerlab.features.exercises.catalogue import exercises
from peerlab.features.exercises.exercise import Code
for lab in sys.argv[1:]:
    for each in exercises(lab):
        if not isinstance(each, Code) and each.name not in NEEDS_NOTEBOOK:
            for answer in (each.truth(), *(answer for answer, _ in each.wrong())):
                print(json.dumps(judged({"name": each.name, "answer": answer})))
"""
STOPS = """
import peerlab

def stop(_done, _of):
    raise KeyboardInterrupt

peerlab.sweep(nodes=[2], progress=stop)
"""


@pytest.mark.parametrize("name", ["01-copies", "01-gain", "01-upgrade", "09-first"])
def test_a_card_is_told_what_the_notebook_says(name):
    exercise = find(name)
    for answer in (exercise.truth(), "nonsense", *(answer for answer, _ in exercise.wrong())):
        verdict = exercise.judge(answer)
        told = judged({"name": name, "answer": answer})
        assert told["right"] == verdict.right
        assert told["says"].replace("<code>", "`").replace("</code>", "`").startswith(verdict.says[:20])


def test_code_is_tried_as_it_was_written():
    written = "def ring_time(nodes, nbytes, latency_s, bytes_per_s):\n    {}\n\npeerlab.exercise('02-time', answer=ring_time)"

    def told(body):
        return judged({"name": "02-time", "code": written.format(body)})

    assert told(find("02-time").solution)["right"]
    assert "raised ZeroDivisionError" in told("return 1 / 0")["says"]
    assert told("...")["says"] == "Give an answer first."
    for broken in ("def ring_time(:", "1 / 0\npeerlab.exercise('02-time', answer=1)", "", "raise SystemExit"):
        assert "Your code raised" in judged({"name": "02-time", "code": broken})["says"]


def test_what_was_answered_is_inert():
    assert "<img" not in judged({"name": "01-copies", "answer": "<img src=x onerror=alert(1)>"})["says"]


def test_a_transfer_task_is_drawn_by_the_learners_number():
    one, other = (drawn_card({"name": "01-transfer", "seed": seed}) for seed in (7, 8))
    assert one["question"] != other["question"]
    assert one["place"] == "Transfer task"
    truth = find("01-transfer", 7).truth()
    assert judged({"name": "01-transfer", "seed": 7, "answer": truth})["right"]


def test_a_prediction_is_told_what_the_notebook_says():
    made = prediction_card("How <b>many</b>?", [1, 2], 1.9, unit=" %")
    asked = predict("How many?", [1, 2], lambda: 1.9, unit=" %")
    for chosen, reply in zip([1, 2], made["replies"], strict=True):
        asked.choice.value = chosen
        asked.reveal()
        assert repr(asked).endswith(f"{made['found']} {reply}")
    assert made["question"] == "How &lt;b&gt;many&lt;/b&gt;?"


@pytest.mark.long("Python without numpy")
def test_without_numpy_and_pandas_answers_are_told_the_same(drawn):
    labs = drawn(["01", "03", "07", "10", "11", "12"], count=3)
    done = subprocess.run([sys.executable, "-c", ALONE, *labs], capture_output=True, text=True, check=True)
    told = iter(map(json.loads, done.stdout.splitlines()))
    for each in (each for lab in labs for each in exercises(lab)):
        if isinstance(each, Code) or each.name in NEEDS_NOTEBOOK:
            continue
        for answer in (each.truth(), *(answer for answer, _ in each.wrong())):
            assert next(told) == judged({"name": each.name, "answer": answer})


def test_a_lab_is_an_article_with_its_cards_its_links_and_what_its_cells_showed():
    linked = []
    file = next(folder("labs").glob("01_*.ipynb"))
    article = lab_article(file, lambda scenario: linked.append(scenario) or "explorer.html#here")
    asked = [each["name"] for each in article.cards if each["kind"] == "exercise"]
    assert asked == [each.name for each in exercises("01")]
    assert article.html.count("<details class='pl-further'>") == article.html.count(
        "<details class='pl-further'>"
    )
    assert article.html.count("<details") == article.html.count("</details>")
    assert fields_of(linked[0])["library"] == "none"
    assert "copies per byte" in article.html
    assert "Shift+Enter" not in article.html
    assert card(find("01-crossings"))["unit"] is None


def test_a_lab_about_ones_own_machine_says_so_and_no_page_asks_the_machine_that_wrote_it(monkeypatch):
    import peerlab.features.exercises.lessons.lab_article as module

    monkeypatch.setattr(module, "lab_article", lambda file, _: module.LabArticle(file.name[:2], "a title"))
    found = {article.number: article for article in lab_articles(folder("labs"), str)}
    assert {number for number, article in found.items() if article.why_not} == set(NOTEBOOK_ONLY)
    assert found["04"].why_not == "It measures your own machine."
    monkeypatch.undo()
    html = lab_article(next(folder("labs").glob("03_*.ipynb")), lambda _: "").html
    assert html.count("This cell asks your own machine") == 4
    # an article whose sweep is stopped is stopped, too: half of a table would be taken for all of it
    cells = [
        {"cell_type": "markdown", "metadata": {}, "source": ["# Stopped"]},
        {"cell_type": "code", "metadata": {}, "source": [STOPS]},
    ]
    Path("99_stopped.ipynb").write_text(json.dumps({"cells": cells}))
    with pytest.raises(KeyboardInterrupt):
        lab_article(Path("99_stopped.ipynb"), str)
