// The timeline: spans that can be told apart are drawn one by one, the others merged, never dropped.
import { BIN, Density, LOW_SHARE } from "./density.js";
import { make, showWords } from "./dom.js";
import { PackedRows } from "./packed_rows.js";
import { widthOf } from "./places.js";
import { Rows } from "./rows.js";
import { View } from "./view.js";
import { baseline, sayBytes, sayTime } from "./words.js";

const WIDE = 8; // pixels of a span in which its parts can be told apart
const KNOB = 6; // half as wide as the clock's knob
const BELOW_ALL = { least: 60, kept: 30, around: 28, most: 1.5, slide: [998, 589] }; // pixels that what holds the explorer has below it, as a slide has, or has left when words are larger already, and that stay free; how many times as high charts are then; the size of a slide with words as large as in the lab: of 1080 projected lines each has 22
export const LARGER = 1.2; // times as large as in the lab are words where there is room, and on a slide as large as they can be
const WIDE_WINDOW = { across: 1300, most: 1.3 }; // pixels: in what is wider words around the data path grow as it does, so far as the window has the height
const ROW = { least: 13, below: 16, airy: 18, high: 860, charts: 216, beside: 1000, around: 36 }; // pixels: a row is at least as high as its name, higher where the curves stand below the timeline, and in a window so `high` where they stand beside it, where charts are as high as `charts` at least; axis and knob are above and below
const DIFFERENCE = { letters: 12, around: 8, beside: 6 }; // pixels
const BESIDE = { letters: 12, around: 30, high: 0.86, most: 3 }; // pixels; of a row: as high as its ground, clear of the axis; names
const LABELS_END = 8; // pixels before the bar of the row that is marked, which is 3 wide: where labels end in Bokeh
const TITLE_END = 14; // pixels before the axis: its first number stands half before it
const AREA = { track: 10, span: 40, narrow: 4 }; // pixels: in a lane whose tracks are lower, spans that are mostly shorter stand on each other, and in any lane those that are mostly narrower
const NARROW_SPAN = 3; // pixels: spans so narrow that follow each other at once are one area
const PAST_ALL = 1e12; // of the axis: past the end of any run, however far one pans
const RAISED = "drawn higher, to be seen"; // of a share that would be a hairline
const HELD = 0.25; // how dark time is in which a resource has a slice and waits

/**
 * @typedef {object} TimelineParcel What the timeline gets for a run
 * @property {PageLane[]} lanes
 * @property {PageRows} spans
 * @property {string[]} stages
 * @property {string[]} roles
 * @property {string} title
 * @property {string} device
 * @property {number} end_us
 */
/**
 * @typedef {object} PageLane A lane
 * @property {string} label
 * @property {number} tracks
 * @property {boolean} used
 * @property {boolean} on_path
 * @property {boolean} hot
 * @property {Object<string, string>} after
 * @property {number} capacity
 * @property {number | null} rate
 */
export class Timeline extends View {
  static html = `
  <section class="pl-timeline" aria-label="Timeline">
    <header><button type="button" class="pl-link pl-critical" aria-pressed="false">Critical path</button>
      <button type="button" class="pl-link pl-whole" hidden>Whole run</button>
      <span class="pl-merged"></span></header>
    <div class="pl-figure"><div class="pl-plot" role="img" aria-label="Spans of every resource over time"></div>
      <div class="pl-then" hidden><span class="pl-then-name"></span><span class="pl-saved"></span><span class="pl-measure"></span></div><div class="pl-hot-lane"></div><div class="pl-end"></div><div class="pl-cursor"></div><div class="pl-rail"></div><div class="pl-more-lanes"><button type="button" class="pl-fold" aria-label="Lanes beside the data path"></button><span></span></div>
      <div class="pl-path" hidden></div><h3 class="pl-title">Timeline</h3></div>
  </section>`;
  static figure = ".pl-timeline .pl-plot";

