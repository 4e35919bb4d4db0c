// The curves: every path simulated along an axis, this scenario marked, what was before as a ghost. Behind each line
// its band, as soon as Python has it: from where to where the line may lie if what is assumed lies at its ends.
import { between } from "./labels.js";
import { widthOf } from "./places.js";
import { View } from "./view.js";

const LIMIT = "limit"; // names the line of what the wire can carry
const NEAR = 9; // pixels from a line at which it is meant
const LINE_OF_NAMES = 15; // pixels from a name to the one below
const WIDE_SPREAD = 3; // times the highest line: a wider spread is cut off, else no line would be seen
const LINE_OF_LEGEND = 14; // pixels, as in page.css
const BEYOND = 1.1; // times the last value: beyond it names stand
const NAMES_APART = 4; // pixels beside a name
const BESIDE = 26; // pixels around the names at the ends of the lines
const BEFORE = 22; // of them before a name, for what leads to it
const LEADS = 4; // of them between that and the name
const ALIKE = 0.03; // of the highest line: lines that are nearer lie on each other

/**
 * @typedef {object} Mark The mark of a run on the curves
 * @property {number} nodes
 * @property {number} message_bytes
 * @property {number} y
 * @property {string} role
 * @property {string} line
 * @property {string} limit
 * @property {boolean} cached
 * @property {boolean} past
 * @property {Object<string, string>} of
 * @property {string} machine
 */
export class Curves extends View {
  static html = `
  <section class="pl-curves" aria-label="Curves">
    <header><h3 class="pl-busbw">Bus bandwidth, GB/s</h3>
      <span role="group" aria-label="Against"><button type="button" class="pl-tab" data-axis="nodes" aria-pressed="true">nodes</button><button
        type="button" class="pl-tab" data-axis="message_bytes" aria-pressed="false">size</button></span></header>
    <div class="pl-figure" role="img" aria-label="Bus bandwidth of every path"></div>
    <div class="pl-bands"></div>
  </section>`;
  static figure = ".pl-curves .pl-figure";

  constructor(page) {
    super(page);
    this.host = page.find(".pl-curves");
    for (const tab of this.host.querySelectorAll(".pl-tab")) tab.addEventListener("click", () => this.choose(tab.dataset.axis));
    for (const side of ["inner_width", "inner_height"]) this.figures.model("curves").properties[side].change.connect(() => this.arrange());
    this.legendSize = new ResizeObserver(() => this.legend && this.legend !== this.legendLines() && this.arrange()); // letters may come after the words
    this.legendSize.observe(this.find(".pl-bands"));
    this.find(".pl-figure").addEventListener("mousemove", (event) => this.point(event));
    this.find(".pl-figure").addEventListener("mouseleave", () => this.point(null));
  }

  find(selector) {
    return this.host.querySelector(selector);
  }

  choose(axis) {
    this.page.send("axis", axis);
  }

  // Shows the band of the line under the pointer instead of this scenario's.
  point(event) {
    if (!this.curves?.lines || this.here) return;
    const name = event ? this.nearest(event) : null;
    if (name === this.pointed) return;
    this.pointed = name;
    this.drawBands();
  }

  // The line within a few pixels of the pointer.
  nearest({ clientX, clientY }) {
    const { frame } = this.figures.view("curves"), box = this.find(".pl-figure").getBoundingClientRect(), { values } = this;
    const value = frame.x_scale.invert(clientX - box.left), i = Math.log(value / values[0]) / Math.log(values[1] / values[0]);
    const away = (ys) => (i < 0 || i > values.length - 1 ? NaN : Math.abs(frame.y_scale.compute(between(this.scaled(ys), i)) - (clientY - box.top)));
    let near = NEAR, found = null;
    for (const { name, y } of this.curves.lines) if (away(y) < near) [near, found] = [away(y), name];
    return found ?? (away(this.limit().y) < NEAR ? LIMIT : null);
  }

  apply(_, { meta }) {
    this.meta = meta;
  }

