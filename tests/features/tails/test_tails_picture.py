"""The picture of many runs is legible whatever the runs are: no word lies on another, none is outside, and no time is negative."""

import re
from html import unescape
from itertools import combinations

import pytest
from contrasts import contrast
from hypothesis import example, given
from hypothesis import strategies as st

import peerlab
from peerlab.features.tails.tails import Tails
from peerlab.features.tails.tails_picture import WIDE, chosen_svg, in_order, tails_svg
from peerlab.features.tails.tails_sheets import SHEETS
from peerlab.features.tails.time_unit import Unit, unit_of
from peerlab.features.tails.times import PathTimes
from peerlab.picture.theme import palettes

PATHS = {"host-rdma": 5_500_000_000, "peer-direct": 4_600_000_000}
NOISY = peerlab.Scenario(cluster="dl1", nodes=2, jitter=0.1)
TEXT = re.compile(
    r"<text x='([-\d.e+]+)' y='([-\d.e+]+)' font-size='([\d.]+)'( font-weight='650')?[^>]*text-anchor='(\w+)'>([^<]*)</text>"
)
PART = {"start": 0.0, "middle": 0.5, "end": 1.0}
"""The part of a text that lies before where it is anchored."""
LETTER, BOLD_LETTER, HIGH = 0.55, 0.62, 0.9
"""Width of a letter of a wide font (DejaVu Sans), and what lies between two lines that do not touch, in font sizes."""


def boxes(drawn):
    """Return the words of a picture and where they lie: left, top, right, bottom."""
    placed = []
    for x, y, points, bold, anchor, text in TEXT.findall(drawn):
        words, size = unescape(text), float(points)
        wide = len(words) * size * (BOLD_LETTER if bold else LETTER)
        left = float(x) - PART[anchor] * wide
        placed.append((words, (left, float(y) - HIGH * size, left + wide, float(y))))
    return placed


def over(one, other):
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def heavy(low, slowest):
    """Return times of which a few are far out, the one as far as `slowest` times the least."""
    return st.lists(st.floats(0, 1), min_size=20, max_size=120).map(
        lambda drawn: [round(low * (1 + min(slowest, 0.05 / (1 - 0.999 * share) ** 2))) for share in drawn]
    )


@st.composite
def some_times(draw):
    """Return the times of a path: a heavy tail, equal ones, a few, or any."""
    low = draw(st.integers(10**6, 10**10))
    runs = draw(
        st.one_of(
            heavy(low, draw(st.sampled_from([3, 40, 1000]))),
            st.integers(1, 1100).map(lambda count: [low] * count),
            st.lists(st.integers(low, 2 * low), min_size=1, max_size=9),
            st.lists(st.integers(low, 2 * low), min_size=100, max_size=120).map(lambda some: some * 10),
        )
    )
    # Nearly always the quiet run is the quickest; with nodes of which some are quicker than others it need not be.
    quiet = draw(st.sampled_from([low, round(0.8 * low), max(runs)]))
    return tuple(runs), quiet


@given(
    st.lists(some_times(), min_size=1, max_size=2), st.sampled_from([*SHEETS.values(), WIDE]), st.booleans()
)
@example([((3164984,), 3164984), ((82289564,), 82289564)], SHEETS[0], False)  # one step of 50
def test_no_words_of_the_picture_lie_on_others_or_outside_and_no_time_is_negative(placed, least, fitted):
    paths = zip(("peer-direct", "host-rdma"), placed, strict=False)
    runs = Tails(tuple(PathTimes(NOISY.with_(path=path), *times) for path, times in paths), ())
    sheet = (least.fitted(runs) if fitted else least.growing(runs)).with_mark()
    drawn = tails_svg(runs, sheet=sheet)
    height = float(re.search(r"viewBox='0 0 [\d.]+ ([\d.]+)'", drawn)[1])
    words = boxes(drawn)
    for (text, one), (then, other) in combinations(words, 2):
        assert not over(one, other), f"{text!r} lies on {then!r}"
    for text, (left, top, right, bottom) in words:
        assert min(left, top) >= 0, text
        assert right <= sheet.width, text
        assert bottom <= height - 4, text
        assert not text.startswith("-")
    figures = [text for text, _ in words if re.fullmatch(rf"[\d.e+]+( {unit_of(runs).name})?", text)]
    assert len(figures) >= 2  # one figure alone is no scale
    slowest = runs.paths[0].times_ps.index(max(runs.paths[0].times_ps))
    chosen = chosen_svg(runs, slowest, sheet)
    (mark,) = boxes(chosen)
    # where the axis is broken, it is behind its last figure
    ticks = [
        float(x)
        for x in re.findall(r"<polyline points='([\d.]+),[\d.]+ \1,[\d.]+'[^>]*stroke-width='1'", drawn)
    ]
    breaks = [
        float(x) for x in re.findall(r"<polyline points='([\d.]+),[^']*'[^>]*stroke-width='1.3'", drawn)
    ]
    assert not breaks or min(breaks) > max(ticks)
    assert mark[1][0] >= 0
    assert mark[1][2] <= sheet.width
    assert not [text for text, box in words if over(box, mark[1])]