  constructor(page) {
    super(page);
    this.host = page.find(".pl-timeline");
    this.range = this.figures.model("timeline_x");
    this.height = this.figures.model("timeline").height;
    this.cursor = this.find(".pl-cursor");
    this.note = this.find(".pl-merged");
    this.range.change.connect(() => this.schedule());
    // Bokeh lays a figure out some frames after its size has changed; how low a mark may be follows from that.
    for (const side of ["inner_width", "inner_height"]) this.figures.model("timeline").properties[side].change.connect(() => this.fit());
    this.find(".pl-figure").addEventListener("dblclick", (event) => this.seek(event));
    this.find(".pl-critical").addEventListener("click", () => this.togglePath());
    this.find(".pl-more-lanes").addEventListener("click", () => this.foldByHand());
    this.find(".pl-whole").addEventListener("click", () => this.range.setv({ start: 0, end: this.range.reset_end }));
  }

  find(selector) {
    return this.host.querySelector(selector);
  }

  seek({ clientX, currentTarget }) {
    const frame = this.frame(), part = (clientX - currentTarget.getBoundingClientRect().left - frame.left) / frame.width;
    if (part >= 0 && part <= 1) this.page.player.seek((this.range.start + part * (this.range.end - this.range.start)) * this.unit);
  }

  // Takes the player into the head, and lays its scale over the time axis, where its knob is the cursor's.
  seat(player) {
    this.player = player;
    this.find("header").prepend(player.host);
    this.find(".pl-rail").append(player.bar);
  }

  apply(part, { meta }) {
    if (this.openForPath) this.unfolded = this.openForPath = false; // before the run is drawn: Bokeh paints as soon as a height is set, and would paint half of its data
    this.showRun(part, meta.span_us ?? meta.before_us);
    this.showPath(null);
    this.showSaved(meta);
  }

  showRun(part, before) {
    this.data = part;
    this.spans = new Rows(this.data.spans, {
      floats: ["queued", "start", "done", "end"],
      ints: ["lane", "track", "stage", "device", "step", "slice", "nbytes"],
      begin: "start",
      end: "end",
    });
    this.typical = typicalMarks(this.spans, this.data.lanes);
    this.path = null;
    const whole = Math.max(this.data.end_us, before ?? 0) || 1;
    this.unit = whole > 2000 ? 1000 : 1; // microseconds per unit of the axis
    const far = (1.01 * whole) / this.unit;
    this.range.bounds = [0, far]; // first: start and end are held within the bounds
    this.range.setv({ start: 0, end: far, reset_start: 0, reset_end: far });
    this.figures.model("timeline_time").axis_label = null;
    this.arrange();
    this.find(".pl-title").textContent = `${this.data.title}, ${this.unit === 1 ? "µs" : "ms"}`;
    this.paint();
  }

  // Gives every lane its row, from the top; those beside the data path share the last one, which opens.
  arrange() {
    const { lanes } = this.data, beside = besidePath(lanes), folds = beside.length > 1 && !this.unfolded;
    const shown = (this.inRows = folds ? lanes.filter((lane) => !beside.includes(lane)) : lanes), button = this.find(".pl-fold");
    this.row = lanes.map((lane) => shown.indexOf(lane));
    this.rows = shown.length + (beside.length > 1 ? 1 : 0);
    const labels = new Map(shown.map((lane, i) => [i, lane.hot ? asWide(lane.label) : lane.label])); // that one is bold, and no label of Bokeh's
    if (beside.length > 1) labels.set(shown.length, folds ? `${beside.length} more` : "fewer");
    this.figures.model("timeline_ticks").ticks = [...labels.keys()];
    this.figures.model("timeline_lanes").major_label_overrides = labels;
    this.figures.model("timeline_y").setv({ start: this.rows - 0.5, end: -0.5 });
    this.host.closest(".pl-root").style.setProperty("--pl-rows", this.roomFor(lanes));
    this.find(".pl-more-lanes").hidden = beside.length < 2;
    this.hotRow = shown.findIndex((lane) => lane.hot);
    this.find(".pl-hot-lane").hidden = this.hotRow < 0;
    this.find(".pl-hot-lane").textContent = shown[this.hotRow]?.label ?? "";
    button.setAttribute("aria-expanded", String(!folds));
    button.textContent = folds ? "▸" : "▾";
    this.beside = folds ? beside : [];
    this.besideRoom = -1;
  }

