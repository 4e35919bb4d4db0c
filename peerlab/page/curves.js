// The curves: every path simulated along an axis, this scenario marked, what was before as a ghost. Behind each line
// its band, as soon as Python has it: from where to where the line may lie if what is assumed lies at its ends.
import { axisHeights, belowEnd } from "./curve_heights.js";
import { bracketed, inOrder, stackedApart } from "./curve_names.js";
import { between } from "./labels.js";
import { widthOf } from "./places.js";
import { View } from "./view.js";

const LIMIT = "limit"; // names the line of what the wire can carry
const NEAR = 9; // pixels from a line at which it is meant
const LEAST_WIDE = 0.6; // of the width: names that leave the lines less are short ones
const LINE_OF_NAMES = 15; // pixels from a name to the one below
const BEFORE_FIRST = 16; // pixels before the first value: a circle has room there
const BEYOND = 1.1; // times the last value: beyond it names stand
const NAMES_APART = 4; // pixels beside a name
const BELOW_TICKS = 9.5; // pixels from the axis to its words, as Bokeh has it
const LEAD = 10; // pixels behind the last value: lines lead to their names
const SAMPLE = 21; // to where from there a sample of the line stands
const BELOW_LEGEND = 3; // pixels: names begin there
const NAMED = 24; // where its name begins
const ABOVE_AXIS = 7; // pixels above the axis' end, and within the frame: there stands the name of what lies above
const HALF_NAME = 6; // pixels: so far below the frame's top the middle of a name is, at least
const UP = "↑ "; // in a sample's place: this line ends above the axis
const EQUAL = "≈ "; // there, too: this line lies on that of a name above, to the pixels that a line takes
const LEAST = 0.6; // of the height: as much is for what is compared
const LEAST_HERE = 0.25; // where spreads are as wide as on a busy machine
const ENDS_EARLY = [2, 3]; // the dots that lead from a line that ends before the last value
const WELL_ABOVE = 1.5; // times the highest line
const ON_AXIS = 4; // pixels: the edge of a range that lies nearer to zero would be a second axis
const ON = 2.5; // pixels: lines that are nearer lie on each other
const ONE_END = 4; // pixels: lines that end nearer to each other end as one
const FILLING = { light: 0.09, dark: 0.16 }; // how dense is the band of a range
const MORE_IN_THE_DARK = 2.6; // times as dense are other bands on a dark ground
const CIRCLE = 14; // pixels
const DASH = [7, 3];
const BRACKET = 1.3; // pixels wide
const ENDS = 3; // pixels behind the last value: there the ends of lines are joined whose names share a bracket
const MOVED = 8; // pixels: where names are further from their ends, a bracket is calmer than a fan of leads
const BY_VALUE = ["x", "y", "low", "high", "note", "switch"]; // of a line, for each value of the axis
const OLD = 0.45; // how dark lines of the scenario before are, until those of this one are known

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
/**
 * @typedef {object} CurvesParcel What the page draws the curves of
 * @property {string} axis
 * @property {number[]} values
 * @property {string[]} names
 * @property {number} simulated
 * @property {CurveLine[]} lines
 * @property {Object<string, CurveLimit>} limits
 * @property {string} key
 * @property {string} state
 * @property {string} bands
 * @property {string} about
 * @property {string} switches
 */
/**
 * @typedef {object} CurveLine One path's line
 * @property {string} name
 * @property {string} label
 * @property {string} short
 * @property {string} role
 * @property {string} ink
 * @property {number[]} x
 * @property {(number | null)[]} y
 * @property {(number | null)[]} low
 * @property {(number | null)[]} high
 * @property {boolean[]} switch
 * @property {string[]} note
 * @property {boolean} twin
 */
/**
 * @typedef {object} CurveLimit What the wire can carry
 * @property {string} label
 * @property {(number | null)[]} y
 * @property {(number | null)[]} low
 * @property {(number | null)[]} high
 */
