"""Pictures and videos of a run, as files: made by a real Chromium, looked at with other programs' eyes."""

import io
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

import pytest
from PIL import Image, ImageChops, ImageStat

import peerlab
from peerlab.base.errors import ExportError, MissingPackage
from peerlab.base.feature import registered
from peerlab.cli import main
from peerlab.features.export.in_browser import filmed, sitting
from peerlab.features.export.pictures import export_still
from peerlab.features.export.video import _ENCODERS, _encode, export_video, find_ffmpeg, frames
from peerlab.page.browser import browser, find_chromium
from peerlab.page.target import VIDEOS
from peerlab.picture.moment import moment
from peerlab.picture.words import alt_text
from peerlab.study.fabric_comparison import compare_fabrics

with_ffmpeg = pytest.mark.skipif(
    not (find_spec("imageio_ffmpeg") or shutil.which("ffmpeg")), reason="no ffmpeg here"
)


@pytest.fixture(scope="module")
def run():
    return peerlab.simulate(peerlab.Scenario(path="host-rdma"))


def children():
    """Return the processes that this one has started and not ended."""
    table = subprocess.run(
        ["ps", "-o", "comm=", "--ppid", str(os.getpid())], capture_output=True, text=True, check=False
    )
    return [name for name in table.stdout.split() if "chrom" in name or "ffmpeg" in name]


@pytest.mark.long("printed pages")
def test_a_png_is_the_same_twice_and_twice_as_large_at_2x(run, tmp_path):
    once, again, large = (
        export_still(run, tmp_path / name, scale=scale)
        for name, scale in (("a.png", 1), ("b.png", 1), ("c.png", 2))
    )
    assert once.read_bytes() == again.read_bytes()
    small, double = Image.open(once), Image.open(large)
    assert double.size == tuple(2 * side for side in small.size)
    seen = {colour for _, colour in small.convert("RGB").getcolors(1 << 20)}
    assert {(0xE6, 0x9F, 0x00), (0xFB, 0xE3, 0xD3), (255, 255, 255)} <= seen  # copies, the hot uplink, paper
    assert children() == []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.png", "b.png", "c.png"]


@pytest.mark.parametrize("path", ["host-rdma", "peer-direct"])
def test_the_page_in_the_browser_and_the_drawing_in_python_agree_on_every_slice(path):
    """Two programs place slices: the page's script and `peerlab.picture.moment`."""
    run = peerlab.simulate(peerlab.Scenario(path=path))
    with sitting(run, view="page", theme="light") as one:
        for part in (0.1, 0.43, 0.71, 0.97):
            at = int(part * run.time_ps)
            one.show(at)
            shown = one.window.evaluate(
                """(page => page.scene.slices(page.player.time).placed.map(s => [s.hollow, s.x, s.y]))([...peerlabPages][0])"""
            )
            drawn = [(one.hollow, *one.at) for one in moment(run, at).slices]
            assert len(shown) == len(drawn)
            for (hollow, x, y), (_, a, b) in zip(sorted(map(tuple, shown)), sorted(drawn), strict=True):
                assert (x, y) == pytest.approx((a, b), abs=1.0), (part, hollow)


def test_a_dark_picture_is_dark(run, tmp_path):
    picture = Image.open(export_still(run, tmp_path / "dark.png", theme="dark")).convert("L")
    assert ImageStat.Stat(picture).mean[0] < 80


def test_two_runs_stand_beside_each_other_at_one_moment(run, tmp_path):
    direct = peerlab.simulate(run.scenario.with_(path="peer-direct"))
    picture = Image.open(export_still((run, direct), tmp_path / "pair.png")).convert("RGB")
    copies, straight = (0xE6, 0x9F, 0x00), (0x00, 0x9E, 0x73)  # the colours of the two ways
    left, right = (picture.crop((x, 150, x + 620, 600)).getcolors(1 << 20) for x in (0, 650))
    assert copies in {colour for _, colour in left}
    assert straight in {colour for _, colour in right}
    assert copies not in {colour for _, colour in right}
    with sitting((run, direct), view="page", theme="light") as one:
        one.show(direct.time_ps)
        times = one.window.evaluate("[...peerlabPages].map(page => page.player.time)")
        assert times == pytest.approx([direct.time_ps / 1e6] * 2, rel=1e-3)
    with pytest.raises(
        ExportError, match="'timeline' shows one run; two are shown by the views 'page' and 'race'"
    ):
        export_still((run, direct), tmp_path / "x.png", view="timeline")
    with pytest.raises(ExportError, match=r"an \.svg shows one run"):
        export_still((run, direct), tmp_path / "x.svg")