  // How many rows the figure is high enough for: the most that a run of these lanes had. A switch then changes no height, which would lay the page out anew.
  roomFor(lanes) {
    const names = lanes.map((lane) => lane.label).join();
    if (names !== this.names) this.most = 0;
    this.names = names;
    if (!this.unfolded) this.most = Math.max(this.most, this.rows);
    return (this.tall = Math.max(this.most, this.rows));
  }

  // How many times as large the words of the charts are: larger where what holds the explorer has room below it. What is as high as the explorer has none.
  measure(largest = Infinity) {
    const { around, most, slide } = BELOW_ALL, least = this.page.root.hasAttribute("data-roomy") ? BELOW_ALL.kept : BELOW_ALL.least, holder = this.page.root.closest(".pl-explorer"), ends = [...(holder?.children ?? [])].map((child) => child.getBoundingClientRect().bottom);
    const below = holder ? holder.getBoundingClientRect().bottom - Math.max(...ends) : 0, room = below + this.figures.model("timeline").height - this.height;
    this.room = below < around / 2 || room < least ? 0 : Math.min(this.height + room - around, most * this.height);
    if (!this.room) return holder ? Math.max(1, Math.min(WIDE_WINDOW.most, this.page.root.clientWidth / WIDE_WINDOW.across)) : 1;
    const { clientWidth, clientHeight } = holder, wish = Math.min(largest, Math.max(LARGER, Math.min(clientWidth / slide[0], clientHeight / slide[1])));
    return this.page.root.hasAttribute("data-roomy") && room + this.height - around / 2 < this.leastHigh(wish) ? LARGER : wish;
  }

  // Rows are as high as their names, and higher where there is room; a page of its own follows its style.
  setHeight() {
    if (!this.height) return;
    const beside = this.page.root.clientWidth > ROW.beside, { zoom } = this.figures, airy = beside && window.innerHeight >= ROW.high && (zoom <= LARGER || !this.room), pitch = !beside ? ROW.below : airy ? ROW.airy : ROW.least;
    const high = Math.max(this.height, this.room ?? 0, this.leastHigh(zoom, pitch), airy ? Math.round(ROW.charts * zoom) : 0);
    for (const name of ["timeline", "curves"]) this.figures.model(name).height = high;
  }

  // How high the charts are at least where words are `zoom` times as large.
  leastHigh(zoom, pitch = ROW.least) {
    return Math.round((pitch * (this.tall ?? 0) + ROW.around) * zoom);
  }

  // Names a few of the folded lanes beside their count, as far as they have room before the run ends. The tip names all.
  nameBeside(width) {
    if (width === this.besideRoom) return;
    this.besideRoom = width;
    const { zoom } = this.figures, names = this.beside.map((lane) => lane.label), { length } = names, wide = (text) => widthOf(text, BESIDE.letters * zoom) + BESIDE.around * zoom;
    const texts = names.map((_, i) => [...names.slice(0, length - i), ...(i ? ["others"] : [])].join(", ")), text = texts.slice(Math.max(0, length - BESIDE.most)).find((each) => wide(each) < width) ?? "";
    this.find(".pl-more-lanes span").textContent = text;
    this.find(".pl-more-lanes").title = sayBeside(this.beside);
  }

  // Shows every lane in a row, or folds those beside the data path into one.
  fold(unfolded) {
    this.unfolded = unfolded;
    this.arrange();
    this.paint();
  }