export class Curves extends View {
  static html = `
  <section class="pl-curves" aria-label="Curves">
    <header><h3 class="pl-busbw">Bus bandwidth, GB/s</h3>
      <span role="group" aria-label="Against"><button type="button" class="pl-tab" data-axis="nodes" aria-pressed="true">nodes</button><button
        type="button" class="pl-tab" data-axis="message_bytes" aria-pressed="false">size</button></span></header>
    <div class="pl-figure" role="img" aria-label="Bus bandwidth of every path"></div>
    <div class="pl-bands"></div><span class="pl-along"></span>
  </section>`;
  static figure = ".pl-curves .pl-figure";

  constructor(page) {
    super(page);
    this.host = page.find(".pl-curves");
    for (const tab of this.host.querySelectorAll(".pl-tab")) tab.addEventListener("click", () => this.choose(tab.dataset.axis));
    for (const side of ["inner_width", "inner_height"]) this.figures.model("curves").properties[side].change.connect(() => this.arrange());
    this.legendSize = new ResizeObserver(() => this.y && this.legend !== this.legendBottom() && this.arrange()); // letters may come after the words
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
    const away = (ys) => (i < 0 || i > values.length - 1 ? NaN : Math.abs(frame.y_scale.compute(between(ys, i)) - (clientY - box.top)));
    let near = NEAR, found = null;
    for (const { name, y } of this.lines) if (away(this.shown(y)) < near) [near, found] = [away(this.shown(y)), name];
    return found ?? (!this.limitAbove() && away(this.shown(this.limit().y)) < NEAR ? LIMIT : null);
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
    this.host.dataset.axis = curves.axis ?? "nodes";
    const { mark, ghost } = this.meta;
    Object.assign(this, { curves, measured: this.page.model.get("measured"), mark, ghost, scale });
    this.paint();
  }

  paint() {
    const { curves, mark, figures } = this;
    if (!curves?.lines || !mark) return;
    if (!curves.values.length) return this.clear();
    this.reach();
    this.sayLegend();
    this.legend = this.legendBottom();
    this.y = this.measure();
    this.covered = this.covers();
    const { start, end, round, last, stem } = this.y, [from, to] = this.span(this.values);
    this.pixel = Math.log(to / from) / Math.max(1, figures.view("curves").frame.bbox.width); // along the axis, as a logarithm
    figures.model("curves_x").setv({ start: from, end: to });
    figures.model("curves_y").setv({ start, end });
    figures.model("curves_grid").cross_bounds = [from, this.values.at(-1)]; // a name stands on no line
    for (const name of ["curves_grid", "curves_busbw"]) if (String(figures.model(name).bounds) !== String([0, last])) figures.model(name).bounds = [0, last]; // the legend stands on no line
    figures.model("curves_steps").setv({ ticks: round });
    figures.model("curves_values").setv({ major_tick_in: stem, minor_tick_in: stem }); // they stand on zero's line, and on no circle
    this.nameTicks();
    this.drawBands();
    this.drawLines();
    this.drawMeasured();
    this.drawMarks();
    this.drawNames();
    this.lookAgain();
  }

  // How high the axis goes, and what of it each pixel is.
  measure() {
    const { curves, figures, lines } = this, { height } = figures.view("curves").frame.bbox, present = (ys) => ys.filter(isFinite);
    const data = present([...lines.flatMap((line) => this.scaled(line.y)), ...this.scaled(this.points().y), ...this.circles().map(({ y }) => y)]);
    const limit = present(this.shown(this.limit().y)), noise = (this.here && curves.noise?.high) || [];
    return axisHeights({
      data: Math.max(0, ...data), beyond: present([Math.max(0, ...limit), ...noise, ...lines.flatMap((line) => this.scaled(line.high ?? []))]),
      circles: this.circles().map(({ y, size }) => ({ y, radius: size / 2 + 2 })), height, above: this.legend, least: this.here ? LEAST_HERE : LEAST, zoom: figures.zoom,
    });
  }