def test_rare_delays_are_counted_and_leave_the_axis_to_all_others():
    """With three runs of 110 ms beside hundreds of 5 ms the axis went to 60 ms, and began at -0."""
    times = (*range(4_500_000_000, 5_500_000_000, 5_000_000), 47 * 10**9, 80 * 10**9, 110 * 10**9)
    runs = Tails((PathTimes(NOISY, times, 4_400_000_000),), ())
    beyond = [[text for text, _ in boxes(chosen_svg(runs, len(times) - back))] for back in (1, 2)]
    assert beyond == [["this run 110 ms"], ["this run 80.0 ms"]]
    assert [text for text, _ in boxes(chosen_svg(runs, 0))] == ["this run 4.50 ms"]
    drawn = tails_svg(runs)
    texts = [text for text, _ in boxes(drawn)]
    assert "3 later," in texts
    assert "up to 110 ms" in texts
    ticks = [float(text) for text in texts if re.fullmatch(r"[-\d.]+", text)]
    assert min(ticks) > 4
    assert max(ticks) < 8


def test_all_times_have_one_unit_and_that_is_what_the_slower_path_takes():
    paths = [PathTimes(NOISY, (ps,) * 20, ps) for ps in (980_000_000, 5_518_000_000)]
    assert unit_of(Tails(tuple(paths), ())) == Unit(10**9, "ms")
    texts = {text for text, _ in boxes(tails_svg(Tails(tuple(paths), ())))}
    assert {"p50 0.980 ms", "p50 5.52 ms"} <= texts


def test_the_picture_begins_with_how_many_times_as_fast_the_median_is():
    paths = [PathTimes(NOISY.with_(path=path), (ps,) * 20, ps) for path, ps in PATHS.items()]
    for least in SHEETS.values():
        sheet = least.fitted(Tails(tuple(paths), ()))
        placed = boxes(tails_svg(Tails(tuple(paths), ()), sheet=sheet))
        head = {text for text, (*_, bottom) in placed if bottom < sheet.top}
        assert head == {"Peer Direct against RDMA through host", "1.20\u00d7 as fast at p50"}
        drawn = tails_svg(Tails(tuple(paths), ()), sheet=sheet)
        sizes = {unescape(text): float(points) for *_, points, _, _, text in TEXT.findall(drawn)}
        # smaller than the names of the paths below it, it was found last
        assert sizes["1.20\u00d7 as fast at p50"] == 18 > sizes["Peer Direct"]
        texts = {text for text, _ in placed}
        assert {"p50 5.50 ms", "p50 4.60 ms"} <= texts  # of as many digits
    alone = tails_svg(Tails((paths[0],), ()), sheet=WIDE.fitted(Tails((paths[0],), ())))
    assert not [text for text, _ in boxes(alone) if "against" in text]


def test_the_line_of_a_percentile_crosses_no_dot():
    """Between the dots of its pile it was seen as a comb."""
    times = tuple(range(4_500_000_000, 5_500_000_000, 10_000_000))
    runs = Tails((PathTimes(NOISY, times, 4_400_000_000),), ())
    for least in SHEETS.values():
        sheet = least.fitted(runs)
        drawn = tails_svg(runs, sheet=sheet)
        lines = re.findall(r"points='([\d.]+),[\d.]+ \1,([\d.]+)'[^>]*stroke-width='1.6'/>", drawn)
        piles = re.findall(r"d='M([\d.]+) ([\d.]+)v-([\d.]+)' [^>]*stroke-width='([\d.]+)'", drawn)
        assert len(lines) == 2  # p50, p90
        for x, end in lines:
            tops = [
                float(low) - float(high) - float(wide) / 2
                for at, low, high, wide in piles
                if abs(float(at) - float(x)) < float(wide) / 2 + 0.8
            ]
            assert tops
            assert float(end) < min(tops)
            assert min(abs(float(at) - float(x)) for at, *_ in piles) < 0.01, "on the dot of its run"


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_dots_stand_out_from_their_panel_in_the_colours_of_their_names(theme):
    """Amber ones had 1.7 to 1, and in paler inks they were neither amber nor green."""
    paths = [PathTimes(NOISY.with_(path=path), (ps,) * 20, ps) for path, ps in PATHS.items()]
    drawn, colours = tails_svg(Tails(tuple(paths), ()), theme), palettes()[theme]
    dots = re.findall(r"stroke='(#\w+)' stroke-width='([\d.]+)'[^>]*stroke-dasharray='0 [^>]*>", drawn)
    assert "opacity" not in drawn
    # each pile twice: the rim, and on it the colour of the path, which is 2 to 1 there
    rims, fills = dots[::2], dots[1::2]
    assert {colour for colour, _ in fills} == {colours["copy"], colours["direct"]}
    assert {colour for colour, _ in rims} == {colours["copy-ink"], colours["direct-ink"]}
    for (rim, wide), (_, within) in zip(rims, fills, strict=True):
        assert contrast(rim, colours["panel"]) > 3
        assert float(wide) - float(within) == pytest.approx(1.2)