  // Opens the row of folded lanes, or closes it, whatever the critical path needs.
  foldByHand() {
    this.openForPath = false;
    this.fold(!this.unfolded);
  }

  paint() {
    this.setHeight();
    const { lanes } = this.data, y = [...Array(this.rows).keys()];
    const hot = y.filter((at) => lanes.some((lane, i) => lane.hot && this.row[i] === at)), washed = (at) => hot.includes(at);
    this.figures.fill("timeline_grounds", {
      y: [...hot, ...y], // what is washed has the ground of others where the run has ended
      right: [...hot.map(() => PAST_ALL), ...y.map((at) => (washed(at) ? this.data.end_us / this.unit : PAST_ALL))],
      fill: [...hot.map(() => "panel"), ...y.map((at) => (washed(at) ? "hot-wash" : "panel"))],
    }, ["fill"]);
    this.drawSpans();
  }

  schedule() {
    this.find(".pl-whole").hidden = this.range.start <= 0 && this.range.end >= this.range.reset_end; // it is seen
    if (this.waiting) return;
    this.waiting = requestAnimationFrame(() => {
      this.waiting = 0;
      if (this.data) this.drawSpans();
    });
  }

  // Draws again where Bokeh has laid the figure out in another size than was drawn for.
  fit() {
    const { width, height } = this.frame();
    if (width !== this.drawnFor?.width || height !== this.drawnFor.height) this.schedule();
    if (this.data && this.time !== undefined) this.draw(this.time); // a paused player does not
  }

  close() {
    cancelAnimationFrame(this.waiting);
  }

  frame() {
    const box = this.figures.view("timeline").frame.bbox;
    return { left: box.left, width: Math.max(1, box.width), top: box.top, height: box.height };
  }

  // From when to when the axis shows, and the time of a pixel, in microseconds.
  shown() {
    const start = this.range.start * this.unit, end = this.range.end * this.unit;
    return { start, end, pixel: (end - start) / this.frame().width };
  }

  drawSpans() {
    this.drawnFor = this.frame();
    const { start, end, pixel } = this.shown(), drawn = this.blank(), single = new Set(), length = BIN * pixel;
    const bins = Math.ceil((end - start) / length) + 1, least = (this.least = this.rows / this.drawnFor.height);
    const stacked = this.stacked(pixel), quiet = new Set([...this.data.lanes.keys()].filter((lane) => !this.isLoud(lane)));
    const density = new Density(this.spans, this.data.lanes, { rows: this.row, origin: start, length, bins, least, stacked, quiet });
    const packed = new PackedRows(this.spans, {
      single: (i, shift, j, segment) => {
        if (this.spans.end[i] - this.spans.start[i] < length) return density.add(i, shift);
        single.add(this.spans.lane[i]);
        this.add(drawn, i, shift, j, segment, pixel);
      },
      area: (row) => {
        single.add(this.spans.lane[row[0].i]);
        this.addArea(drawn, row, pixel);
      },
      narrow: NARROW_SPAN * pixel,
    });
    const packs = this.data.lanes.map((lane, at) => !stacked.has(at) && lane.tracks === 1 && !lane.rate);
    this.spans.between(start, end, (i, shift, j, segment) => {
      const lane = this.spans.lane[i];
      if (this.row[lane] < 0) return; // it is folded
      if (stacked.has(lane)) density.add(i, shift);
      else packed[packs[lane] ? "add" : "single"](i, shift, j, segment);
    });
    packed.end();
    const most = Math.max(packed.most, this.addMerged(drawn, density, single));
    for (const side of ["left", "right"]) drawn[side] = drawn[side].map((time) => time / this.unit);
    this.figures.fill("timeline_spans", drawn, ["fill"]);
    this.note.replaceChildren(...(most > 1 ? [`up to ${most} spans in one mark`, make("span", "pl-press", "; zoom in")] : []));
    this.note.title = most > 1 ? "Spans too short to tell apart are one mark: it fills as much of its lane's height as they keep the resource busy" : "";
    this.count = drawn.y.length;
    this.drawPath();
  }