  follow() {
    this.show();
  }

  // Shows what the model holds, as soon as there is a scenario to mark.
  show() {
    if (this.meta) this.showLines(this.page.model.get("curves"), this.page.scale);
  }

  showLines(curves, scale, title = `Bus bandwidth, ${scale.unit}${scale.device ? " per device" : ""}`) {
    this.find(".pl-busbw").textContent = title;
    for (const tab of this.host.querySelectorAll(".pl-tab")) tab.setAttribute("aria-pressed", String(tab.dataset.axis === (curves.axis ?? "nodes")));
    this.host.classList.toggle("pl-old", Boolean(curves.old));
    this.host.dataset.axis = curves.axis ?? "nodes";
    const { mark, ghost } = this.meta;
    Object.assign(this, { curves, measured: this.page.model.get("measured"), mark, ghost, scale });
    this.paint();
  }

  paint() {
    const { curves, mark, ghost, scale, figures } = this;
    if (!curves?.lines || !mark) return;
    if (!curves.values.length) return this.clear();
    this.values = this.reached();
    const limit = this.scaled(this.limit().y).slice(0, this.values.length), most = this.scaled(this.limit().high ?? []), heights = curves.lines.flatMap((line) => [...this.scaled(line.y), ...(this.here ? [] : this.scaled(line.high))]);
    const lines = Math.max(this.there(mark) ? mark.y * scale.factor : 0, ...heights.filter(isFinite), ...[...limit, ...most].filter(isFinite), ...this.scaled(this.points().y));
    const spread = this.here ? [...curves.lines.flatMap((line) => this.scaled(line.high)), ...(curves.noise?.high ?? [])] : [], highest = (below) => Math.max(lines, ...spread.filter((y) => y < below));
    const { values } = this, wide = this.span(values);
    figures.model("curves_x").setv({ start: wide[0], end: wide[1] });
    figures.model("curves_grid").cross_bounds = [wide[0], this.along(values.length - 1)]; // a name stands on no line
    this.drawBands();
    const room = 1.02 + 0.16 * (this.legend = this.legendLines()); // each of its lines needs room
    const whole = highest(room * highest(WIDE_SPREAD * lines)), last = this.lastTick(whole), top = last * room || 1; // a wide spread that would end behind the legend is whole, too
    figures.model("curves_y").setv({ start: 0, end: top });
    const bounds = [0, last]; // the legend stands on no line
    for (const name of ["curves_grid", "curves_busbw"]) if (String(figures.model(name).bounds) !== String(bounds)) figures.model(name).bounds = bounds;
    const shown = this.ticks();
    figures.model("curves_ticks").ticks = shown;
    figures.model("curves_values").major_label_overrides = new Map(shown.map((v) => [v, curves.names[values.indexOf(v)]]));
    this.drawLines(limit, top);
    this.drawMeasured();
    this.drawMarks();
    this.drawNames(limit, top);
    this.lookAgain();
  }

  // The values of the axis as far as a line goes, a measured point or the mark: what takes long to simulate leaves no empty room.
  reached() {
    const { values, lines, axis } = this.curves, ends = lines.map(({ x, y }) => x[y.findLastIndex((one) => one !== null)] ?? 0);
    const last = Math.max(...ends, ...this.points().x, this.there(this.mark) ? this.mark[axis] : 0), end = values.findIndex((value) => value >= last) + 1;
    return end > 1 ? values.slice(0, end) : values;
  }

  // The first tick that no line passes; ticks are those of the axis that ends there.
  lastTick(highest) {
    const ticker = this.figures.model("curves_steps");
    let last = highest;
    for (let tries = 0; last > 0 && tries < 4; tries++) {
      const step = ticker.get_interval(0, last, ticker.desired_num_ticks);
      last = step * Math.ceil(highest / step - 1e-9);
    }
    return last;
  }

