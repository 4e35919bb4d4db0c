"""Evidence in the browser: a log and a topology pasted, this machine measured, and what is seen of it."""

import machines
import pytest
from axe_faults import axe_faults
from driver import Explorer
from gpus import why_no_gpu
from playwright.sync_api import expect
from tool_logs import ALPS, NCCL_WITHOUT_END


def measured(explorer):
    """Return what the curves draw as measured: place, height, and whether it is filled."""
    return explorer.ask(
        """page => { const { x, y, fill, line } = page.figures.model("curves_measured").data;
             return Array.from(x, (at, i) => [at, y[i], fill[i] === line[i]]) }"""
    )


def measured_yours(explorer):
    """Return where the curves draw what the user measured."""
    return [x for x, _, filled in measured(explorer) if filled]


@pytest.fixture
def panel(fresh):
    """The panel for a log, open; taken away and closed afterwards."""
    with fresh.unfolded("log", ".pl-log-panel"):
        yield fresh
        fresh.page.locator(".pl-log-away").last.click()


def paste(panel, text):
    panel.page.locator(".pl-log-text textarea").last.fill(text)
    panel.page.locator(".pl-log-read").last.click()


def test_a_pasted_log_brings_its_points_and_the_verdict(panel):
    panel.change(lambda: paste(panel, ALPS))
    panel.page.locator(".pl-log-short p", has_text="Path: Peer Direct").last.wait_for()
    panel.page.locator(".pl-log-verdict h3").last.scroll_into_view_if_needed()
    verdict = panel.page.locator(".pl-log-verdict").last
    expect(verdict).to_contain_text("Which data path is your log from?")
    expect(verdict).to_contain_text("Peer Direct")
    expect(panel.page.locator(".pl-bands").last).to_contain_text("◆ yours")  # drawn with the points
    panel.page.wait_for_function(
        "() => (({ curves }) => curves.curves.axis === 'message_bytes' && curves.points().own.includes(true))([...window.peerlabPages].at(-1))"
    )
    own = [[x, y] for x, y, filled in measured(panel) if filled]
    assert own == [
        [1048576, pytest.approx(11.47, rel=1e-3)],
        [8388608, pytest.approx(36.70, rel=1e-3)],
        [67108864, pytest.approx(106.76, rel=1e-3)],
    ]


def test_a_log_is_compared_with_the_chosen_cluster_and_a_button_goes_there(panel):
    panel.change(lambda: panel.select("cluster", "p5.48xlarge (EFA, H100)"))
    paste(panel, NCCL_WITHOUT_END)
    said = panel.page.locator(
        ".pl-log-short p", has_text="compared with p5.48xlarge (EFA, H100), which is chosen"
    )
    said.last.wait_for()
    assert measured_yours(panel) == []
    go = panel.page.locator(".pl-log-go").last
    expect(go).to_have_text("Show 2 nodes, Peer Direct")
    verdict = panel.page.locator(".pl-log-verdict").last
    assert go.bounding_box()["y"] < verdict.bounding_box()["y"]  # what to do next is not below all findings
    panel.change(go.click, curves=True)
    expect(go).to_be_hidden()
    expect(panel.page.locator(".pl-log-other").last).to_be_focused()
    assert measured_yours(panel) == [8, 2**30]
    panel.change(panel.page.locator(".pl-reset").last.click)


def test_the_list_below_a_verdict_reads_the_log_again_with_another_cluster(panel):
    page = panel.page
    paste(panel, NCCL_WITHOUT_END)
    first = page.locator(".pl-log-first").last
    expect(first).to_contain_text("Name it in the list below")
    machine = page.locator(".pl-log-machine select").last
    expect(machine).to_be_visible()  # until it is laid out it has no place
    gap = machine.bounding_box()["y"] - (first.bounding_box()["y"] + first.bounding_box()["height"])
    assert 0 <= gap < 20, "it stands below the sentence"
    machine.focus()
    panel.change(lambda: machine.select_option(label="p5.48xlarge (EFA, H100)"))
    page.locator(
        ".pl-log-short p", has_text="compared with p5.48xlarge (EFA, H100), which is chosen"
    ).last.wait_for()
    expect(first).not_to_contain_text("Cannot tell")
    expect(machine).to_be_focused()  # another one is an arrow away
    assert panel.ask("page => page.model.get('data').meta.code").startswith("peerlab.Scenario(cluster='p5'")
    panel.change(page.locator(".pl-reset").last.click)


def test_the_verdict_on_a_log_is_the_largest_line_of_a_place_that_escape_leaves(fresh):
    button, page = fresh.page.locator(".pl-log-button").last, fresh.page
    button.click()
    expect(page.locator(".pl-scene").last).to_be_hidden()
    fresh.change(lambda: paste(fresh, ALPS))
    verdict = page.locator(".pl-log-verdict .pl-expect .pl-verdict b").last
    path = page.locator(".pl-log-verdict .pl-report:not(.pl-expect) :is(.pl-answer, .pl-verdict) b").last
    sizes = [answer.evaluate("one => getComputedStyle(one).fontSize") for answer in (verdict, path)]
    assert sizes == ["24px", "18px"], "which path it is comes second"
    # The signs of the explorer's chart are drawn before their words; a verdict's is a letter, with nothing before it.
    sign = page.locator(".pl-log-verdict .pl-verdict .pl-sign").last
    assert sign.evaluate("sign => getComputedStyle(sign, '::before').content") == "none"
    expect(page.locator(".pl-log-text").last).to_be_hidden()  # the raw text is folded
    assert page.locator(".pl-log-panel").last.evaluate("one => one.scrollHeight <= one.clientHeight + 1")
    page.keyboard.press("Escape")  # the button that was pressed is hidden with the text
    expect(page.locator(".pl-scene").last).to_be_visible()
    button.click()
    page.locator(".pl-log-away").last.click()
    expect(page.locator(".pl-log-text").last).to_be_visible()
    page.get_by_role("button", name="Explorer").last.click()
    expect(page.locator(".pl-scene").last).to_be_visible()
    button.click()
    page.locator(".pl-log-text textarea").last.press("Escape")
    expect(page.locator(".pl-scene").last).to_be_visible()
    fresh.change(page.locator(".pl-reset").last.click)