  // The lanes that show how busy they are and with what, as their tracks are too low for single spans, or these too narrow: until somebody zooms in so far
  // that these are long. Lanes whose spans share a rate all show the same, so that one picture is read in one way.
  stacked(pixel) {
    const { lanes } = this.data, high = (0.74 * this.drawnFor.height) / this.rows;
    const least = (track) => (track < AREA.track ? AREA.span : AREA.narrow);
    const low = [...lanes.keys()].filter((lane) => this.typical[lane] < least(high / lanes[lane].tracks) * pixel);
    const shared = low.some((lane) => lanes[lane].rate) ? [...lanes.keys()].filter((lane) => lanes[lane].rate && this.typical[lane]) : [];
    return new Set([...low, ...shared]);
  }

  blank() {
    return { y: [], left: [], right: [], height: [], fill: [], alpha: [], stage: [], what: [], when: [], wait: [] };
  }

  // Whether a lane shows how busy it is in every moment: that of the bottleneck, or all if none is. Others are smooth.
  isLoud(lane) {
    return this.hotRow < 0 || this.row[lane] === this.hotRow;
  }

  place(i) {
    const tracks = this.data.lanes[this.spans.lane[i]].tracks, height = 0.74 / tracks;
    return { y: this.row[this.spans.lane[i]] - 0.37 + height * (this.spans.track[i] + 0.5), height };
  }

  add(drawn, i, shift, j, segment, pixel) {
    const s = this.spans, { y, height } = this.place(i), stage = s.stage[i], start = s.start[i] + shift, end = s.end[i] + shift;
    const step = s.step[i] + j * segment.steps;
    const row = { fill: this.data.roles[stage], stage: this.data.stages[stage], y, height, left: start, alpha: 1 };
    row.right = end - Math.min(0.6 * pixel, 0.06 * (end - start)); // a seam, which takes no more of a short span than of a long one
    const piece = s.slice[i] < 0 ? "whole transfer" : `slice ${s.slice[i]}`;
    row.what = `${this.data.device} ${s.device[i]}, step ${step + 1}, ${piece}${s.nbytes[i] > 0 ? `, ${sayBytes(s.nbytes[i])}` : ""}`;
    row.when = `${sayTime(start)} + ${sayTime(end - start)}`;
    const wait = s.start[i] - s.queued[i];
    row.wait = this.sayHeld(i) + (wait > 0.001 ? `waited ${sayTime(wait)} before` : "did not wait before");
    this.parts(row, i, shift, pixel, drawn, push);
  }

  // How long a span is not its resource's own work, in microseconds, and what it waits for, in words.
  sayHeld(i) {
    const s = this.spans, held = s.end[i] - s.done[i], lane = this.data.lanes[s.lane[i]], before = lane.after[s.stage[i]];
    if (held < 1e-3 + 1e-6 * s.end[i]) return ""; // times are rounded
    const work = `${sayTime(s.done[i] - s.start[i])} of work`;
    const sharing = before ? `it shares its rate or waits for ${before}` : "it shares its rate";
    return lane.rate ? `${work}, ${sayTime(held)} more as ${sharing}; ` : `${work}, held for ${sayTime(held)} until ${before ?? "the one before"} was through; `;
  }