  // Paints again where the legend is higher or lower in the next frame: while another theme comes its letters are others for a moment.
  lookAgain() {
    cancelAnimationFrame(this.arranging);
    this.arranging = requestAnimationFrame(() => this.legend === this.legendLines() || this.paint());
  }

  legendLines() {
    return Math.max(1, Math.round(this.find(".pl-bands").offsetHeight / LINE_OF_LEGEND));
  }

  // Places names anew where the figure has another size; Bokeh says so when it has laid it out.
  arrange() {
    cancelAnimationFrame(this.arranging);
    this.arranging = requestAnimationFrame(() => this.paint());
  }

  close() {
    cancelAnimationFrame(this.arranging);
    this.legendSize.disconnect();
  }

  clear() {
    for (const name of ["bands", "edges", "lines", "leads", "points", "measured", "marks", "words"]) {
      const columns = Object.keys(this.figures.model(`curves_${name}`).data);
      this.figures.fill(`curves_${name}`, Object.fromEntries(columns.map((column) => [column, []])));
    }
    this.find(".pl-bands").textContent = "";
    this.find(".pl-bands").classList.remove("pl-drawn");
  }

  // Whether these lines were measured on this machine, and are ratios.
  get here() {
    return this.curves.axis === "here";
  }

  // From where to where the axis goes; at its right is room for the names.
  span(values) {
    const [first, last] = [values[0], values[values.length - 1]];
    if (first === last) return [first / 3, last * 4];
    const { zoom } = this.figures, { width } = this.figures.view("curves").frame.bbox, texts = [...this.curves.lines, ...(this.here ? [] : [this.limit()])];
    const words = texts.map(({ label }) => widthOf(label, 12 * zoom, true)), share = Math.min(0.6, (Math.max(0, ...words) + BESIDE * zoom) / Math.max(1, width)), from = first / 1.3;
    return [from, from * (last / from) ** (1 / (1 - share))];
  }

  // Every so many values of the axis, back from the last one, that their words stand apart.
  ticks() {
    const { values, curves: { names } } = this, { zoom } = this.figures, { width } = this.figures.view("curves").frame.bbox, [from, to] = this.span(values);
    const at = (i) => (width * Math.log(values[i] / from)) / Math.log(to / from), half = names.slice(0, values.length).map((name) => widthOf(name, 12 * zoom) / 2 + NAMES_APART * zoom), last = values.length - 1;
    const every = (each) => [...values.keys()].filter((i) => (last - i) % each === 0), apart = (shown) => shown.every((i, n) => !n || at(i) - at(shown[n - 1]) >= half[i] + half[shown[n - 1]]);
    let each = 1;
    while (each < last && !apart(every(each))) each++;
    const first = Math.min(...this.curves.lines.map(({ y }) => y.findIndex((one) => one !== null)).filter((i) => i >= 0)); // before it nothing is drawn
    return every(each).filter((i) => !(i < first)).map((i) => values[i]);
  }

  // What carries this path: the NICs, or the devices' own ports.
  limit() {
    const { limits } = this.curves;
    return limits[this.mark.limit] ?? limits.nic ?? limits.native;
  }

  // Whether the lines are those of this scenario, or still those of the one before.
  there(mark) {
    return mark.of[this.curves.axis] === this.curves.key;
  }

  // In the unit shown; a point that is not there is NaN, which nobody draws.
  scaled(values) {
    return values.map((y) => (y === null ? NaN : y * this.scale.factor));
  }

  // What was measured and fits these curves.
  points() {
    const { curves, measured, mark } = this;
    const known = this.here ? curves.points : measured?.machine === mark.machine && measured[curves.axis];
    return known || { x: [], y: [], line: [], own: [], label: [], note: [] };
  }

  drawMeasured() {
    const points = this.points();
    const { x, y, line, own, label, note } = points, fill = line.map((ink, i) => (own[i] ? ink : "paper"));
    this.figures.fill("curves_measured", { x, y: this.scaled(y), line, fill, label, note }, ["line", "fill"]);
  }