@pytest.mark.parametrize("view", ["datapath", "timeline", "curves"])
def test_a_figure_alone_has_the_slide_to_itself(run, tmp_path, view):
    with sitting(run, view=view, theme="light") as one:
        one.show(run.time_ps // 2)
        seen = one.window.evaluate(
            "['.pl-scene', '.pl-timeline', '.pl-curves'].filter(name => document.querySelector(name).offsetHeight)"
        )
        assert seen == [{"datapath": ".pl-scene"}.get(view, f".pl-{view}")]
        assert not one.window.evaluate(
            "[...document.querySelectorAll('button')].some(one => one.offsetParent)"
        )
    if view == "curves":
        with pytest.raises(ExportError, match=r"the curves stand still; a \.png shows them"):
            export_video(run, tmp_path / "x.mp4", view=view)


def test_a_pdf_is_one_page_of_the_pictures_size_with_its_words(run, tmp_path):
    held = export_still(run, tmp_path / "still.pdf").read_bytes()
    assert held.startswith(b"%PDF-")
    assert re.findall(rb"/Count (\d+)", held) == [b"1"]
    left, low, right, high = (float(x) for x in re.search(rb"/MediaBox \[([^]]+)\]", held)[1].split())
    assert (right - left, high - low) == (960, 540)  # points: 1280 x 720 pixels
    assert b"/Font" in held  # words, not pixels


def test_frames_move_and_are_the_same_every_time(run):
    first, second = list(frames(run, 4)), list(frames(run, 4))
    for one, other in zip(first, second, strict=True):
        # an edge of a lane may lie between two rows of pixels, which then share its colour one way or the other
        pictures = [Image.open(io.BytesIO(png)).convert("RGB") for png in (one, other)]
        assert max(most for _, most in ImageChops.difference(*pictures).getextrema()) < 32
    assert len(set(first)) == 4
    assert Image.open(io.BytesIO(first[0])).size == (1280, 720)


def test_how_low_a_mark_may_be_follows_from_the_timeline_that_is_seen(run):
    """What there is to press is left out of a picture, so that its timeline has another height than it had first."""
    with sitting(run, view="page", theme="light") as picture:
        picture.show(run.time_ps // 2)
        least, rows, height = picture.window.evaluate(
            "(line => [line.least, line.rows, line.frame().height])([...peerlabPages][0].timeline)"
        )
    assert least == rows / height


@with_ffmpeg
def test_an_encoder_that_is_killed_is_said(run, tmp_path):
    def pictures():
        yield from frames(run, 1, view="sketch")
        for pid, said in processes(os.getpid()).items():
            if "image2pipe" in said:
                os.kill(pid, signal.SIGKILL)

    with pytest.raises(ExportError, match=r"^ffmpeg cannot write \.mp4: signal 9 ended it$"):
        _encode(find_ffmpeg(), pictures(), tmp_path / "a.mp4")


@with_ffmpeg
@pytest.mark.parametrize(
    ("name", "begins"), [("a.mp4", b"ftyp"), ("a.webm", b"\x1a\x45\xdf\xa3"), ("a.gif", b"GIF89a")]
)
def test_a_video_is_of_its_kind(run, tmp_path, name, begins):
    held = export_video(run, tmp_path / name, view="sketch", seconds=0.4, progress=False).read_bytes()
    assert begins in held[:12]
    if name.endswith("gif"):
        film = Image.open(io.BytesIO(held))
        assert (film.size, film.n_frames, film.info["loop"], film.info["duration"]) == (
            (1060, 322),
            10,
            0,
            40,
        )
    assert children() == []


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"path": "x.jpg"}, "cannot write x.jpg: its name must end in .svg, .png, .pdf"),
        ({"path": "/nowhere/x.svg"}, "cannot write /nowhere/x.svg: there is no folder /nowhere"),
        (
            {"path": "x.svg", "theme": "drak"},
            "theme: 'drak' is unknown; did you mean 'dark'? known: light, dark",
        ),
        ({"path": "x.png", "scale": 9}, "scale: 9 is none of 1, 2, 3, 4"),
        (
            {"path": "x.png", "view": "pgae"},
            "view: 'pgae' is unknown; did you mean 'page'? known: page, datapath, timeline, curves, sketch, race, race-slide",
        ),
        ({"path": "x.svg", "view": "page"}, "view: 'page' cannot be drawn as .svg; the view 'sketch' can"),
        ({"path": "x.png", "moment": 2}, "moment: 2 is no share of the run from 0 to 1"),
    ],
)
def test_what_cannot_be_written_is_said_in_one_line(run, tmp_path, monkeypatch, options, says):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ExportError, match=f"^{re.escape(says)}$"):
        export_still(run, **options)
    assert list(tmp_path.iterdir()) == []