  // A span's work, and, where there is room for it, what it waits, paler: of an exclusive resource behind the work, of a shared one
  // above it, as high as it leaves the rate to others. The parts do not overlap, so that one tip is shown.
  parts(row, i, shift, pixel, drawn, push) {
    const s = this.spans, lane = this.data.lanes[s.lane[i]], { y, height, left, right } = row, wide = right - left > WIDE * pixel;
    if (!lane.rate) {
      const done = Math.min(right, Math.max(left + pixel, s.done[i] + shift));
      row.right = done;
      push(drawn, row);
      if (wide && right - done > pixel) push(drawn, { ...row, left: done, right, alpha: HELD });
      return;
    }
    const used = (0.74 * s.nbytes[i]) / lane.rate / (s.end[i] - s.start[i]), least = this.least * (this.isLoud(s.lane[i]) ? 1 : LOW_SHARE), high = Math.min(height, Math.max(used, least));
    if (used < high && least > this.least) row.when += `, ${RAISED}`;
    if (high < 0.9 * height) Object.assign(row, { y: y + (height - high) / 2, height: high });
    push(drawn, row);
    if (wide && high < 0.9 * height) push(drawn, { ...row, y: y - high / 2, height: height - high, alpha: HELD });
  }

  // Adds narrow spans that follow each other at once as one mark: a row of them, each paler or darker than the next, would be a bar code.
  addArea(drawn, row, pixel) {
    const [{ i, start: left }, { done: right }] = [row[0], row.at(-1)], stage = this.spans.stage[i], served = row.reduce((sum, { start, done }) => sum + done - start, 0);
    const area = { ...this.place(i), left, right: right - 0.6 * pixel, alpha: 1, fill: this.data.roles[stage], stage: this.data.stages[stage], wait: "Shift and wheel zoom in" };
    push(drawn, { ...area, what: `${row.length} spans, too short to tell apart here`, when: `from ${sayTime(left)}, busy for ${sayTime(served)} of ${sayTime(right - left)}` });
  }

  // Adds the marks of spans too short to tell apart; returns how many spans there are in one at most.
  addMerged(drawn, density, lanes) {
    const { pixel } = this.shown(); // half of one more, so that no seam is between what is levelled
    let most = 0;
    density.each(lanes, ({ stage, spans, served, from, to, y, height, alpha, over, raised }) => {
      most = Math.max(most, spans);
      const row = { y, height, left: from, right: over ? to + pixel / 2 : to, alpha, fill: this.data.roles[stage], stage: this.data.stages[stage], wait: "Shift and wheel zoom in" };
      row.what = over ? `spans too short to tell apart here, averaged over ${sayTime(over)}` : spans > 1 ? `${spans} spans, too short to tell apart here` : "one span";
      row.when = `from ${sayTime(from)}, busy for ${sayTime(served)}${over || spans > 1 ? ` of ${sayTime(to - from)}` : ""}${raised ? `, ${RAISED}` : ""}`;
      push(drawn, row);
    });
    return most;
  }

  // Lights the critical path, which Python knows, or puts it out.
  togglePath() {
    if (this.path) this.showPath(null);
    else this.page.send("critical");
  }

  hear(message) {
    if (message.kind === "critical") this.showPath(message.path);
  }

  showPath(path) {
    const opens = path && !this.unfolded; // it passes lanes beside the data path, too
    this.path = path;
    if (opens || (!path && this.openForPath)) this.fold((this.openForPath = Boolean(opens)));
    this.drawPath();
    this.find(".pl-critical").setAttribute("aria-pressed", String(Boolean(path)));
    const line = this.find(".pl-path");
    line.hidden = !path;
    if (!path) return;
    const total = Object.values(path.breakdown).reduce((a, b) => a + b, 0) || 1;
    const parts = Object.entries(path.breakdown).filter(([, us]) => us / total >= 0.005);
    line.textContent = `On the critical path: ${parts.map(([stage, us]) => `${stage} ${Math.round((us / total) * 100)} %`).join(", ")}`;
  }

  // What this run takes less or more than the one before, between the ends of the two.
  showSaved({ before_us, end_us, ...meta }) {
    const saved = this.find(".pl-saved"), difference = before_us ? before_us - end_us : 0, then = this.find(".pl-then");
    this.ends = [Math.min(end_us, before_us ?? end_us), Math.max(end_us, before_us ?? end_us)];
    then.hidden = Math.abs(difference) <= end_us * 0.005;
    then.dataset.verdict = difference > 0 ? "better" : "worse";
    // In full and in short: the longer one stands where it has room.
    const amount = sayTime(Math.abs(difference));
    this.thenName = then.hidden || difference > 0 ? "" : baseline(meta);
    this.savedWords = then.hidden ? [""] : difference > 0 ? [`${amount} saved`] : [`${amount} more than ${baseline(meta)}`, `${amount} more`];
    saved.className = `pl-saved pl-${difference > 0 ? "better" : "worse"}`;
  }