  // What the legend says of it.
  sayMeasured() {
    const { measured, mark, curves } = this;
    if (this.here || measured?.machine !== mark.machine) return "";
    const { own } = this.points();
    return [own.includes(true) && "◆ yours", own.includes(false) && "◇ measured", !own.length && measured.hint[curves.axis]].filter(Boolean).join(" ");
  }

  // The lines as they lie over each other: this scenario's on top.
  upwards() {
    return [...this.curves.lines].sort((a, b) => (a.name === this.mark.line) - (b.name === this.mark.line));
  }

  drawBands() {
    const { curves, mark, figures } = this, drawn = { xs: [], ys: [], fill: [], alpha: [] }, edges = { xs: [], ys: [], line: [] };
    const add = (x, low, high, role, alpha, edge = 0) => {
      const there = [...low.keys()].filter((i) => i < x.length && isFinite(low[i]));
      if (there.length < 2) return;
      drawn.xs.push([...there, ...[...there].reverse()].map((i) => x[i]));
      drawn.ys.push([...there.map((i) => high[i]), ...there.reverse().map((i) => low[i])]);
      drawn.fill.push(role);
      drawn.alpha.push(alpha * (figures.theme === "dark" ? 1.3 : 1));
      if (edge) for (const ys of [low, high]) for (const name in edges) edges[name].push({ xs: x, ys, line: role }[name]);
    };
    const limit = this.limit(), { noise } = curves;
    if (this.pointed === LIMIT && limit.low?.some((low, i) => low < limit.high[i])) add(this.values, this.scaled(limit.low), this.scaled(limit.high), "muted", 0.16);
    const shown = (line) => this.here || line.name === (this.pointed ?? mark.line); // one at a time: more hide each other
    for (const line of this.upwards().filter(shown)) add(line.x, this.scaled(line.low), this.scaled(line.high), line.role, this.here ? 0.12 : 0.07, this.here ? 0 : 1);
    if (noise) add(noise.x, noise.low, noise.high, "muted", 0.2);
    figures.fill("curves_bands", drawn, ["fill"]);
    figures.fill("curves_edges", edges, ["line"]);
    const legend = this.find(".pl-bands");
    legend.textContent = curves.old ? "computing the curves of this scenario ..." : [this.sayMeasured(), curves.switches, curves.bands].filter(Boolean).join("; ");
    legend.title = curves.about ?? legend.textContent;
    this.find(".pl-figure").setAttribute("aria-label", [this.here ? "Speed" : "Bus bandwidth of every path", curves.about].filter(Boolean).join(". "));
    legend.classList.toggle("pl-drawn", drawn.xs.length > 0 && !curves.old);
    const fills = drawn.fill.map((role) => figures.colour(role)), part = 100 / Math.max(1, fills.length);
    legend.style.setProperty("--pl-chip", `linear-gradient(90deg, ${fills.map((fill, i) => `${fill} ${i * part}% ${(i + 1) * part}%`).join(", ")})`);
  }

  // Whether this scenario's line, which is on top, hides another.
  hides(line, top) {
    const ys = this.scaled(line.y);
    return this.curves.lines.some((other) => other !== line && other.y.some((y) => y !== null) && this.scaled(other.y).every((y, i) => !(Math.abs(y - ys[i]) > ALIKE * top)));
  }

  drawLines(limit, top) {
    const { curves, mark, figures } = this, drawn = { xs: [], ys: [], line: [], dash: [], width: [], alpha: [] };
    const points = { x: [], y: [], fill: [], label: [], note: [], size: [] };
    const add = (xs, ys, line, dash, width, alpha) => {
      const row = { xs, ys, line, dash, width, alpha };
      for (const name in drawn) drawn[name].push(row[name]);
    };
    add(this.values, limit, "muted", [4, 4], 1.2, 1);
    for (const line of this.upwards()) {
      const ys = this.scaled(line.y), here = line.name === mark.line;
      if (this.here) add(line.x, ys, line.role, [3, 3], 1.5, 1);
      else add(line.x, ys, line.role, here && this.hides(line, top) ? [9, 5] : [], here ? 3.2 : 2, 1);
      if (!this.here) ys.forEach((y, i) => {
        const row = { x: line.x[i], y, fill: line.role, label: line.label, note: line.note[i], size: line.switch?.[i] ? 10 : 5 };
        for (const name in points) points[name].push(row[name]);
      });
    }
    figures.fill("curves_lines", drawn, ["line"]);
    figures.fill("curves_points", points, ["fill"]);
  }

