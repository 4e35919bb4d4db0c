"""A network with neighbours in a browser: glasses, pauses and the fabrics beside each other, on one clock."""

import re
from itertools import pairwise

import pytest
from axe_faults import axe_faults
from contrasts import contrast
from overlaps import is_cut
from page_that_plays import resize, seek_ps
from playwright.sync_api import expect

from peerlab.features.neighbours.port_page import port_page_html
from peerlab.picture.theme import palettes
from peerlab.study.port_answer import answer_ports
from peerlab.study.port_question import port_question


@pytest.fixture(scope="module")
def answers():
    given = {"nodes": 4, "message_bytes": "1 MiB", "neighbour": "neighbour(3)"}
    return [answer_ports(port_question(fabric=fabric, **given)) for fabric in ("infiniband", "roce-pfc")]


@pytest.fixture
def opened(open_page, answers):
    """Open the page of two fabrics."""
    return lambda **options: open_page(port_page_html(answers, **options))


def test_a_paused_port_says_so_as_long_as_it_is_paused(opened, answers):
    page = opened()
    page.get_by_role("radio", name="RoCE, pauses").check()
    pauses = answers[1].trace.pauses
    longest = max(pauses, key=lambda pause: pause.end_ps - pause.start_ps)
    seek_ps(page, (longest.start_ps + longest.end_ps) / 2)
    moment = (longest.start_ps + longest.end_ps) / 2
    paused = {pause.link for pause in pauses if pause.start_ps <= moment < pause.end_ps}
    words = page.locator(".np-scene text", has_text=re.compile("^paused$"))
    expect(page.locator('.np-scene path[stroke="var(--pl-hot)"]')).to_have_count(len(paused))
    assert len(paused) > 1
    expect(words).to_have_count(1)  # the first one says it
    seek_ps(page, 0)
    expect(words).to_have_count(0)


def test_a_glass_holds_the_bytes_that_wait_at_its_port(opened, answers):
    """The level that is drawn is the height of the queue in the trace, at the trunk's port and a moment in the middle."""
    page = opened()
    trace = answers[0].trace
    moment = trace.time_ps * 0.4
    seek_ps(page, moment)
    trunk = 2 * trace.scene.hosts
    waiting = sum(
        cell.wire for cell in [*trace.cells, *trace.left] if cell.link == trunk and cell.queued_ps <= moment < cell.end_ps
    )  # fmt: skip
    drawn = page.evaluate(
        """link => {
          const { scene } = [...peerlabPages][0], part = scene.parts.find((one) => one.number === link && !one.account);
          return part.pieces.reduce((sum, piece) => sum + Number(piece.getAttribute("width")), 0) * part.place.scale / (part.place.wide - 3);
        }""",
        trunk,
    )
    assert waiting > 0
    assert drawn == pytest.approx(waiting, rel=0.02)


def test_a_line_below_a_glass_is_the_share_of_the_credits_that_its_port_has_while_one_points_at_it(
    opened, answers
):
    page = opened()
    trace = answers[0].trace
    trunk, pool = 2 * trace.scene.hosts, trace.scene.fabric.credits
    moment = trace.time_ps * 0.4
    seek_ps(page, moment)
    out = sum(cell.wire for cell in trace.on(trunk) if cell.start_ps <= moment)
    back = sum(
        credit.wire for credit in trace.credits if credit.link == trunk and credit.arrives_ps <= moment
    )
    drawn = page.evaluate(
        """link => {
          const { credits, wide } = [...peerlabPages][0].scene.parts.find((one) => one.number === link && !one.account).below;
          return Number(credits.getAttribute("width")) / wide;
        }""",
        trunk,
    )
    assert drawn == pytest.approx((pool - out + back) / pool, abs=0.01)
    assert drawn < 1
    line = page.locator(".np-credits").last
    expect(line).to_be_hidden()
    page.locator(".np-port", has=page.locator(".np-credits")).last.locator("rect[rx='3']").first.hover(
        force=True
    )
    expect(line).to_be_visible()