  // Puts what is no glyph in its place: the end of the run, what was saved, and the knob of the clock.
  placeMarks(time) {
    const { left, width, top, height } = this.frame(), { start, end } = this.shown();
    const at = (time) => left + (Math.max(0, Math.min(1, (time - start) / (end - start)))) * width;
    const put = (name, from, to) => {
      const mark = this.find(name), inside = to > start && from < end;
      Object.assign(mark.style, { left: `${at(from)}px`, width: `${at(to) - at(from)}px`, top: `${top}px`, height: `${height}px`, visibility: inside ? "" : "hidden" });
      return at(to) - at(from);
    };
    const [first, last] = this.ends ?? [this.data.end_us, this.data.end_us];
    this.placeDifference(put(".pl-then", first, last), at(time) - at(first), at(first) - left);
    put(".pl-end", this.data.end_us, this.data.end_us + 1e-9 * this.data.end_us);
    const pitch = height / this.rows;
    if (this.hotRow >= 0) Object.assign(this.find(".pl-hot-lane").style, { width: `${left}px`, paddingRight: `${LABELS_END}px`, top: `${top + pitch * (this.hotRow + (1 - BESIDE.high) / 2)}px`, height: `${pitch * BESIDE.high}px` });
    this.find(".pl-title").style.width = `${left - TITLE_END * this.figures.zoom}px`;
    this.find(".pl-path").style.left = `${left}px`;
    this.nameBeside(at(Math.min(first, this.data.end_us)) - left);
    Object.assign(this.find(".pl-more-lanes").style, { left: `${left}px`, width: `${width}px`, top: `${top + height - (pitch * (1 + BESIDE.high)) / 2}px`, height: `${pitch * BESIDE.high}px` });
    if (!this.player) return;
    const rail = this.find(".pl-rail"), zoom = width / (end - start), { length } = this.player;
    Object.assign(rail.style, { left: `${left - KNOB}px`, width: `${width + 2 * KNOB}px`, top: `${top - 2 * KNOB}px` });
    Object.assign(this.player.bar.style, { left: `${-start * zoom}px`, width: `${length * zoom + 2 * KNOB}px` });
  }

  // How much less or more is said in the strip above the lanes, so that it lies on no bar, and beside the clock's knob where that passes, between
  // the two ends. What is more says which run that is, if there is room; else the name of that stands left of its end, if there is room and no knob, or what is more may begin `before` the first end.
  placeDifference(room, knob, before) {
    const label = this.find(".pl-saved"), { zoom } = this.figures, more = label.classList.contains("pl-worse"), { letters, around } = DIFFERENCE;
    const widths = (this.savedWords ?? [""]).map((text) => widthOf(text, letters * zoom)), short = widths.length - 1;
    const clear = KNOB + DIFFERENCE.beside, isOff = Math.abs(knob - room / 2) >= widths[0] / 2 + clear || widths[0] + clear <= Math.max(knob, room - knob);
    const whole = widths[0] + around <= room && isOff, named = this.nameEnd(before, knob, !whole && widths[short] <= room), reaches = !named && more && before + room > widths[0] && (knob < room - widths[0] - clear || knob > room + clear);
    const which = whole || (!named && reaches) ? 0 : short, wide = widths[which];
    showWords(label, this.savedWords?.[which] ?? "");
    label.hidden = room < wide + (named ? 0 : around) && !reaches;
    let left = room < wide + around ? room - wide : (room - wide) / 2;
    if (!(room < wide) && Math.abs(knob - room / 2) < wide / 2 + clear) left = knob + clear + wide <= room ? knob + clear : knob - clear - wide;
    if (named && left < DIFFERENCE.beside) this.find(".pl-then-name").style.visibility = "hidden"; // what is more gave way to the knob, to where that stands
    label.style.left = `${left}px`;
  }