  drawMarks() {
    const { curves, mark, ghost, scale, figures } = this, drawn = { x: [], y: [], fill: [], line: [], size: [] };
    const add = (x, y, fill, line, size) => {
      const row = { x, y, fill, line, size };
      for (const name in drawn) drawn[name].push(row[name]);
    };
    if (!this.there(mark)) return figures.fill("curves_marks", drawn, ["fill", "line"]);
    if (ghost && ghost.machine === mark.machine) add(ghost[curves.axis], ghost.y * scale.factor, "none", "muted", 13);
    if (mark[curves.axis] <= this.values.at(-1) * BEYOND) add(mark[curves.axis], mark.y * scale.factor, mark.role, "ink", 14);
    figures.fill("curves_marks", drawn, ["fill", "line"]);
  }

  // Each name stands at the end of its line, or a thin line leads to it.
  drawNames(limit, top) {
    const { curves, figures } = this, drawn = { x: [], y: [], text: [], ink: [], dy: [] }, leads = { xs: [], ys: [], line: [] };
    const { width, height } = figures.view("curves").frame.bbox, perUnit = Math.max(1, height) / top, wanted = [];
    const [from, to] = this.span(this.values), last = this.values.at(-1), after = (px) => last * (to / from) ** ((px * figures.zoom) / Math.max(1, width)), x = after(BEFORE);
    for (const line of curves.lines)
      if (line.y.some((y) => y !== null)) wanted.push({ text: line.label, ink: line.ink, role: line.role, xs: line.x, ys: this.scaled(line.y) });
    if (limit.some(isFinite)) wanted.push({ text: this.limit().label, ink: "muted", role: "muted", xs: this.values, ys: limit });
    for (const [name, dy] of this.beside(wanted, perUnit)) {
      const y = name.ys.findLast(isFinite), row = { x, y, text: name.text, ink: name.ink, dy }, middle = y - (dy - 6 * figures.zoom) / perUnit;
      for (const column in drawn) drawn[column].push(row[column]);
      leads.xs.push([name.xs[name.ys.findLastIndex(isFinite)], last, after(BEFORE - LEADS)]);
      leads.ys.push([y, y, middle]);
      leads.line.push(name.role);
    }
    figures.fill("curves_words", drawn, ["ink"]);
    figures.fill("curves_leads", leads, ["line"]);
  }

  // How far below its line's end each name stands, in their order, none on another.
  beside(wanted, perUnit) {
    const { zoom } = this.figures, pitch = LINE_OF_NAMES * zoom, found = new Map();
    // from the top down, each at least a line below the one before, and high enough that all below it find room
    const ends = wanted.map((name) => [name, name.ys.findLast(isFinite)]).sort((a, b) => b[1] - a[1]);
    let above = Infinity;
    ends.forEach(([name, at], k) => {
      const lowest = pitch * (ends.length - 1 - k) + 8 * zoom, y = Math.max(lowest, Math.min(at * perUnit, above - pitch));
      above = y;
      found.set(name, at * perUnit - y + 6 * zoom);
    });
    return found;
  }

  // A value of the axis between two of its points; the axis is logarithmic.
  along(i) {
    const { values } = this, k = Math.min(values.length - 2, Math.floor(i));
    if (k < 0) return values[0] * (1 + i);
    return values[k] * (values[k + 1] / values[k]) ** (i - k);
  }
}
