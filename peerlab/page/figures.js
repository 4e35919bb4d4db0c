// BokehJS and the figures: loaded once per page, embedded once per view, coloured by role.

// A widget restored from a saved notebook has no kernel to answer; so no view ever waits for another one's request.
async function loadBokeh(model, signal) {
  if (window.Bokeh) return;
  await new Promise((resolve, reject) => {
    const take = (message, buffers) => {
      if (message.kind !== "bokeh") return;
      model.off("msg:custom", take);
      if (!window.Bokeh) {
        const script = document.createElement("script");
        script.textContent = new TextDecoder().decode(buffers[0]);
        document.head.appendChild(script);
      }
      resolve();
    };
    model.on("msg:custom", take);
    signal?.addEventListener("abort", () => reject(new Error("closed")));
    model.send({ kind: "need-bokeh" });
  });
}

const AXES = ["timeline_time", "timeline_lanes", "curves_values", "curves_busbw"];

class Figures {
  static async embed(documentText, places, palettes) {
    const content = JSON.parse(documentText);
    const known = new Set(window.Bokeh.documents);
    const roots = {};
    for (const [name, id] of Object.entries(content.roots)) roots[id] = places[name];
    const item = { docid: "d", roots, root_ids: Object.values(content.roots) };
    endListening(window.Bokeh.require("models/plots/plot_canvas").PlotView.prototype);
    try {
      const [views] = await window.Bokeh.embed.embed_items({ d: content.doc }, [item]);
      return new Figures([...views.roots][0].model.document, views, palettes);
    } catch (problem) {
      // the page has gone meanwhile, as when a cell runs again: the document must not stay behind
      for (const doc of window.Bokeh.documents.filter((d) => !known.has(d) && !d.views_manager?.roots.length)) forget(doc);
      throw problem;
    }
  }

  constructor(doc, views, palettes) {
    this.doc = doc;
    this.views = views;
    this.palettes = palettes;
    this.theme = "light";
    this.zoom = 1;
    this.sparse = false;
    this.models = new Map(); // Bokeh goes through all models for a name
    for (const view of views.roots) {
      view.throttled_paint = promptly(view);
      lighten(view);
    }
  }

  model(name) {
    if (!this.models.has(name)) this.models.set(name, this.doc.get_model_by_name(name));
    return this.models.get(name);
  }

  view(name) {
    return this.views.get(this.model(name));
  }

  colour(role) {
    if (role.endsWith("-wash")) return this.palettes[this.theme][role] ?? this.colour(role.slice(0, -5)) + "59";
    return role === "none" ? "rgba(0,0,0,0)" : this.palettes[this.theme][role] ?? role;
  }

  // Sets a source's columns; those in `roles` hold roles and become colours. What is as it was is left alone.
  fill(name, columns, roles = []) {
    const data = { ...columns }, source = this.model(name);
    for (const column of roles) data[column] = columns[column].map((role) => this.colour(role));
    if (Object.keys(data).some((column) => !same(data[column], source.data[column]))) source.data = data;
  }

  // Figures paint from now on.
  show() {
    for (const view of this.views.roots) view.model.hold_render = false;
  }

  // Words of the axes are `zoom` times as large as in the lab, those of the scene `sceneText` pixels per unit; in a
  // `sparse` scene are no others than names.
  setZoom(zoom, sceneText, sparse) {
    Object.assign(this, { sceneText, sparse });
    if (zoom === this.zoom) return;
    this.zoom = zoom;
    for (const name of ["timeline", "curves"]) {
      const figure = this.model(name);
      this.borders ??= {};
      this.borders[name] ??= figure.min_border_left;
      figure.min_border_left = Math.round(this.borders[name] * zoom);
    }
    for (const name of AXES) this.model(name).major_label_text_font_size = `${(12 * zoom).toFixed(1)}px`;
    this.model("curves_names").text_font_size = { value: `${(12 * zoom).toFixed(1)}px` };
  }

