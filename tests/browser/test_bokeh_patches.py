"""What is changed inside BokehJS: each change still finds what it changes, does what it is for, and changes no picture.

A test that fails after an update of Bokeh says which change (`peerlab/page/bokeh_patches.js`) no longer fits. Where the count
without the change is at fault, Bokeh does by itself what the change was for, and the change can go.
"""

import io
import json

import numpy as np
import pytest
from PIL import Image

import peerlab
from peerlab import page as sources
from peerlab.picture.bokeh_document import bokeh_script, document
from peerlab.picture.theme import palettes

OPEN = """
globalThis.called = {};
// Counts the calls of a method, or the reads of a property, of whatever inherits it from a prototype.
globalThis.watch = (prototype, name) => {
  const { value, get } = Object.getOwnPropertyDescriptor(prototype, name);
  const count = () => { called[name] = (called[name] ?? 0) + 1; };
  if (get) Object.defineProperty(prototype, name, { configurable: true, get() { count(); return get.call(this); } });
  else prototype[name] = function (...given) { count(); return value.apply(this, given); };
};
globalThis.owner = (object, name) => { while (object && !Object.hasOwn(object, name)) object = Object.getPrototypeOf(object); return object; };
globalThis.prototypeOf = (module, name) => Bokeh.require(module)[name].prototype;
globalThis.embed = async (text, palettes, names, alone) => {
  globalThis.peerlabPatches = names;
  if (alone) patchOwnBokeh();
  const places = {};
  for (const name of ["scene", "timeline", "curves"]) {
    places[name] = document.body.appendChild(document.createElement("div"));
    places[name].style.width = "900px";
  }
  globalThis.figures = await Figures.embed(text, places, palettes);
  figures.model("timeline_x").setv({ start: 0, end: 10 });
  figures.show();
};
globalThis.draw = (right) => figures.fill("timeline_spans", { y: [1, 2], left: [0, 2], right: [right, 5], height: [0.7, 0.7],
  fill: ["#000000", "#000000"], alpha: [1, 1], stage: ["", ""], what: ["", ""], when: ["", ""], wait: ["", ""] });
globalThis.idle = async () => { for (let i = 0; i < 4; i++) await new Promise(requestAnimationFrame); await settled(); };
globalThis.spans = () => figures.view("timeline").children_views().find((view) => view.model.data_source?.name === "timeline_spans");
"""


@pytest.fixture
def bokeh(browser):
    """A function that opens a page with our figures and only the named changes made; it returns the page."""
    pages = []

    def open_(names, before="", *, alone=False):
        page = browser.new_page()
        pages.append(page)
        page.set_content("<!doctype html><meta charset=utf-8><body>")
        page.add_script_tag(path=bokeh_script())
        code = sources.script_of("figures")
        names_ = "Figures, patchOwnBokeh, settled, CHANGES"
        page.add_script_tag(
            content=f"Object.assign(globalThis, (() => {{ {code}\nreturn {{ {names_} }} }})());{OPEN}"
        )
        page.evaluate(f"() => {{ {before} }}")
        page.evaluate(
            "([text, palettes, names, alone]) => embed(text, palettes, names, alone)",
            [json.dumps(document()), palettes(), names, alone],
        )
        page.evaluate("async () => { draw(1); await idle() }")
        return page

    yield open_
    for page in pages:
        page.close()


def count(page, name, act):
    """Return how often something that is watched was called while something was done and painted."""
    return page.evaluate(
        f"async name => {{ called = {{}}; {act}; await idle(); return called[name] ?? 0 }}", name
    )


CALLS = {
    "spare glyphs": ("models/glyphs/glyph", "GlyphView", "set_data", 1 / 3),
    "colours of style sheets": ("core/visuals/visual", "VisualProperties", "_get_css_value", 0.1),
    "size of letters": ("models/plots/plot_canvas", "PlotView", "base_font_size", 0),
    "places of glyphs": ("models/renderers/renderer", "RendererView", "update_position", 0.7),
}
"""Change to what it spares when new data is drawn: the method or property, where that is, and which share of the calls stays."""


@pytest.mark.parametrize("change", CALLS)
def test_a_change_spares_calls(bokeh, change):
    module, prototype, name, stays = CALLS[change]
    watching = f"watch(prototypeOf('{module}', '{prototype}'), '{name}')"
    without = count(bokeh([], watching), name, "draw(1.5)")
    there = count(bokeh([change], watching), name, "draw(1.5)")
    assert without > 0
    assert there <= stays * without, (there, without)


PLACED = """const sheet = prototypeOf('core/dom', 'InlineStyleSheet'), { replace } = sheet;
    sheet.replace = function (css, styles) {
      if (/position: *(relative|absolute)|display: none/.test(css)) called.placed = (called.placed ?? 0) + 1;
      return replace.call(this, css, styles) }"""


