// The figures: embedded once per view, filled by name, coloured by role.
import { patchBokeh, patchFigure } from "./bokeh_patches.js";

const AXES = ["timeline_time", "timeline_lanes", "curves_values", "curves_busbw"];

export class Figures {
  static async embed(documentText, places, palettes) {
    const content = JSON.parse(documentText);
    const known = new Set(window.Bokeh.documents);
    const roots = {};
    for (const [name, id] of Object.entries(content.roots)) roots[id] = places[name];
    const item = { docid: "d", roots, root_ids: Object.values(content.roots) };
    patchBokeh();
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
    for (const view of views.roots) patchFigure(view);
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
    if (Object.keys(data).some((column) => !sameColumn(data[column], source.data[column]))) source.data = data;
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
      this.borders[name] ??= { left: figure.min_border_left, top: figure.min_border_top };
      figure.min_border_left = Math.round(this.borders[name].left * zoom);
      figure.min_border_top = Math.round(this.borders[name].top * zoom);
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
    this.model("curves_values").setv({ axis_line_color: null, minor_tick_line_color: faint }); // the line of zero is the axis
    this.model("curves_grid").grid_line_color = faint;
  }

  close() {
    for (const view of [...this.views.roots]) view.remove();
    forget(this.doc);
  }
}

function sameColumn(a, b) {
  if (!Array.isArray(a)) return a === b;
  return Array.isArray(b) && a.length === b.length && a.every((value, i) => sameColumn(value, b[i]));
}

function forget(doc) {
  doc.clear();
  const index = window.Bokeh.documents.indexOf(doc);
  if (index >= 0) window.Bokeh.documents.splice(index, 1);
}