def test_a_sender_that_was_told_sends_at_the_rate_that_the_trace_has(open_page):
    given = {"nodes": 4, "message_bytes": "1 MiB", "neighbour": "neighbour(3)"}
    answer = answer_ports(port_question(fabric="roce-dcqcn", **given))
    page, trace = open_page(port_page_html([answer])), answer.trace
    moment = trace.time_ps * 0.5
    seek_ps(page, moment)
    flow = next(number for number, sent in enumerate(trace.scene.flows) if sent.job == "neighbour")
    last = [change for change in trace.rates if change.flow == flow and change.at_ps <= moment][-1]
    drawn = page.evaluate(
        "flow => [...peerlabPages][0].cells[0].rate(flow, [...peerlabPages][0].player.time)", flow
    )
    line = trace.scene.host_Bps
    assert drawn == pytest.approx([last.rate_Bps / line, last.target_Bps / line], rel=1e-5)
    assert page.locator(".np-strip .np-notches").count() == 1


def test_another_fabric_keeps_the_clock_and_says_its_own_figures(opened, answers):
    page = opened()
    seek_ps(page, answers[1].time_ps / 2)
    page.keyboard.press("n")
    expect(page.get_by_role("radio", name="RoCE, pauses")).to_be_checked()
    assert page.evaluate("[...peerlabPages][0].player.time") == pytest.approx(answers[1].time_ps / 2e6)
    slower = answers[1].time_ps / answers[1].alone_ps
    expect(page.locator(".np-hero b")).to_have_text(f"{slower:.2f}\u00d7")


def test_hosts_are_counted_from_0_whether_they_come_before_or_behind_the_others(open_page):
    scene = answer_ports(port_question(fabric="infiniband", neighbour="victim(3)", until_ms=0.2))
    page = open_page(port_page_html([scene]))
    names = page.locator(".np-scene text").all_text_contents()
    assert [name for name in names if name.startswith("other")] == [f"other {number}" for number in range(4)]
    assert [name for name in names if name.startswith("node")] == ["node 0", "node 1"]


def test_space_plays_and_arrows_step_to_the_next_pause(opened):
    page = opened()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    assert page.evaluate("[...peerlabPages][0].player.time") > 0
    page.keyboard.press(" ")
    page.wait_for_function("time => [...peerlabPages][0].player.time > time", arg=0)


def test_a_threshold_that_many_ports_have_is_one_line_across_them(opened, answers):
    """A tick in each of eight rows was as loud as what waits there."""
    page, (first, _) = opened(), answers
    leaves = page.evaluate(
        """[...peerlabPages].map(({ scene }) => scene.parts.filter(({ account, place }) => account && !place.high).map(({ place: { x, y, wide } }) => [x, y, wide]))[0]"""
    )
    lines = page.locator(".np-scene > line")
    drawn = [
        tuple(float(line.get_attribute(name) or 0) for name in ("x1", "y1", "y2")) for line in lines.all()
    ]
    across = [(x, top, bottom) for x, top, bottom in drawn if bottom - top > 30]
    assert across
    for x, top, bottom in across:
        ports = [(left, wide) for left, y, wide in leaves if top < y < bottom]
        assert len(ports) > 1
        assert all(left < x < left + wide for left, wide in ports)
    expect(lines.first.locator("title")).to_have_text(re.compile("^credits: "))
    assert first.trace.scene.fabric.credits


def test_a_table_compares_what_all_fabrics_have_and_the_card_says_what_happened_on_the_chosen_one(opened):
    """Times without credits, bytes sent again and marks in one column compared nothing."""
    page = opened()
    head = page.locator(".np-fabrics thead th")
    expect(head.last).to_have_text("waiting at the trunk, at most")
    assert all(
        re.fullmatch(r"[\d.,]+ (KiB|MiB)", cell)
        for cell in page.locator(".np-fabrics tbody td:last-child").all_text_contents()
    )
    note = page.locator(".np-hero .ts-note")
    expect(note).to_contain_text("All ports together: stopped for ")
    page.keyboard.press("n")
    expect(note).to_contain_text("All ports together: paused for ")


def test_the_player_says_where_it_plays_but_the_first_part_of_a_run(opened):
    """How long the run takes stood there, too; the table beside it says that."""
    page = opened()
    page.evaluate("[...peerlabPages].forEach((one) => { one.played /= 4; one.turnTo(0) })")
    expect(page.locator(".pl-clock")).to_have_text(re.compile(r" of the first [\d.]+ .s$"))
    page.evaluate("[...peerlabPages].forEach((one) => { one.played *= 4; one.turnTo(0) })")
    expect(page.locator(".pl-clock")).to_have_text(re.compile(r" of [\d.]+ .s$"))