def test_a_style_sheet_is_written_only_if_it_changes(bokeh):
    written = {}
    for names in ((), ("places of glyphs",), ("places of glyphs", "same style sheets")):
        page = bokeh(list(names), PLACED)
        written[names] = count(page, "placed", "draw(1.5)")
    all_, others, none = written.values()
    assert all_ > others > none == 0
    other = ":host { position: relative; width: 7px; }"
    write = "css => { const { position } = figures.view('timeline').children_views().find((view) => !view.glyph && view.position); position.replace(css); return position.css }"
    assert page.evaluate(write, other) == other


POINTS = """const points = () => figures.view('curves').children_views().find((view) => view.model.data_source?.name === 'curves_points');
    figures.model('curves_x').setv({ start: 1, end: 1000 });
    figures.fill('curves_points', { x: [2, 512], y: [10, 20], fill: ['#000', '#000'], label: ['', ''], note: ['', ''] });
    await idle();
    points().model.view.change.connect(() => { called.heard = (called.heard ?? 0) + 1 });
    globalThis.inSight = () => points().model.view.masked.count"""


def test_what_is_in_sight_changes_quietly(bokeh):
    heard = {}
    for names in ((), ("masks of glyphs",)):
        page = bokeh(list(names))
        page.evaluate(f"async () => {{ {POINTS} }}")
        heard[names] = count(page, "heard", "figures.model('curves_x').setv({ start: 100 })")
        assert page.evaluate("inSight()") == 1  # of two points
    assert heard[()] > heard[("masks of glyphs",)] == 0


def test_new_data_is_painted_in_the_turn_that_brings_it(bokeh):
    painted = {}
    for names in ((), ("paint at once",)):
        page = bokeh(list(names), "watch(prototypeOf('models/plots/plot_canvas', 'PlotView'), 'repaint')")
        painted[names] = page.evaluate(
            "async () => { called = {}; draw(1.5); await settled(); await settled(); return called.repaint ?? 0 }"
        )
    assert painted == {(): 0, ("paint at once",): 1}


def test_a_figure_that_has_gone_listens_to_the_window_no_more(bokeh):
    heard = {}
    for names in ((), ("end of listening",)):
        page = bokeh(list(names), "watch(prototypeOf('models/canvas/canvas', 'CanvasView'), 'resize')")
        ring = "visualViewport.dispatchEvent(new Event('resize'))"
        assert count(page, "resize", ring) == 3  # each figure hears
        heard[names] = count(page, "resize", f"figures.close(); {ring}")
    assert heard == {(): 3, ("end of listening",): 0}


def test_in_a_page_of_ours_no_spare_glyph_is_built(bokeh):
    built = {}
    for names in ((), ("no spare glyphs",)):
        page = bokeh(
            list(names), "watch(prototypeOf('models/glyphs/glyph', 'GlyphView'), 'initialize')", alone=True
        )
        built[names] = page.evaluate("called.initialize")
        assert page.evaluate("spans().glyph.data_size") == 2
    without, there = built.values()
    assert 0 < there <= without / 3, (there, without)


def test_every_change_has_its_test(bokeh):
    others = {"same style sheets", "masks of glyphs", "paint at once", "end of listening", "no spare glyphs"}
    assert set(bokeh([]).evaluate("CHANGES")) == CALLS.keys() | others


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    file = tmp_path_factory.mktemp("page") / "page.html"
    peerlab.export_html(peerlab.Scenario(path="host-rdma"), file, controls="host", bands=False)
    return file.as_uri()


def picture(browser, address, before):
    """Return what is seen of a page after a switch, and how many glyphs have a real spare one."""
    page = browser.new_page()
    page.add_init_script(before)
    page.goto(address)
    page.wait_for_selector("html[data-ready]")
    page.get_by_role("switch", name="Host bottleneck").click()
    page.locator(".pl-card", has_text="52 GB/s").wait_for()
    page.evaluate("() => { const [{ player }] = peerlabPages; player.seek(0.4 * player.length) }")
    page.wait_for_timeout(400)  # without the changes Bokeh paints when it likes
    spare = "[...peerlabPages][0].figures.view('timeline').children_views().filter(one => one.selection_glyph?.paint).length"
    seen, changed = page.screenshot(), page.evaluate(spare)
    page.close()
    return np.asarray(Image.open(io.BytesIO(seen)).convert("RGB"), int), changed


@pytest.mark.long("pages")
def test_one_switch_turns_all_off_and_nothing_looks_different(browser, exported):
    with_, spare = picture(browser, exported, "")
    without, all_ = picture(browser, exported, "globalThis.peerlabPatches = false")
    assert (spare, all_) == (0, 3)
    apart = np.abs(with_ - without).max(axis=2)
    assert (apart > 60).sum() < 30  # edges of slices are drawn a little differently each time