  // Names the end of the run without what makes this one longer, left of it; returns whether there is room for that, whether or not the knob is there.
  nameEnd(before, knob, room) {
    const name = this.find(".pl-then-name"), wide = this.thenName ? widthOf(this.thenName, DIFFERENCE.letters * this.figures.zoom) + DIFFERENCE.around : 0;
    const named = room && wide > 0 && wide < before;
    showWords(name, named ? this.thenName : "");
    name.style.visibility = knob > -wide - KNOB && knob < KNOB ? "hidden" : "";
    return named;
  }

  drawPath() {
    const drawn = { y: [], left: [], right: [] }, { start, end, pixel } = this.shown();
    let last = null;
    for (let i = 0; this.path && i < this.path.lane.length; i++) {
      const lane = this.path.lane[i];
      if (!(this.row[lane] >= 0) || this.path.end[i] < start || this.path.start[i] > end) continue;
      if (last && last.lane === lane && this.path.start[i] - last.end < 2 * pixel) drawn.right[drawn.right.length - 1] = last.end = this.path.end[i];
      else {
        last = { lane, end: this.path.end[i] };
        drawn.y.push(this.row[lane]);
        drawn.left.push(this.path.start[i]);
        drawn.right.push(this.path.end[i]);
      }
    }
    for (const side of ["left", "right"]) drawn[side] = drawn[side].map((time) => time / this.unit);
    this.figures.fill("timeline_critical", drawn);
  }

  draw(time) {
    this.time = time;
    const { left, width, top, height } = this.frame(), { start, end } = this.shown(), part = (time - start) / (end - start);
    this.placeMarks(time);
    this.cursor.style.display = part >= 0 && part <= 1 ? "block" : "none";
    this.cursor.style.transform = `translateX(${left + part * width}px)`;
    this.cursor.style.top = `${top}px`;
    this.cursor.style.height = `${(height * this.inRows.length) / this.rows}px`; // above the words of the last row, which has no spans
  }
}

// The lanes that a slice does not pass between two nodes on this data path. Where all do something else, as inside a node, those in which nothing happens.
function besidePath(lanes) {
  const passed = (lane) => lane.used && lane.on_path, any = lanes.some(passed);
  return lanes.filter((lane) => !lane.hot && !(any ? passed(lane) : lane.used)).sort((a, b) => b.used - a.used);
}

// Names folded lanes: first those that are used, by the exchange inside a node and the library.
function sayBeside(lanes) {
  const names = (used) => lanes.filter((lane) => lane.used === used).map((lane) => lane.label).join(", ");
  return [["Beside the data path", names(true)], ["Idle", names(false)]].filter(([, text]) => text).map((part) => part.join(": ")).join("; ");
}

// Spaces that take a bold label's room, so that Bokeh leaves it at the left.
function asWide(label) {
  return "\u00a0".repeat(Math.ceil(widthOf(label, BESIDE.letters, true) / widthOf("\u00a0", BESIDE.letters)));
}

// How wide the marks of each lane are, in microseconds: on average over the time that has them, so that many short ones hide no long one.
function typicalMarks({ count, lane, start, done, end }, lanes) {
  const times = new Float64Array(lanes.length), squares = new Float64Array(lanes.length);
  for (let i = 0; i < count; i++) {
    const time = (lanes[lane[i]].rate ? end[i] : done[i]) - start[i];
    times[lane[i]] += time;
    squares[lane[i]] += time * time;
  }
  return squares.map((square, at) => square / (times[at] || 1));
}

function push(columns, row) {
  for (const name in columns) columns[name].push(row[name]);
}