def test_why_links_are_stopped_is_said_once(opened, answers):
    """*No credits* stood at a sender, at the trunk, below them and in the card."""
    page, trace = opened(), answers[0].trace
    trunk = 2 * trace.scene.hosts
    moments = [(span.start_ps + span.end_ps) / 2 for span in trace.starved if span.link == trunk]
    others = [span for span in trace.starved if span.link != trunk]
    both = [moment for moment in moments if any(span.start_ps < moment < span.end_ps for span in others)]
    seek_ps(page, both[0])
    expect(page.locator(".np-root text", has_text="no credits")).to_have_count(1)
    expect(page.locator(".np-scene text", has_text="no credits")).to_have_attribute(
        "font-weight", "650"
    )  # the trunk's
    stopped = page.locator(".np-strip text", has_text=re.compile(r"^node \d+ stopped"))
    expect(stopped).to_have_count(1)
    expect(page.locator(".np-key", has_text="threshold")).to_have_count(0)  # its name stands at its line


def test_what_the_bars_show_stands_above_them_and_the_name_of_their_mark_beside_it(opened):
    """With *alone* by itself at the head one took all of a bar for the time alone."""
    page = opened()
    expect(page.locator(".np-fabrics thead th").nth(1)).to_have_text("timealone")
    bar, head, name = (
        page.locator(part).first.bounding_box() for part in (".np-bar", ".np-barhead", ".np-barhead small")
    )
    assert head["x"] == pytest.approx(bar["x"], abs=1)
    assert name["x"] > head["x"]
    sign, mark = (
        page.locator(part).first.evaluate("one => [one.offsetWidth, getComputedStyle(one).backgroundColor]")
        for part in (".np-barhead s", ".np-bar s")
    )
    assert sign == mark


def test_credits_are_drawn_of_who_pays_most_and_of_the_shared_port_alone(opened):
    page = opened()
    drawn, told = page.evaluate(
        """[...peerlabPages].map(({ scene, data }) => [scene.parts.filter(({ below, flying }) => below?.credits || flying?.length).map(({ number }) => number),
             [data.victim, data.shared]])[0]"""
    )
    assert sorted(drawn) == sorted(told)
    expect(page.locator(".np-key .np-pair", has_text="credit")).to_have_text(
        ["credit returned", "most that credits allow", "link without credits"]
    )


def test_ports_of_the_trunk_begin_where_those_of_the_hosts_do_and_are_larger(opened):
    page = opened()
    ports = page.evaluate(
        "[...peerlabPages][0].scene.parts.map(({ kind, account, place: { x, wide, exit, high = 0 } }) => [kind ?? 'account', x, x + wide, high])"
    )
    inputs = {round(left) for kind, left, _, high in ports if kind == "account" and not high}
    outputs = {round(right) for kind, _, right, _ in ports if kind == "down"}
    trunks = [(round(left), round(right)) for kind, left, right, high in ports if high]
    assert len(inputs) == len(outputs) == 1
    assert trunks
    assert all(left in inputs or right in outputs for left, right in trunks)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_it_can_be_read_by_everybody(opened, theme):
    page = opened(theme=theme)
    assert axe_faults(page) == []
    expect(page.locator(".np-scene")).to_have_attribute(
        "aria-label", re.compile("AllReduce of 1 MiB on 4 hosts of ideal-100g")
    )
    for width in (1280, 900, 420):
        resize(page, width, 800)
        assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("width", [1280, 853, 740, 600, 390])
def test_what_waits_at_most_is_said_once(opened, width):
    """The table's figure stood again beside the plot below."""
    page = opened()
    resize(page, width, 800)
    words = page.locator(".np-strip text")
    lefts = words.evaluate_all("all => all.map(text => text.getBoundingClientRect().left)")
    assert min(lefts) >= 0, "names left of the axis have room there, or stand above it"
    expect(words.filter(has_text="bytes waiting at trunk 0 to 1")).to_have_count(1)
    # the strip has a scale: its upper end is what waits at most on any fabric, which the table has for each
    scale = page.locator(".np-strip .np-scale")
    expect(words.filter(has_text=re.compile("at most$|(KiB|MiB)$"))).to_have_count(1)
    expect(scale).to_have_text([re.compile(r"^[\d.]+ (KiB|MiB)$"), "0"])
    expect(words.filter(has_text=re.compile("in all$"))).to_have_count(1)
    # most stopped links have no word on them: their colour is in the key
    expect(page.locator(".np-key .np-pair", has_text="link without credits")).to_have_count(1)