def test_what_is_no_run_is_said(tmp_path):
    for no_run in (peerlab.Scenario(), "dl1", None):
        with pytest.raises(ExportError, match=r"^a picture shows a run, "):
            export_still(no_run, tmp_path / "x.svg")
    with pytest.raises(ExportError, match="one run or two, not 0"):
        export_still([], tmp_path / "x.svg")


def test_without_a_browser_the_error_says_how_to_get_one(run, tmp_path, monkeypatch):
    monkeypatch.delenv("PEERLAB_CHROMIUM", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ExportError, match="Debian: apt install chromium"):
        export_still(run, tmp_path / "x.png")
    monkeypatch.setenv("PEERLAB_CHROMIUM", "/no/such/program")
    with pytest.raises(ExportError, match="PEERLAB_CHROMIUM: '/no/such/program'"):
        find_chromium()
    assert export_still(run, tmp_path / "x.svg").read_text().startswith("<svg")


def test_without_ffmpeg_the_error_says_how_to_get_it(run, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MissingPackage, match=r"pip install 'peerlab\[video\]'"):
        export_video(run, tmp_path / "x.mp4")


def test_a_program_that_is_no_browser_is_told_from_one(run, tmp_path, monkeypatch):
    text = tmp_path.parent / "no-program"
    text.write_text("words")
    text.chmod(0o755)
    monkeypatch.setenv("PEERLAB_CHROMIUM", str(text))
    with pytest.raises(ExportError, match=r"cannot start .*no-program: Exec format error"):
        export_still(run, tmp_path / "x.png")
    monkeypatch.setenv("PEERLAB_CHROMIUM", shutil.which("true"))
    with pytest.raises(ExportError, match="the browser ended at once"):
        export_still(run, tmp_path / "x.png")
    for answer in ("words", "3"):
        text.write_text(f"#!/bin/sh\nprintf '{answer}\\0' >&4; sleep 5\n")
        monkeypatch.setenv("PEERLAB_CHROMIUM", str(text))
        with pytest.raises(ExportError, match="no-program does not answer as a Chromium does"):
            export_still(run, tmp_path / "x.png")
    assert list(tmp_path.iterdir()) == []


def processes(of):
    """Return the living processes that a process has started, and those that they have: numbers, each with its command."""
    table = subprocess.run(
        ["ps", "-ewwo", "pid=,ppid=,stat=,args="], capture_output=True, text=True, check=True
    )
    rows = [
        (int(pid), int(parent), said)
        for pid, parent, state, said in map(split, table.stdout.splitlines())
        if not state.startswith("Z")  # ended, and nobody has asked how
    ]
    found = {}
    while more := {pid: said for pid, parent, said in rows if parent in (of, *found) and pid not in found}:
        found |= more
    return found


def split(line):
    return line.split(None, 3)


@pytest.mark.parametrize(
    ("kind", "says"), [("--type=renderer", "the page crashed"), ("--headless", "ended before it was done")]
)
def test_a_browser_that_crashes_is_said_at_once_and_leaves_nothing(run, monkeypatch, kind, says):
    others = processes(os.getpid()).keys()  # such as the browser of other files of tests

    def crash(one):
        for pid in [
            pid for pid, said in processes(os.getpid()).items() if kind in said and pid not in others
        ]:
            with suppress(ProcessLookupError):  # one of them may have ended with another
                os.kill(pid, signal.SIGKILL)
        return one.png(0)

    with tempfile.TemporaryDirectory() as place:  # the path of a socket is short
        monkeypatch.setattr(tempfile, "tempdir", place)
        monkeypatch.setenv("TMPDIR", place)
        with sitting(run, view="sketch", theme="light") as one:
            for link in Path(place).glob("*/SingletonSocket"):  # Debian's headless one makes none
                assert link.parent in link.resolve().parents  # all that it makes lies in its profile
            with pytest.raises(ExportError, match=says):
                crash(one)
        assert list(Path(place).iterdir()) == []
    assert children() == []


