"""The button *Many runs*: times of seeds fall into piles while they are simulated."""

import asyncio
import re

import peerlab
from peerlab.features.tails.filling import filling
from peerlab.features.tails.time_unit import unit_of

RING = {"cluster": "ideal-100g", "nodes": 4, "message_bytes": "1 MiB"}


async def until(happened):
    for _ in range(6000):
        if happened():
            return
        await asyncio.sleep(0.01)
    raise AssertionError(happened)


def test_runs_come_while_somebody_looks_and_end_as_those_of_tails(monkeypatch):
    monkeypatch.setattr("peerlab.features.tails.filling._SHOW_S", 60)  # as on a machine that is quick
    pictures, sentences = [], []

    async def looked_at():
        explorer = peerlab.explore(**RING, jitter=0.1)
        many = explorer.controls.tailing
        words = many.words
        many.picture.observe(lambda event: pictures.append(event["new"]), "value")
        many.toggle.value = True
        await until(lambda: "1,000 of 1,000" in words.value)
        sentence, shown = words.value, many.picture.value
        words.observe(lambda event: sentences.append(event["new"]), "value")
        explorer.controls.nodes.value = 8  # others begin anew
        await until(lambda: any("The first runs" in new for new in sentences))
        many.toggle.value = False
        assert many.picture.value == words.value == ""
        explorer.close()
        return sentence, shown

    sentence, shown = asyncio.run(looked_at())
    assert "1,000 of 1,000 runs with jitter 10 %." in sentence
    assert len(pictures) > 5
    assert all("class='pl-falls'" in picture for picture in pictures[:5])
    whole = peerlab.tails(**RING, jitter=0.1, seeds=1000, progress=False)
    (p99,) = set(re.findall(r">p99 ([\d.]+ µs)<", shown))
    assert p99 == unit_of(whole).text(whole.paths[0].percentiles[2].value_ps)


def test_what_comes_is_what_tails_has_and_noise_is_assumed_where_there_is_none():
    *_, last = filling(peerlab.Scenario(cluster="ideal-100g-staged", nodes=2, message_bytes="64 KiB"), 12)
    assert last.assumed == ("jitter", "spread", "detours")
    asked = last.paths[0].scenario
    assert last.paths[0].times_ps == tuple(
        peerlab.simulate(asked.with_(seed=seed)).time_ps for seed in range(12)
    )
    lab = peerlab.explore(**RING)  # without a loop no page could be told of more
    lab.controls.tailing.toggle.value = True
    assert "20 of 1,000 runs" in lab.controls.tailing.words.value
    assert "assumed: set your own in Noise" in lab.controls.tailing.words.value
    lab.close()


def test_what_cannot_be_simulated_is_said_in_words(monkeypatch):
    def refuse(*_, **__):
        raise peerlab.PeerlabError("too much of it")

    monkeypatch.setattr("peerlab.app.panels.tails_panel.filling", refuse)
    lab = peerlab.explore(**RING)
    lab.controls.tailing.toggle.value = True
    assert "too much of it" in lab.controls.tailing.words.value
    lab.close()