@pytest.mark.parametrize("width", [1280, 600, 390])
def test_hosts_that_are_not_drawn_are_counted_within_the_page(open_page, width):
    many = answer_ports(port_question(fabric="infiniband", neighbour="senders(14)", until_ms=0.05))
    page = open_page(port_page_html([many]))
    resize(page, width, 800)
    hidden = page.locator(".np-scene text", has_text=re.compile(r"^and \d+ more"))
    expect(hidden).to_have_count(1)
    # asked at once: what is drawn anew in the new width has other elements
    left, right = hidden.evaluate(
        "text => { const { left, right } = text.getBoundingClientRect(); return [left, right] }"
    )
    assert left >= 0
    assert right <= width


@pytest.mark.parametrize("width", [1280, 900, 600])
def test_a_table_of_fabrics_is_not_cut(opened, width):
    page = opened()
    resize(page, width, 900)
    assert not is_cut(page, ".np-scroll")


def test_of_a_queue_that_is_full_no_words_lie_on_others_and_the_answer_stays_in_its_card(open_page):
    given = {"nodes": 8, "message_bytes": "4 MiB", "neighbour": "neighbour(4)"}
    page = open_page(port_page_html([answer_ports(port_question(fabric="roce-lossy", **given))]))
    resize(page, 1280, 800)
    expect(page.locator(".np-hero h2")).to_have_text("The AllReduce on RoCE, losses takes over")
    inside = "(() => { const box = (part) => document.querySelector(part).getBoundingClientRect(); return box('.np-hero small').right <= box('.np-hero').right })()"
    assert page.evaluate(inside)
    crossing = page.evaluate(
        """() => { const all = [...document.querySelectorAll('.np-strip text')].map((text) => [text.textContent, text.getBoundingClientRect()]);
             return all.flatMap(([one, a], i) => all.slice(i + 1).filter(([, b]) => a.left < b.right && b.left < a.right && a.top + 3 < b.bottom && b.top + 3 < a.bottom).map(([other]) => [one, other])) }"""
    )
    assert crossing == []


def test_a_sender_at_which_nothing_waits_is_an_outline_and_the_shared_port_without_credits_is_the_heaviest(
    opened, answers
):
    page, trace = opened(), answers[0].trace
    starved = max(
        (span for span in trace.starved if span.link == 2 * trace.scene.hosts),
        key=lambda span: span.end_ps - span.start_ps,
    )
    moment = (starved.start_ps + starved.end_ps) / 2
    seek_ps(page, moment)
    senders, links = page.evaluate(
        """[...peerlabPages].map(({ scene, data }) => [
             scene.parts.filter(({ account, kind }) => !account && kind === 'up').map(({ number, frame }) => [number, frame.getAttribute('fill') !== 'none']),
             scene.parts.filter(({ track }) => track?.getAttribute('stroke') === 'var(--pl-hot)').map(({ number, track }) => [number, Number(track.getAttribute('stroke-width'))])])[0]"""
    )
    hosts, leaves, flows = trace.scene.hosts, trace.scene.leaves, trace.scene.flows
    waits = set()
    for cell in [*trace.cells, *trace.left]:
        flow = flows[cell.flow]
        # at its sender or in the first switch on its way
        first = cell.link < hosts or cell.link >= 2 * hosts or leaves[flow.src] == leaves[flow.dst]
        if first and cell.queued_ps <= moment < cell.end_ps:
            waits.add(flow.src)
    assert {number for number, is_full in senders if is_full} == {number for number, _ in senders} & waits
    widths = dict(links)
    shared = widths.pop(2 * trace.scene.hosts)
    assert all(2 * width < shared for width in widths.values())


def test_a_threshold_across_ports_has_its_name_at_its_line_and_that_of_credits_in_the_key(opened):
    """Of three lines of credits one had a name, which lay on that of the switch."""
    page = opened()
    expect(page.locator(".np-scene text", has_text=re.compile("^credits$"))).to_have_count(0)
    expect(page.locator(".np-key .np-pair", has=page.locator(".np-mark"))).to_have_text(
        "most that credits allow"
    )
    page.get_by_role("radio", name="RoCE, pauses").check()
    expect(page.locator(".np-key .np-mark")).to_have_count(0)
    lines = {
        line.locator("title").text_content().split(":")[0]: line.bounding_box()
        for line in reversed(page.locator(".np-scene > line").all())
    }
    for words in ("XOFF", "XON"):
        name, line = page.locator(f".np-scene text:text-is('{words}')").bounding_box(), lines[words]
        assert name["x"] < line["x"] < name["x"] + name["width"]
        assert 0 <= line["y"] - name["y"] - name["height"] < 8