@with_ffmpeg
def test_a_command_that_is_told_to_end_leaves_nothing_half_written(tmp_path):
    command = [sys.executable, "-m", "peerlab.cli", "export", "--view", "sketch", "--seconds", "60"]
    told = subprocess.Popen([*command, "--output", "a.mp4"], cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 120
    # it asks ffmpeg for its version before it begins
    while not (list(tmp_path.iterdir()) and any("ffmpeg" in said for said in processes(told.pid).values())):
        assert told.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.1)
    assert [path.suffix for path in tmp_path.iterdir()] == [".mp4"]
    begun = processes(told.pid)
    told.terminate()
    _, said = told.communicate(timeout=60)
    assert (told.returncode, said.splitlines()[-1]) == (130, "peerlab: stopped")
    assert list(tmp_path.iterdir()) == []
    deadline = time.monotonic() + 60
    while begun.keys() & processes(1).keys():  # a killed browser needs a moment to go
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_what_goes_wrong_in_a_page_is_said(tmp_path):
    page = tmp_path / "page.html"
    page.write_text("<!doctype html><title>a page</title>")
    with browser(200, 100) as window:
        window.go(page)
        assert window.evaluate("document.title") == "a page"
        assert (
            window.evaluate(
                "fetch('http://example.org', { mode: 'no-cors' }).then(() => 'there', () => 'no network')"
            )
            == "no network"
        )
        with pytest.raises(ExportError, match="the page failed: Error: broken"):
            window.evaluate("(() => { throw new Error('broken') })()")
    assert children() == []


@pytest.fixture
def command(capsys):
    def command(*arguments):
        status = main(["export", *arguments])
        return status, *capsys.readouterr()

    return command


def test_the_command_tells_a_picture_by_its_suffix_and_says_it_in_words(run, tmp_path, command):
    file = tmp_path / "still.png"
    status, said, _ = command(
        "--path", "host-rdma", "--output", str(file), "--scale", "2", "--view", "sketch"
    )
    assert status == 0
    assert Image.open(file).size == (2120, 644)
    assert said.splitlines()[1] == f"in words: {alt_text(run)}"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (
            ("--output", "x.jpg"),
            "--output: x.jpg must end in one of .html, .htm, .svg, .png, .pdf, .mp4, .webm, .gif",
        ),
        (("--output", "x.png", "--seconds", "3"), "--seconds: not of a .png"),
        (
            ("--output", "x.svg", "--beside", "nodes=4"),
            "cannot write x.svg: an .svg shows one run; two are shown by .png and .pdf",
        ),
        (("--output", "x.svg", "--controls", "host"), "--controls: not of a .svg"),
        (("--output", "x.mp4", "--moment", "0.5"), "--moment: not of a .mp4"),
        (("--output", "x.html", "--scale", "2"), "--scale: of a picture or a video, and x.html is a page"),
        (("--output", "x.png", "--scale", "big"), "--scale: 'big' is none of 1, 2, 3, 4"),
        (("--output", "x.png", "--moment", "soon"), "--moment: 'soon' is no share of the run from 0 to 1"),
        (("--output", "x.gif", "--seconds", "soon"), "--seconds: 'soon' is not from 0.04 to 120"),
    ],
)
def test_an_option_that_does_not_fit_is_refused(arguments, says, tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    assert command(*arguments) == (1, "", f"peerlab: {says}\n")
    assert list(tmp_path.iterdir()) == []


@with_ffmpeg
@pytest.mark.parametrize("name", ["jobs.mp4", "ports.gif", "fabrics.webm"])
def test_answers_that_play_are_videos_too(tmp_path, name):
    """A network with neighbours, several jobs, transports side by side: frames of a slide, each at its moment."""
    shared = peerlab.shared_fabric([{"hosts": [0, 4, 1, 5]}, {"hosts": [2, 3, 6, 7]}], message_bytes="1 MiB")
    beside = peerlab.neighbours("neighbour(2)", "infiniband", nodes=4, message_bytes="256 KiB")
    fabrics = compare_fabrics(peerlab.Scenario(cluster="ideal-100g", nodes=4), ["roce", "tcp"])
    shown = {"jobs.mp4": shared, "ports.gif": beside, "fabrics.webm": fabrics}[name]
    assert peerlab.export_video(shown, tmp_path / name, seconds=0.2, progress=False).stat().st_size > 2000
    with pytest.raises(ExportError, match="does not show this answer"):
        peerlab.export_video(shown, tmp_path / name, view="race")
    first, second = filmed(
        registered("offers", f"page of a {type(shown).__name__}")(shown, layout="slide", theme="light"),
        2,
        1.0,
    )
    assert first != second
    assert tuple(_ENCODERS) == VIDEOS
