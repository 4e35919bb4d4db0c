// All that is changed inside BokehJS, with the reason. Nothing that is seen depends on it. `peerlabPatches = false` in the
// browser, before the page begins, leaves BokehJS as it came; a list of names makes these changes alone.
import { settled } from "./turns.js";

// What Bokeh readies a glyph for besides drawing it as it is: being selected, not selected, muted, thinned out.
const SPARE = ["selection_glyph", "nonselection_glyph", "muted_glyph", "decimated_glyph"];
const READYING = ["set_data", "set_visuals", "after_visuals", "after_lazy_visuals", "map_data"];
const nothing = () => {};

// Each changes a view of Bokeh, or leaves it alone if it is of another kind.
const OF_A_VIEW = {
  // None of the figures' glyphs is ever anything but drawn as it is; readying the others costs more than painting.
  "spare glyphs": (view) => {
    for (const spare of SPARE) if (view[spare]) for (const step of READYING) view[spare][step] = nothing;
  },
  // Before each stroke Bokeh asks whether a style sheet has another colour for it.
  "colours of style sheets": (view) => {
    for (const visual of view.visuals ?? []) if (visual._get_css_value) visual._get_css_value = () => "";
  },
  // For the size of letters Bokeh asks the page in every paint.
  "size of letters": (view) => {
    if ("base_font_size" in view && view.frame) Object.defineProperty(view, "base_font_size", { value: view.base_font_size });
  },
  // With each paint Bokeh writes a style sheet for the place of every glyph, though nothing is there.
  "places of glyphs": (view) => {
    if (view.glyph) view.update_position = nothing;
  },
  // Every change of what is in sight readies all glyphs again.
  "masks of glyphs": (view) => {
    if (view.glyph) view._update_masked_indices = maskQuietly;
  },
  // A style sheet that would become what it is makes the browser lay everything out again.
  "same style sheets": (view) => {
    if (!view.glyph && view.position) unlessSame(view.position);
  },
};

// Bokeh paints a frame or two after it is asked to, behind every message that waits. A picture that moves, or answers
// a switch, is painted in the turn that changes it.
const PROMPT = "paint at once";

// A plot's view listens to the size of the window for good, and so is kept for good; now until it is removed.
const LISTENING = "end of listening";

// Where Bokeh draws nothing but these figures, a glyph gets no views that are never drawn.
const NO_SPARE = "no spare glyphs";

// Their names.
export const CHANGES = [...Object.keys(OF_A_VIEW), PROMPT, LISTENING, NO_SPARE];

function wanted(name) {
  const chosen = globalThis.peerlabPatches ?? true;
  return Array.isArray(chosen) ? chosen.includes(name) : chosen;
}

// Changes what all figures of a page share; before the first of them is embedded.
export function patchBokeh() {
  if (wanted(LISTENING)) endListening(Bokeh.require("models/plots/plot_canvas").PlotView.prototype);
}

// Changes what no other user of BokehJS in the page could bear: for pages that have none.
export function patchOwnBokeh() {
  if (wanted(NO_SPARE)) spareNoGlyph(Bokeh.require("models/renderers/glyph_renderer").GlyphRendererView.prototype);
}

// Changes the view of a figure and all that is in it.
export function patchFigure(figure) {
  if (wanted(PROMPT)) figure.throttled_paint = promptly(figure);
  const changes = Object.keys(OF_A_VIEW).filter(wanted).map((name) => OF_A_VIEW[name]);
  const change = (view) => {
    for (const one of changes) one(view);
    for (const child of view.children_views()) change(child);
  };
  change(figure);
}

function maskQuietly() {
  const masked = this.glyph.mask_data();
  this.model.view.setv({ masked }, { silent: true });
  return masked;
}

function unlessSame(sheet) {
  const replace = sheet.replace;
  sheet.replace = (css, styles) => {
    if (styles || css !== sheet.css) replace.call(sheet, css, styles);
  };
}

function promptly(view) {
  let asked = null;
  const paint = () =>
    (asked ??= settled().then(() => {
      asked = null;
      if (!view.is_destroyed) view.repaint();
    }));
  return Object.assign(paint, { stop() {} });
}

function endListening(prototype) {
  if ("over" in prototype) return;
  const { connect_signals, remove } = prototype, listen = EventTarget.prototype.addEventListener;
  prototype.over = null;
  prototype.connect_signals = function () {
    const { signal } = (this.over = new AbortController());
    visualViewport.addEventListener = (kind, act) => listen.call(visualViewport, kind, act, { signal });
    connect_signals.call(this);
    delete visualViewport.addEventListener;
  };
  prototype.remove = function () {
    this.over.abort();
    remove.call(this);
  };
}

function spareNoGlyph(prototype) {
  const build = prototype.build_glyph_view, none = { set_base: nothing, remove: nothing, children: () => [], children_views: () => [] };
  for (const step of READYING) none[step] = nothing;
  prototype.build_glyph_view = function (model) {
    return this.glyph ? { ...none, model } : build.call(this, model);
  };
}