def test_what_waits_begins_where_bytes_leave(opened):
    """Ports of hosts filled from the left, those of the trunk from the right."""
    page = opened()
    ends = set()
    for share in (0.2, 0.43, 0.7):
        page.evaluate(
            "share => { const { player } = [...peerlabPages][0]; player.seek(share * player.length) }", share
        )
        drawn = page.evaluate(
            """[...peerlabPages][0].scene.parts.filter(({ pieces }) => pieces.some((one) => Number(one.getAttribute('width')) > 0)).map(({ kind, account, line, pieces, place: { x, wide } }) => {
                 const filled = pieces.filter((one) => Number(one.getAttribute('width')) > 0), right = Math.max(...filled.map((one) => Number(one.getAttribute('x')) + Number(one.getAttribute('width'))));
                 return [account ? 'input' : kind, account || line[0][0] > x, x + wide - right] })"""
        )
        for kind, leaves_right, apart in drawn:
            if leaves_right:  # all but the port of the trunk that leads back
                assert apart == pytest.approx(1.5, abs=0.1)
                ends.add(kind)
    assert ends == {"input", "up", "trunk", "down"}


def test_below_the_ports_time_begins_where_the_switches_do_and_ends_where_the_page_does(opened):
    page = opened()
    resize(page, 1280, 800)
    left = [page.locator(part).first.bounding_box()["x"] for part in (".np-scene > rect", ".np-scroll")]
    begin = page.evaluate(
        "[...peerlabPages].map(({ strip }) => strip.left + strip.host.getBoundingClientRect().x)[0]"
    )
    assert left == pytest.approx([begin, begin], abs=1.5)
    end, width = page.evaluate("[...peerlabPages].map(({ strip }) => [strip.right, strip.width])[0]")
    assert end == width


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_lines_and_lanes_of_ports_are_seen(opened, theme):
    """Links were 1.3 to 1 on their ground, ports 10 px high, and the time stopped a hairline."""
    page = opened(theme=theme)
    strokes = page.evaluate(
        "[...peerlabPages][0].scene.parts.filter(({ track }) => track).map(({ track }) => track.getAttribute('stroke'))"
    )
    assert set(strokes) <= {"var(--pl-gather)", "var(--pl-edge)", "var(--pl-hot)"}
    assert contrast(palettes()[theme]["gather"], palettes()[theme]["panel"]) > 1.6
    # a port at which nothing waits is quiet, not pale
    assert page.locator(".np-scene [opacity]:not([opacity='1'])").count() == 0
    assert (
        min(contrast(palettes()[theme]["edge"], palettes()[theme][role]) for role in ("panel", "paper")) > 2.5
    )
    highs = page.locator(".np-scene rect[rx='3']").evaluate_all(
        "all => all.map((one) => one.height.baseVal.value)"
    )
    assert min(highs) >= 12
    stopped = page.locator('.np-strip path[fill="var(--pl-hot)"]').bounding_box()
    assert stopped["height"] == pytest.approx(
        4, abs=0.5
    )  # as thick as a link: it was the heaviest of the page


@pytest.mark.parametrize("width", [1280, 600])
def test_all_ports_of_a_switch_are_as_wide_as_its_trunk_and_its_name_stands_between_them(opened, width):
    """Hosts' ports were half as wide, so that as many bytes had two lengths, and the middle was empty."""
    page = opened()
    resize(page, width, 900)
    widths = page.evaluate(
        "[...peerlabPages][0].scene.parts.filter(({ account, kind }) => account || kind !== 'up').map(({ place }) => place.wide)"
    )
    assert max(widths) == pytest.approx(min(widths), abs=0.5)
    grounds = [box.bounding_box() for box in page.locator(".np-scene > rect").all()]
    names = [
        name.bounding_box()
        for name in page.locator(".np-scene text", has_text=re.compile(r"^switch \d$")).all()
    ]
    for ground, name in zip(grounds, names, strict=True):
        assert name["x"] + name["width"] / 2 == pytest.approx(ground["x"] + ground["width"] / 2, abs=1)
        assert ground["y"] < name["y"] < name["y"] + name["height"] < ground["y"] + ground["height"]
        ports = [box.bounding_box() for box in page.locator(".np-scene rect[rx='3']").all()]
        assert all(
            box["x"] + box["width"] < name["x"] - 2 or box["x"] > name["x"] + name["width"] + 2
            for box in ports
        )
    inputs, outputs = (
        page.locator(".np-scene text", has_text=re.compile(f"{words} ports?$")).bounding_box()["x"]
        for words in ("input", "output")
    )
    lefts = page.evaluate(
        "[...peerlabPages][0].scene.parts.filter(({ place }) => place.high).map(({ frame }) => frame.getBoundingClientRect().left)"
    )
    assert min(abs(left - inputs) for left in lefts) < 1
    assert min(abs(left - outputs) for left in lefts) < 1


