"""Pages that play one answer: a link shows what was chosen and the moment where the clock stood, and says what the page does not hold."""

import pytest
from playwright.sync_api import expect

import peerlab
from peerlab.features.neighbours.jobs_page import jobs_page_html
from peerlab.features.neighbours.port_page import port_page_html
from peerlab.features.race.race_page import race_html
from peerlab.features.step.step_page import step_page_html

NODES = {"nodes": 2, "message_bytes": "1 MiB"}


def race():
    return race_html(peerlab.race(peerlab.Scenario(**NODES), path="peer-direct"), bands=False)


def step():
    host = peerlab.step(workload="resnet50", nodes=2, library="none")
    return step_page_html(
        [host, host.answer(host.step.with_(path="peer-direct"))], controls={"batch": [8, 32]}
    )


def ports():
    answers = peerlab.neighbours(
        "neighbour(2)", ["infiniband", "roce-pfc"], nodes=4, message_bytes="64 KiB"
    ).answers
    return port_page_html(answers)


def jobs():
    return jobs_page_html(
        peerlab.shared_fabric([{"hosts": [0, 4, 1, 5]}, {"hosts": [2, 3, 6, 7]}], message_bytes="1 MiB")
    )


PAGES = {
    "race": (race, {}),
    "step": (step, {"batch": "32", "exchange": "2", "road": "Peer Direct"}),
    "ports": (ports, {"fabric": "roce,PAUSES"}),
    "jobs": (jobs, {}),
}


@pytest.mark.parametrize("name", PAGES)
def test_a_link_shows_what_it_names_and_the_page_writes_the_same(open_page, name):
    make, chosen = PAGES[name]
    page = open_page(make())
    assert page.evaluate("location.hash") == ""  # nobody has chosen anything
    # an exchange of a step has a shorter clock than the step
    moment = min(page.evaluate("[...peerlabPages][0].player.length") / 4, 50)
    link = "&".join(f"{part}={words}" for part, words in {**chosen, "at": f"{moment:.3f}"}.items())
    page.evaluate("link => { location.hash = link }", link)
    page.wait_for_function(
        "moment => Math.abs([...peerlabPages][0].player.time - moment) < 0.002", arg=moment
    )
    expect(page.get_by_role("status")).to_have_count(0)
    page.keyboard.press("Shift")  # somebody did something: now the page writes its address
    page.wait_for_function(
        "link => location.hash.slice(1) !== encodeURI(link) || link.startsWith('at=')", arg=link
    )
    written = page.evaluate("Object.fromEntries(new URLSearchParams(location.hash.slice(1)))")
    plain = {part: words.replace(" ", "").lower() for part, words in written.items()}
    assert float(plain.pop("at")) == pytest.approx(moment, abs=0.002)
    assert plain == {part: words.replace(" ", "").lower() for part, words in chosen.items()}


def test_what_a_page_does_not_hold_is_said(open_page):
    page = open_page(jobs())
    page.evaluate("location.hash = 'fabric=token-ring&at=-1'")
    expect(page.get_by_role("status")).to_have_text(
        "The link asks for at=-1, fabric=token-ring, which this page does not hold."
    )
    page.evaluate("location.hash = 'at=1'")
    expect(page.get_by_role("status")).to_have_count(0)