  // The values of the axis as far as a line goes, a measured point or the mark: what takes long to simulate leaves no empty room, nor does what cannot be.
  reach() {
    const { values, axis, simulated = values.length } = this.curves, there = (line) => line.x.filter((_, i) => line.y[i] !== null);
    const own = this.there(this.mark) ? values.findIndex((value) => value >= this.mark[axis]) + 1 : 0, shown = Math.max(simulated, own);
    const lines = this.curves.lines.map((line) => ({ ...line, ...Object.fromEntries(BY_VALUE.map((name) => [name, line[name]?.slice(0, shown)])) }));
    this.lines = lines;
    const all = [...lines.flatMap(there), ...this.points().x, ...(this.there(this.mark) ? [this.mark[axis]] : [])];
    const first = Math.max(0, values.findLastIndex((value) => value <= Math.min(...all))), end = values.findIndex((value) => value >= Math.max(...all)) + 1;
    [this.first, this.end] = end - first > 1 ? [first, end] : [0, values.length];
    this.values = values.slice(this.first, this.end);
  }

  // Paints again where the legend is higher or lower in the next frame: while another theme comes its letters are others for a moment.
  lookAgain() {
    cancelAnimationFrame(this.arranging);
    this.arranging = requestAnimationFrame(() => this.legend === this.legendBottom() || this.paint());
  }

  // How far the legend reaches into the figure's frame, in pixels.
  legendBottom() {
    const { frame } = this.figures.view("curves"), legend = this.find(".pl-bands").getBoundingClientRect(), figure = this.find(".pl-figure").getBoundingClientRect();
    return legend.height ? Math.max(0, Math.round(legend.bottom - figure.top - frame.bbox.top)) : 0;
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
    for (const words of [".pl-bands", ".pl-along"]) this.find(words).textContent = "";
  }

  // Whether these lines were measured on this machine, and are ratios.
  get here() {
    return this.curves.axis === "here";
  }

  // How wide names are with what leads to them, in full or in short.
  namesWide(names) {
    const { zoom } = this.figures;
    return Math.max(0, ...[...this.curves.lines.map((line) => line[names] ?? line.label), this.limitName()].map((text) => widthOf(text, 12 * zoom, true))) + (NAMED + NAMES_APART) * zoom;
  }

  // From where to where the axis goes; at its right is room for the names.
  span(values) {
    const [first, last] = [values[0], values.at(-1)];
    if (first === last) return [first / 3, last * 4];
    const { zoom } = this.figures, width = Math.max(1, this.figures.view("curves").frame.bbox.width);
    this.names = this.namesWide("label") > (1 - LEAST_WIDE) * width ? "short" : "label";
    const after = Math.min(0.6 * width, this.namesWide(this.names)), before = BEFORE_FIRST * zoom, all = (last / first) ** (width / Math.max(1, width - after - before));
    return [first / all ** (before / width), last * all ** (after / width)];
  }

  // A place so many pixels behind the last value.
  after(px) {
    return this.values.at(-1) * Math.exp(px * this.figures.zoom * this.pixel);
  }

  // Every so many values of the axis, so that their words stand apart: evenly, with that of this scenario among them, and the last, to which others too near give way.
  ticks() {
    const { values } = this, { zoom } = this.figures, names = this.curves.names.slice(this.first, this.end), last = values.length - 1;
    const at = (i) => Math.log(values[i] / values[0]) / this.pixel, half = names.map((name) => widthOf(name, 12 * zoom) / 2 + NAMES_APART * zoom);
    const own = this.there(this.mark) ? values.indexOf(this.mark[this.curves.axis]) : -1, kept = own < 0 ? last : own;
    const every = (each) => [...values.keys()].filter((i) => (i - kept) % each === 0), clear = (i, other) => at(other) - at(i) >= half[i] + half[other], apart = (shown) => shown.every((i, n) => !n || clear(shown[n - 1], i));
    let each = 1;
    while (each < last && !apart(every(each))) each++;
    const ends = [each, each + 1].find((n) => n < last && last % n === 0 && kept % n === 0);
    const even = every(ends ?? each), named = even.includes(last) || !clear(kept, last) ? even : [...even.filter((i) => clear(i, last)), last];
    return named.map((i) => values[i]);
  }