@pytest.mark.parametrize("width", [1280, 600])
def test_names_of_senders_begin_and_names_of_receivers_end_where_the_page_does(opened, width):
    page = opened()
    resize(page, width, 900)
    card = page.locator(".np-hero").bounding_box()
    names = [
        name.bounding_box()
        for name in page.locator(".np-scene text", has_text=re.compile("^(node|other) ")).all()
    ]
    assert min(box["x"] for box in names) == pytest.approx(card["x"], abs=1)
    assert max(box["x"] + box["width"] for box in names) == pytest.approx(width - card["x"], abs=1)
    lane = page.locator(".np-strip text", has_text="stopped").bounding_box()
    assert lane["x"] == pytest.approx(card["x"], abs=1)


@pytest.mark.parametrize("width", [1280, 600, 390])
def test_no_trunk_runs_through_the_name_of_a_switch(opened, width):
    page = opened()
    resize(page, width, 900)
    trunks = page.evaluate(
        "[...peerlabPages][0].scene.parts.filter(({ kind, account }) => kind === 'trunk' && !account).map(({ track }) => track.getBoundingClientRect().x)"
    )
    assert len(trunks) == 2
    for name in page.locator(".np-scene text", has_text=re.compile(r"^switch \d$")).all():
        box = name.bounding_box()
        assert not [x for x in trunks if box["x"] - 4 < x < box["x"] + box["width"] + 4]


def test_a_trunk_is_joined_to_its_buffers_below_the_key(opened):
    """It floated between two columns, and its colour was explained 350 px below it."""
    page = opened()
    gaps = page.evaluate(
        """[...peerlabPages][0].scene.parts.filter(({ kind, account }) => kind === 'trunk' && !account).flatMap(({ track, place: { x, wide, exit } }) =>
             [0, track.getTotalLength()].map((at) => track.getPointAtLength(at).x - (exit ? x + wide : x)))"""
    )
    assert gaps == pytest.approx([0] * 4, abs=0.1)
    key, scene = (page.locator(part).bounding_box() for part in (".np-key", ".np-scene"))
    assert key["y"] + key["height"] <= scene["y"]


@pytest.mark.parametrize("width", [1280, 600])
def test_links_end_at_their_ports_cells_stay_on_them_and_each_has_one_thickness(opened, width):
    """Cells ran over the edges of ports and into names, links ended 5 px before ports, and one had two thicknesses."""
    page = opened()
    resize(page, width, 900)
    lefts, tracks = page.evaluate(
        """[...peerlabPages].map(({ scene: { parts } }) => [parts.filter(({ account, place }) => account && !place.high).map(({ place: { x } }) => x),
             parts.filter(({ kind }) => kind === 'up').map(({ line: [, [x]] }) => x)])[0]"""
    )
    assert tracks == pytest.approx([lefts[0]] * len(tracks))
    # outputs are boxes as inputs are, and links begin at them: bare lines began at nothing
    begins, frames = page.evaluate(
        """[...peerlabPages].map(({ scene: { parts } }) => parts.filter(({ kind }) => kind === 'down')).map((outputs) => [
             outputs.map(({ track, place: { x, wide } }) => track.getPointAtLength(0).x - x - wide), outputs.map(({ frame, place }) => frame.getBBox().width - place.wide)])[0]"""
    )
    assert len(begins) == len(frames) > 4
    assert [*begins, *frames] == pytest.approx([0] * 2 * len(begins), abs=0.1)
    length = page.evaluate("[...peerlabPages][0].player.length")
    drawn = 0
    for share in (0.2, 0.37, 0.43, 0.6, 0.71, 0.8):
        page.evaluate("time => [...peerlabPages][0].player.seek(time)", share * length)
        beyond = page.evaluate(
            """[...peerlabPages][0].scene.parts.filter(({ cell }) => cell?.getAttribute('visibility') === 'visible').flatMap(({ cell, line: [[x0, y0], [x1, y1]] }) => {
                 const [at, size, from, to] = x0 === x1 ? ['y', 'height', y0, y1] : ['x', 'width', x0, x1], first = Number(cell.getAttribute(at));
                 return [Math.min(from, to) - first, first + Number(cell.getAttribute(size)) - Math.max(from, to)] })"""
        )
        drawn += len(beyond)
        assert all(apart <= 1e-6 for apart in beyond)
    assert drawn