  setTheme(theme) {
    this.theme = theme;
    const ink = this.colour("ink"), muted = this.colour("muted"), faint = this.colour("faint");
    for (const name of AXES)
      this.model(name).setv({
        major_label_text_color: muted,
        major_label_text_font_size: `${(12 * this.zoom).toFixed(1)}px`,
        major_label_text_font: "system-ui, sans-serif",
        axis_line_color: faint,
        major_tick_line_color: faint,
        minor_tick_line_color: null,
      });
    this.model("timeline_lanes").setv({ major_label_text_color: ink, axis_line_color: null, major_tick_line_color: null });
    this.model("curves_busbw").setv({ axis_line_color: null, major_tick_line_color: null });
    this.model("curves_grid").grid_line_color = faint;
  }

  close() {
    for (const view of [...this.views.roots]) view.remove();
    forget(this.doc);
  }
}

function same(a, b) {
  if (!Array.isArray(a)) return a === b;
  return Array.isArray(b) && a.length === b.length && a.every((value, i) => same(value, b[i]));
}

// Bokeh readies every glyph five times: as it is, and for being selected, not selected, muted or thinned out, which none
// ever is here. Before each stroke it asks whether a style sheet has another colour for it, and with each paint it writes a
// style sheet for the place of every glyph, though nothing is there. Every change of what is in sight readies all glyphs
// again, and for the size of letters it asks the page. All of that costs more than painting.
const SPARE = ["selection_glyph", "nonselection_glyph", "muted_glyph", "decimated_glyph"];
const READYING = ["set_data", "set_visuals", "after_visuals", "after_lazy_visuals", "map_data"];
function lighten(view) {
  for (const spare of SPARE) if (view[spare]) for (const step of READYING) view[spare][step] = () => {};
  for (const visual of view.visuals ?? []) if (visual._get_css_value) visual._get_css_value = () => "";
  if ("base_font_size" in view && view.frame) Object.defineProperty(view, "base_font_size", { value: view.base_font_size });
  if (view.glyph) Object.assign(view, { update_position: () => {}, _update_masked_indices: maskQuietly });
  else if (view.position) unlessSame(view.position);
  for (const child of view.children_views()) lighten(child);
}

function maskQuietly() {
  const masked = this.glyph.mask_data();
  this.model.view.setv({ masked }, { silent: true });
  return masked;
}

// A plot's view listens to the size of the window for good, and so is kept for good; now until it is removed.
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

// Leaves a style sheet alone that would become what it is.
function unlessSame(sheet) {
  const replace = sheet.replace;
  sheet.replace = (css, styles) => {
    if (styles || css !== sheet.css) replace.call(sheet, css, styles);
  };
}

// Bokeh paints a frame or two after it is asked to, behind every message that waits. A picture that moves, or answers
// a switch, is painted in the turn that changes it.
function promptly(view) {
  let asked = null;
  const paint = () =>
    (asked ??= settled().then(() => {
      asked = null;
      if (!view.is_destroyed) view.repaint();
    }));
  return Object.assign(paint, { stop() {} });
}

// Bokeh takes new data in a chain of promises; these many turns see to its end (else it only paints once more).
async function settled() {
  for (let turn = 0; turn < 40; turn++) await null;
}

const frame = () => new Promise(requestAnimationFrame);

// Resolves when what was drawn until now is on its way to the screen.
async function painted() {
  await settled();
  await settled();
  await frame();
  await Promise.race([turn(), frame()]);
}

// Resolves behind what waits already.
async function turn() {
  const { port1, port2 } = new MessageChannel();
  const came = new Promise((resolve) => (port1.onmessage = resolve));
  port2.postMessage(0);
  await came;
  port1.close();
}

function forget(doc) {
  doc.clear();
  const index = window.Bokeh.documents.indexOf(doc);
  if (index >= 0) window.Bokeh.documents.splice(index, 1);
}