  nameTicks() {
    const { figures, values, curves } = this, named = this.ticks();
    figures.model("curves_ticks").setv({ ticks: named, minor_ticks: values.filter((value) => !named.includes(value)) });
    figures.model("curves_values").major_label_overrides = new Map(named.map((v) => [v, curves.names[curves.values.indexOf(v)]]));
    this.sayAxis(named[0]);
  }

  // Left of the first value that is named: what the axis counts.
  sayAxis(first) {
    const { figures, values, pixel } = this, { zoom } = figures, { frame } = figures.view("curves"), words = this.find(".pl-along"), name = this.curves.names[this.curves.values.indexOf(first)];
    words.textContent = (this.curves.axis ?? "nodes") === "nodes" ? "nodes" : "size";
    const right = frame.bbox.left + BEFORE_FIRST * zoom + Math.log(first / values[0]) / pixel - widthOf(name, 12 * zoom) / 2 - 3 * NAMES_APART * zoom;
    words.style.top = `${this.find(".pl-figure").offsetTop + frame.bbox.bottom + BELOW_TICKS}px`;
    words.style.left = `${Math.max(0, right - widthOf(words.textContent, 12 * zoom))}px`;
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

  // Whether it is not whole on the axis: then it has no line, of which a piece would float there.
  limitAbove() {
    return this.shown(this.limit().y).some((y) => y > this.y.last);
  }

  // Its name; where it has no line, with the value where lines end, or with both ends where that is on the axis.
  limitName() {
    const { label, y } = this.limit(), shown = this.shown(y).filter(isFinite), end = shown.at(-1);
    if (!this.limitAbove()) return label;
    return `${label} ${end > this.y.last ? inDigits(end) : `${inDigits(Math.min(...shown))} to ${inDigits(Math.max(...shown))}`}`;
  }

  // As `scaled`, for the values that the axis shows.
  shown(values) {
    return this.scaled(values.slice(this.first, this.end));
  }

  // In the unit shown; a point that is not there is NaN, which nobody draws.
  scaled(values) {
    return values.map((y) => (y === null ? NaN : y * this.scale.factor));
  }

  // What was measured and fits these curves; of others only where a line goes, as left of all lines it is compared with none, and takes their width.
  points() {
    const { curves, measured, mark } = this;
    const known = this.here ? curves.points : measured?.machine === mark.machine && measured[curves.axis];
    if (!known) return { x: [], y: [], line: [], own: [], label: [], note: [] };
    const first = Math.min(...curves.lines.flatMap(({ x, y }) => x.filter((_, i) => y[i] !== null))), kept = [...known.x.keys()].filter((i) => this.here || known.own[i] || known.x[i] >= first);
    return Object.fromEntries(Object.entries(known).map(([name, column]) => [name, Array.isArray(column) ? kept.map((i) => column[i]) : column]));
  }

  drawMeasured() {
    const points = this.points();
    const { x, y, line, own, label, note } = points, fill = line.map((ink, i) => (own[i] ? ink : "paper"));
    this.figures.fill("curves_measured", { x, y: this.scaled(y), line, fill, label, note }, ["line", "fill"]);
  }

  // What the legend says of it.
  measuredSigns() {
    const { measured, mark, curves } = this;
    if (this.here || measured?.machine !== mark.machine) return [];
    const { own } = this.points();
    return [own.includes(true) && ["◆", "yours"], own.includes(false) && ["◇", "measured"], !own.length && measured.hint[curves.axis] && ["", measured.hint[curves.axis]]].filter(Boolean);
  }

  // The legend: each sign and what it is.
  sayLegend() {
    const { curves } = this, legend = this.find(".pl-bands"), former = this.former() && ["ring", "before"];
    const banded = this.bandOf().length > 0, range = curves.bands && (banded || this.here) && [banded ? "range" : "", curves.bands];
    const follows = ["old", "lines"].includes(curves.state) ? "computing the curves" : curves.state === "ranges" && !banded && "computing the range";
    const signs = [!follows && range, former, ...this.measuredSigns(), curves.switches && ["dot", curves.switches], follows && ["", follows]].filter(Boolean); // the range first: its place is the same on both paths
    const said = JSON.stringify([signs, curves.about]);
    if (said === this.said) return;
    this.said = said;
    legend.replaceChildren(...signs.flatMap(([sign, words]) => [signed(sign, words), " "]));
    legend.title = curves.about || signs.map(([, words]) => words).join("; ");
    this.find(".pl-figure").setAttribute("aria-label", [this.here ? "Speed" : "Bus bandwidth of every path", curves.about].filter(Boolean).join(". "));
  }

  // The lines as they lie over each other: dashes on the others, this scenario's on all.
  upwards() {
    const level = (line) => (line.name === this.mark.line ? 2 : line.twin ? 1 : 0);
    return [...this.lines].sort((a, b) => level(a) - level(b));
  }

  // The lines whose bands are drawn: one at a time, as more hide each other.
  bandOf() {
    const known = ({ low, high }) => low?.filter((y, i) => y !== null && high[i] !== null).length > 1;
    return this.upwards().filter((line) => known(line) && (this.here || line.name === (this.pointed ?? this.mark.line)));
  }

  // How dark lines are; words keep their contrast.
  get shade() {
    return this.curves.state === "old" ? OLD : 1;
  }

  // A colour so dark, for marks that have no such column.
  shaded(role) {
    return this.curves.state === "old" ? this.figures.colour(role) + Math.round(255 * OLD).toString(16) : role;
  }

  drawBands() {
    const { curves, figures, shade, y: { last, perUnit } } = this, drawn = { xs: [], ys: [], fill: [], alpha: [] }, edges = { xs: [], ys: [], line: [] };
    const add = (x, low, high, role, alpha, edge) => {
      const there = [...low.keys()].filter((i) => i < x.length && isFinite(low[i]));
      if (there.length < 2) return;
      const [lower, upper] = [low, high].map((ys) => belowEnd(there.map((i) => x[i]), there.map((i) => ys[i]), last, last));
      drawn.xs.push([...upper.xs, ...lower.xs.reverse()]);
      drawn.ys.push([...upper.ys, ...lower.ys.reverse()]);
      drawn.fill.push(role);
      drawn.alpha.push(shade * alpha);
      if (edge) for (const ys of [low, high]) for (const [name, column] of Object.entries({ ...belowEnd(x, ys.map((y) => (y * perUnit < ON_AXIS ? NaN : y)), last), line: this.shaded(edge) })) edges[name].push(column);
    };
    const limit = this.limit(), { noise } = curves, more = figures.theme === "dark" ? MORE_IN_THE_DARK : 1;
    if (this.pointed === LIMIT && limit.low?.some((low, i) => low < limit.high[i])) add(this.values, this.shown(limit.low), this.shown(limit.high), "muted", 0.16 * more);
    for (const line of this.bandOf()) add(line.x, this.scaled(line.low), this.scaled(line.high), line.role, this.here ? 0.12 * more : FILLING[figures.theme], !this.here && line.ink);
    if (noise) add(noise.x, noise.low, noise.high, "muted", 0.2 * more);
    figures.fill("curves_bands", drawn, ["fill"]);
    figures.fill("curves_edges", edges, ["line"]);
    this.host.style.setProperty("--pl-band", figures.colour(drawn.fill[0] ?? "muted"));
    this.host.style.setProperty("--pl-band-edge", figures.colour(edges.line[0] ?? drawn.fill[0] ?? "muted"));
  }

  // Of each line that another lies on from end to end the name of that one: it alone is drawn, and the name of the other says so (in dashes of two colours, or as a core, it looked like a third line).
  covers() {
    const drawn = [], covers = new Map();
    for (const line of this.here ? [] : this.upwards().reverse()) {
      const cover = drawn.find((other) => this.agree(line, other));
      if (cover) covers.set(line.name, cover.name);
      else drawn.push(line);
    }
    return covers;
  }

  // Whether two lines are the same to the pixels that a line takes.
  agree(line, other) {
    const [ys, others] = [line, other].map(({ y }) => this.scaled(y));
    return ys.some((y, i) => isFinite(y) && isFinite(others[i])) && ys.every((y, i) => isFinite(y) === isFinite(others[i]) && !(Math.abs(y - others[i]) * this.y.perUnit > ON));
  }

  // The colour of a line; blue is too dark for a thin line on a dark ground, where it has that of its name.
  roleOf({ role, ink }) {
    return this.figures.theme === "dark" && role === "register" ? ink : role;
  }

  // How a line is drawn: its dash, and a darker hue, tell it from another of its colour.
  styleOf(line) {
    return { line: line.twin ? line.ink : this.roleOf(line), dash: this.here ? [3, 3] : line.twin ? DASH : [], width: this.here ? 1.5 : line.name === this.mark.line ? 3.2 : 1.5 };
  }

  drawLines() {
    const { figures, values, shade } = this, drawn = { xs: [], ys: [], line: [], dash: [], width: [], alpha: [] };
    const points = { x: [], y: [], fill: [], label: [], note: [], size: [] };
    const add = (xs, ys, line, dash, width, alpha) => {
      const row = { xs, ys, line, dash, width, alpha };
      for (const name in drawn) drawn[name].push(row[name]);
    };
    const limit = this.shown(this.limit().y);
    add(values, this.limitAbove() ? limit.map(() => NaN) : limit, "muted", [4, 4], 1.2, shade);
    this.upwards().forEach((line) => {
      const ys = this.scaled(line.y), { line: role, dash, width } = this.styleOf(line);
      if (!this.covered.has(line.name)) add(line.x, ys, role, dash, width, shade); // else its name says which line it lies on
      if (!this.here) ys.forEach((y, i) => {
        const row = { x: line.x[i], y, fill: this.covered.has(line.name) ? "none" : this.shaded(this.roleOf(line)), label: line.label, note: line.note[i], size: line.switch?.[i] ? 10 : line.name === this.mark.line ? 5 : 4 };
        for (const name in points) points[name].push(row[name]);
      });
    });
    figures.fill("curves_lines", drawn, ["line"]);
    figures.fill("curves_points", points, ["fill"]);
  }

  // Whether what was before has a ring: it is of this machine, at another value of the axis. At the same one its card says what it was.
  former() {
    const { curves, lines, mark, ghost } = this;
    if (!ghost || !this.there(mark) || ghost.machine !== mark.machine) return false;
    if (ghost.y > WELL_ABOVE * Math.max(mark.y, ...lines.flatMap(({ y }) => y))) return false; // as of another size: lines would lie flat below it
    return ghost[curves.axis] !== mark[curves.axis];
  }

  // What was before, and this scenario.
  circles() {
    const { curves, mark, ghost, scale } = this, { zoom } = this.figures, circles = [];
    if (!this.there(mark)) return circles;
    if (this.former()) circles.push({ x: ghost[curves.axis], y: ghost.y * scale.factor, fill: "none", line: "muted", size: CIRCLE - 1 });
    if (mark[curves.axis] <= this.values.at(-1) * BEYOND) circles.push({ x: mark[curves.axis], y: mark.y * scale.factor, fill: mark.role, line: "ink", size: CIRCLE });
    return circles;
  }

  drawMarks() {
    const circles = this.circles(), column = (name) => circles.map((circle) => circle[name]);
    this.figures.fill("curves_marks", { x: column("x"), y: column("y"), fill: column("fill"), line: column("line"), size: column("size") }, ["fill", "line"]);
  }

  // Each name stands beside a sample of its line, and a thin one of its colour leads there from the line's end. This scenario's stands where its line ends.
  drawNames() {
    const { lines, figures, values, mark, shade } = this, { zoom } = figures, { start, perUnit, last: top } = this.y, height = figures.view("curves").frame.bbox.height, limit = this.shown(this.limit().y), above = this.limitAbove();
    const words = { x: [], y: [], text: [], ink: [], dy: [] }, leads = { xs: [], ys: [], line: [], dash: [], width: [], alpha: [] };
    const lead = (xs, ys, line, { dash = [], width = 1, alpha = 0.8 * shade } = {}) => Object.entries({ xs, ys, line, dash, width, alpha }).forEach(([name, value]) => leads[name].push(value));
    const add = (text, ink, x, y) => Object.entries({ x, y, text, ink, dy: 6 * zoom }).forEach(([name, value]) => words[name].push(value));
    const names = lines.filter(({ y }) => y.some((one) => one !== null)).map((line) => {
      return { ...this.nameOf(line, this.shown(line.y), line[this.names] ?? line.label, line.ink, this.styleOf(line)), line: line.name, on: this.covered.get(line.name), chosen: line.name === mark.line };
    });
    const risen = Math.min(ABOVE_AXIS * zoom, height - (top - start) * perUnit - HALF_NAME * zoom);
    if (limit.some(isFinite)) names.push({ ...this.nameOf(this.limit(), limit, this.limitName(), "muted", { line: "muted", dash: [4, 4], width: 1.2 }), limit: true, ...(above && { above, end: top + risen / perUnit }) });
    const free = height - this.legend - BELOW_LEGEND * zoom, room = above ? Math.max(free, (top - start) * perUnit + risen + (LINE_OF_NAMES / 2) * zoom) : free;
    const pitch = Math.min(LINE_OF_NAMES * zoom, room / Math.max(1, names.length)), ordered = inOrder(names, (ONE_END * zoom) / perUnit), wishes = ordered.map(({ end }) => room - (end - start) * perUnit);
    const middles = stackedApart(wishes, ordered.map(() => pitch), room, ordered.findIndex(({ chosen }) => chosen)), [last, behind] = [values.at(-1), this.after(LEAD)];
    const high = (n) => start + (room - middles[n]) / perUnit, brackets = bracketed(ordered, wishes, middles, { pitch, moved: MOVED * zoom });
    for (const [first, after] of brackets) {
      const ends = ordered.slice(first, after).map(({ end }) => end), [most, least] = [Math.max(...ends), Math.min(...ends)], half = (0.4 * pitch) / perUnit, joined = this.after(ENDS);
      const [upper, low] = [high(first) + half, high(after - 1) - half], middle = (most + least) / 2;
      lead([joined, joined], [most, least], "muted", { width: BRACKET });
      lead([joined, behind], [middle, (upper + low) / 2], "muted", { width: BRACKET });
      lead([behind, behind], [upper, low], "muted", { width: BRACKET });
    }
    ordered.forEach(({ text, ink, style, x, end, from, above, on }, n) => {
      const shared = brackets.some(([first, after]) => n >= first && n < after);
      const y = high(n), sign = above ? UP : on ? EQUAL : "";
      if (!sign && x < last) lead([x, last], [end, from], style.line, { dash: ENDS_EARLY });
      if (!sign && !shared) lead([last, behind], [from, y], style.line);
      if (!sign) lead([this.after(shared ? LEAD + ENDS : LEAD), this.after(SAMPLE)], [y, y], style.line, { ...style, width: Math.min(2.4, style.width), alpha: 1 });
      add(sign + text, ink, this.after(sign ? NAMED - widthOf(sign, 12 * zoom, true) / zoom : NAMED), y);
    });
    figures.fill("curves_words", words, ["ink"]);
    figures.fill("curves_leads", leads, ["line"]);
  }

  nameOf(line, ys, text, ink, style) {
    const last = ys.findLastIndex(isFinite);
    return { text, ink, style, x: this.values[last], end: ys[last] };
  }
}

// A sign of the legend and what it is: a letter, the ring, the two edges of a band, or none.
function signed(sign, words) {
  const entry = document.createElement("span");
  entry.textContent = sign.length === 1 ? `${sign} ${words}` : words;
  if (sign.length > 1) entry.dataset.sign = sign;
  return entry;
}

// Three digits, or all of a large number.
function inDigits(value) {
  return value >= 100 ? String(Math.round(value)) : String(Number(value.toPrecision(2)));
}