def test_when_a_sender_was_stopped_is_drawn_in_whole_pixels(opened):
    """Many short stops made stripes of two tones, which looked like a pattern with a meaning."""
    page = opened()
    d = page.locator('.np-strip path[fill="var(--pl-hot)"]').get_attribute("d")
    spans = [(int(left), int(right)) for left, right in re.findall(r"M(\d+) [\d.]+H(\d+)v", d)]
    assert len(spans) == d.count("M") > 0
    assert all(left < right for left, right in spans)
    assert all(later - until > 1 for (_, until), (later, _) in pairwise(spans))


@pytest.mark.parametrize("width", [1280, 600])
def test_the_ends_of_the_scale_of_rates_are_in_the_page(open_page, width):
    """Where the axis ends with the page *100 %* was cut behind it."""
    given = {"nodes": 4, "message_bytes": "1 MiB", "neighbour": "neighbour(2)"}
    page = open_page(port_page_html([answer_ports(port_question(fabric="roce-dcqcn", **given))]))
    resize(page, width, 900)
    for words in ("100 %", "0 %"):
        end = page.locator(f".np-strip text:text-is('{words}')").bounding_box()
        assert end["x"] + end["width"] <= width - 11


@pytest.mark.parametrize("width", [1280, 900, 390])
def test_the_key_stands_above_the_drawing_and_no_fabric_moves_it(opened, answers, width):
    """At 900 pixels it stood at the page's foot, as those of fabrics have unlike many lines."""
    page = opened()
    resize(page, width, 900)
    gaps = []
    for number in range(len(answers)):
        page.evaluate("number => [...peerlabPages].forEach((one) => one.turnTo(number))", number)
        key, scene = (page.locator(part).bounding_box() for part in (".np-key", ".np-scene"))
        pairs = [pair.bounding_box() for pair in page.locator(".np-key .np-pair").all()]
        assert max(pair["y"] + pair["height"] for pair in pairs) <= scene["y"]
        gaps.append(scene["y"] - key["y"])
    assert gaps == pytest.approx([gaps[0]] * len(gaps), abs=0.5)


def test_a_credit_on_its_way_touches_its_link(opened):
    """It floated beside the trunk."""
    page = opened()
    apart = page.evaluate(
        """[...peerlabPages].flatMap(({ scene, data, player }) => Array.from({ length: 40 }, (_, k) => (player.seek((k / 40) * player.length), scene.parts
             .filter(({ number, flying }) => number === data.shared && flying?.length).flatMap(({ flying, line: [[x]], thick }) => flying.filter((one) => one.getAttribute('visibility') === 'visible')
               .map((one) => one.cx.baseVal.value - one.r.baseVal.value - x - thick / 2))))).flat()"""
    )
    assert apart
    assert max(map(abs, apart)) < 0.5


def test_a_row_of_words_keeps_clear_of_its_scale_in_a_slim_page(open_page):
    """*Bytes waiting at the port to other 1* ran into the most that waits."""
    scene = answer_ports(port_question(fabric="roce-lossy", neighbour="senders(1)", until_ms=0.2))
    page = open_page(port_page_html([scene]))
    for width in (1000, 1280):
        resize(page, width, 800)
        page.wait_for_timeout(100)
        name, scale = (
            page.locator(f".np-strip {part}") for part in ("text:has-text('other 1')", ".np-scale")
        )
        box = name.bounding_box()
        assert box["x"] + box["width"] < scale.first.bounding_box()["x"]
    assert (
        page.locator(".np-strip text").all_text_contents().count("bytes waiting at the port to other 1") == 1
    )