def test_times_have_the_digits_that_tell_them_apart():
    """With 5 % of jitter on 64 nodes p50 and p90 were 11.8 ms both."""
    times = tuple(range(11_800_000_000, 11_900_000_000, 1_000_000))
    texts = {text for text, _ in boxes(tails_svg(Tails((PathTimes(NOISY, times, 11_200_000_000),), ())))}
    assert {"p50 11.85 ms", "p90 11.89 ms"} <= texts


@pytest.mark.parametrize("chosen", ["fastest", "middle", "slowest", "beyond"])
def test_a_chosen_run_has_its_name_and_time_above_its_dot_and_below_the_axis_are_figures_alone(chosen):
    """*this run* and the figure below its dot read as one, and what it took was not said."""
    times = (*range(4_500_000_000, 5_500_000_000, 5_000_000), *([80 * 10**9] * (chosen == "beyond")))
    paths = [PathTimes(NOISY.with_(path=path), times, 4_400_000_000) for path in ("host-rdma", "peer-direct")]
    for runs in (Tails(tuple(paths), ()), Tails((paths[0],), ())):
        sheet = WIDE.fitted(runs)._replace(foot=0).with_mark()
        place = {"fastest": 0, "middle": 100}.get(chosen, len(times) - 1)
        mark, drawn = chosen_svg(runs, place, sheet), tails_svg(runs, sheet=sheet)
        ((says, (left, _, right, bottom)),) = boxes(mark)
        assert says == f"this run {unit_of(runs).text(times[place])}"
        x, y, half = (
            float(re.search(rf" {name}='([\d.]+)'[^>]*stroke-width='1.5'", mark)[1])
            for name in ("x", "y", "rx")
        )
        assert left < x + half < right
        assert bottom < y
        base = sheet.base(in_order(runs).index(runs.paths[0]))
        assert y + half < base  # on its pile
        lowest = [text for text, (_, top, *_) in boxes(drawn) if top > sheet.base(len(runs.paths) - 1)]
        assert all(re.fullmatch(r"[\d.]+( ms)?", text) for text in lowest)
        assert sum(text.endswith("ms") for text in lowest) == 1
        breaks = 2 * len(runs.paths) if chosen == "beyond" else 0
        assert drawn.count("stroke-width='1.3'") == breaks  # every axis breaks


@pytest.mark.parametrize("slowest", [1.1, 40])
def test_an_axis_spans_its_card_and_each_figure_stands_below_its_tick(slowest):
    """It ended 136 px before the card did, and the first figure stood beside its tick."""
    times = (*range(4_500_000_000, 5_500_000_000, 5_000_000), round(slowest * 5 * 10**9))
    runs = Tails((PathTimes(NOISY, times, 4_400_000_000),), ())
    for least in SHEETS.values():
        sheet = least.fitted(runs)
        drawn = tails_svg(runs, sheet=sheet)
        ends = re.findall(r"points='([\d.]+),([\d.]+) ([\d.]+),\2'", drawn)
        assert {min(float(left) for left, _, _ in ends), max(float(right) for *_, right in ends)} == {
            sheet.left,
            sheet.width - 16,
        }
        ticks = re.findall(r"<polyline points='([\d.]+),[\d.]+ \1,[\d.]+'[^>]*stroke-width='1'", drawn)
        figures = [x for x, *_, anchor, _ in TEXT.findall(drawn) if anchor == "middle"]
        assert figures == ticks
