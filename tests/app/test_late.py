"""The lab finds out who is late after the picture is shown."""

import asyncio

import peerlab
from peerlab.app.late_in_background import LatenessInBackground
from peerlab.app.runs import Runs

NOISY = peerlab.Scenario(cluster="ideal-100g", nodes=4, message_bytes="64 KiB", jitter=0.1)


def test_the_quiet_run_is_simulated_after_the_call_that_asks_for_it_and_kept():
    runs, shown = Runs(), []

    async def ask():
        lagging = LatenessInBackground(runs, shown.append)
        lagging.draw(runs.get(NOISY))
        before = list(shown)
        await asyncio.sleep(0.2)
        return before

    assert asyncio.run(ask()) == []
    assert [one["of"] for one in shown] == [NOISY.as_code()]
    assert runs.find(NOISY.with_(jitter=0.0)) is not None


def test_without_a_page_it_is_known_at_once_and_where_nobody_can_be_late_it_is_nothing():
    runs, shown = Runs(), []
    lagging = LatenessInBackground(runs, shown.append)
    lagging.draw(runs.get(NOISY))
    lagging.draw(runs.get(NOISY.with_(jitter=0.0)))
    assert [one and one["nodes"] for one in shown] == [[0, 1, 2, 3], None]