def test_markup_in_a_log_is_text(panel):
    paste(panel, "<img src=x onerror=window.hacked=1> osu\n")
    alert = panel.page.locator(".pl-log-short [role=alert]").last
    expect(alert).to_contain_text("not the output of")
    assert panel.page.evaluate("() => window.hacked") is None


def test_axe_finds_nothing_serious_with_the_panel_open(panel):
    panel.change(lambda: paste(panel, ALPS))
    panel.page.locator(".pl-log-verdict h3").last.wait_for()
    assert axe_faults(panel.page, ".pl-explorer", grave=True) == []


def test_a_pasted_topology_is_drawn_with_the_keyboard_and_undo_goes_back(fresh, lab):
    def part(name):
        return fresh.page.locator(f".pl-machine-{name}").last

    fresh.select("cluster", "your machine")
    part("text").locator("textarea").fill("of no tool")
    part("read").press("Enter")
    expect(part("short").locator("[role=alert]")).to_contain_text("this is of no tool that is known")
    part("text").locator("textarea").fill(machines.h20_mixed())
    fresh.change(lambda: part("read").press("Enter"))
    expect(part("short")).to_contain_text("Drawn from my-machine.toml")
    assert "H100 0" in fresh.column("scene_texts", "text")
    assert (lab.root / "my-machine.toml").exists()
    assert axe_faults(fresh.page, ".pl-explorer", grave=True) == []
    part("close").press("Enter")
    part("panel").wait_for(state="hidden")
    expect(fresh.page.locator(".pl-cluster select").last).to_be_focused()
    fresh.change(fresh.page.locator(".pl-undo").last.click)
    assert fresh.ask("page => page.model.get('data').meta.code") == "peerlab.Scenario(path='host-rdma')"


ABOVE_THE_BANDS = """page => {
    const { frame, el } = page.figures.view("curves"), ys = page.figures.model("curves_bands").data.ys.flat().filter(isFinite);
    const end = page.figures.model("curves_y").end, top = el.getBoundingClientRect().top + frame.y_scale.compute(Math.max(...ys.filter((y) => y <= end)));
    return top - page.find(".pl-bands").getBoundingClientRect().bottom;
}"""
"""How many pixels lie between the legend and the bands below it; a spread so wide that it runs off the axis, as on a busy machine, is left out."""


def test_this_machine_is_measured_and_its_points_arrive(fresh):
    fresh.page.locator(".pl-tab[data-axis=here]").last.click()
    assert measured(fresh) == []
    action, save = (fresh.page.locator(".pl-here .pl-action").nth(place) for place in (-3, -1))
    expect(action).to_have_text("Measure this machine")
    action.click()
    fresh.page.wait_for_function(
        "() => [...window.peerlabPages].at(-1).figures.model('curves_measured').data.x.length > 0",
    )
    fresh.ask(  # at once: a button that was "Stop" a moment ago would measure again
        "page => page.model.get('measured').here.busy && page.find('.pl-here .pl-action').click()"
    )
    fresh.page.wait_for_function(
        "() => [...window.peerlabPages].at(-1).model.get('measured').here.action === 'Measure again'",
    )
    expect(save).to_be_visible()
    expect(save).to_have_text("Save as CSV")
    assert all(ratio > 0 for _, ratio, _ in measured(fresh))
    expect(fresh.page.locator(".pl-bands").last).to_contain_text("noise (staged against itself, A/A)")
    assert fresh.ask(ABOVE_THE_BANDS) >= 0
    fresh.page.locator(".pl-tab[data-axis=nodes]").last.click()
    fresh.page.wait_for_function(
        "() => !([...window.peerlabPages].at(-1).figures.model('curves_measured').data.x.length)"
    )


@pytest.mark.long("notebooks")
@pytest.mark.skipif(not why_no_gpu(), reason="this machine has a GPU")
def test_without_a_gpu_the_button_says_why_and_shows_what_a_known_one_measured(open_notebook):
    """In an explorer of its own: where this machine was measured, that stays in sight."""
    notebook = open_notebook("without_gpu.ipynb", "import peerlab\npeerlab.explore()")
    notebook.run_all()
    explorer = Explorer(notebook, curves=False)
    explorer.page.locator(".pl-tab[data-axis=here]").last.click()
    explorer.page.locator(".pl-gpu").last.click()
    explorer.page.wait_for_function(
        "() => [...window.peerlabPages].at(-1).model.get('measured').here.text.includes('Shown: NVIDIA H200')"
    )
    status = explorer.page.locator(".pl-here [role=status]").last
    expect(status).to_contain_text(why_no_gpu())
    assert measured(explorer)
    expect(explorer.page.locator(".pl-save").last).to_be_hidden()  # it was not measured here
