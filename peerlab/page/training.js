// A training step: what the devices compute, the buckets that they exchange, the time that they wait, and below it the data path of the
// bucket under way, on one of two paths. One clock with two zooms: the step, or one bucket.
import { make, showWords } from "./dom.js";
import { fitFrame } from "./frame.js";
import { GainCurve } from "./gain_curve.js";
import { ticks } from "./labels.js";
import { unpacked } from "./packed.js";
import { widthOf } from "./places.js";
import { beginPlayed, choiceOf, forControl, PlayedPage } from "./played.js";
import { RaceRoad } from "./race_road.js";
import { endOf, roundTime } from "./step_end.js";
import { svgShape, svgText } from "./svg.js";
import { sayTime } from "./words.js";

/**
 * @typedef {object} StepParcel What the page of a step gets
 * @property {string} about
 * @property {string} counted
 * @property {string} source
 * @property {StepControl[]} controls
 * @property {number[]} start
 * @property {StepState[]} states
 * @property {Road[]} roads
 */
/**
 * @typedef {object} StepControl Something that a reader may change
 * @property {string} label
 * @property {string} tip
 * @property {string[]} values
 */
/**
 * @typedef {object} StepState What is shown for one combination of the controls' values
 * @property {StepSide[]} sides
 * @property {StepHeadline} headline
 * @property {string} exchanged
 * @property {GainAtBatches | null} gain
 * @property {string[][]} rows
 * @property {string} words
 */
/**
 * @typedef {object} StepHeadline The large figure
 * @property {string} label
 * @property {string} value
 * @property {string} after
 * @property {string} note
 * @property {string} rests
 * @property {boolean} good
 */
/**
 * @typedef {object} GainAtBatches What the second data path gains at other batches
 * @property {string} unit
 * @property {number[][]} points
 * @property {number[]} here
 */
/**
 * @typedef {object} StepSide The step on one data path
 * @property {string} title
 * @property {string} role
 * @property {number} end_us
 * @property {number[][]} computing
 * @property {number[][]} waiting
 * @property {number[][]} flight
 * @property {number[][]} exposed
 * @property {string[]} names
 * @property {number[]} roads
 */
const WATCHED_S = 12; // a step, or a bucket, lasts this long at the usual speed
const COMPUTING = 20; // px: how high the lane of computing is
const LANE = { title: 24, exposed: [4, 13], flight: [18, 46], waiting: 51, high: 59, gap: 8 }; // px: a path's lane, the room above it for its words, and below it; each further row of waits adds to it
const WAIT = { pitch: 5, room: 20, thick: 0.6 }; // px from a row of waits to the next, px that all rows share, and how much of a row is its line
const AXIS = 20; // px
const RADIO = 22; // px: of a path's name, before its letters
const ASIDE = { least: 120, gap: 12 }; // px: the enlarged end, and between it and the step
const WORD_PX = 14, NUMBER_PX = 13, TICK_PX = 12; // px: the words above the lanes, a bucket's number, and the words of the axis
const NUMBERED = /^bucket (\d+)/; // a layer's name has numbers of sizes
const BETWEEN_TICKS = 8; // px: words of the axis are so far apart
const MOST_TICKS = 7;
const PHASES = [{ words: "forward", fill: "faint", ink: "ink" }, { words: "backward", fill: "gather", ink: "ink" }, { words: "optimizer", fill: "muted", ink: "paper" }];
const THUMB = 14; // px: of the slider, whose middle stands at the moment
const LEAST = 0.4; // px; what is narrower joins its neighbour
const THIN = 3; // px: how narrow a box is at least
const PARTED = 2; // px: between two boxes that follow on each other
const HATCH = 5; // px from line to line; a wait has room for two where no other one follows it

const HTML = `
<div class="ts-top"><h1></h1><div class="ts-controls"></div></div>
<div class="ts-hero"><p class="ts-label"></p><p class="ts-value" aria-live="polite"></p><p class="ts-note"></p></div>
<div class="ts-bar"><fieldset class="ts-zoom" aria-labelledby="ts-plays"><b id="ts-plays">Play</b><label><input type="radio" name="ts-zoom" value="step" checked> whole step</label>
<label><input type="radio" name="ts-zoom" value="bucket"> one bucket</label></fieldset><div class="pl-player" role="group" aria-label="Player"></div></div>
<div class="ts-moment"></div>
<div class="ts-timeline"><svg class="ts-lanes" role="img" preserveAspectRatio="xMidYMin"></svg><fieldset class="ts-path"><legend>Data path shown below</legend></fieldset></div>
<ul class="ts-key"><li><i class="ts-swatch"></i><span></span></li><li class="ts-key-waits"><i class="ts-swatch ts-thin"></i>bucket that waits</li>
<li class="ts-key-pause"><i class="ts-swatch ts-slanted"></i>devices wait (exposed)</li><li><i class="ts-swatch ts-outlined"></i>shown below</li></ul>
<div class="ts-lower"><section class="ts-road"><div class="ts-under"><h2><select class="ts-bucket" aria-label="Bucket"></select></h2><p></p></div>
<svg role="img"></svg></section><figure class="ts-gain"><figcaption></figcaption><svg role="img"></svg></figure></div>
<details class="ts-more"><summary></summary><table class="ts-rows"></table><p class="ts-rests"></p><p class="ts-source"></p></details>`;

class StepPage extends PlayedPage {
  constructor(host, data, wanted, palettes) {
    super(host, data, wanted, palettes, HTML);
    for (const { slices } of data.roads) for (const [name, text] of Object.entries(slices.arrays)) slices.arrays[name] = unpacked(text);
    this.numbers = [...data.start];
    this.followed = null; // the exchange whose clock it is; none: the step's
    this.chosen = null; // the exchange that the list names: on the step's clock the one under way, of the path whose road is shown
    this.side = 0; // whose road is shown
    // In a report, and not in the lab, whose controls are around it, more is folded below the frame.
    this.root.classList.toggle("ts-report", wanted.mode === "frame" && !frameElement?.closest(".pl-explorer"));
    this.find("h1").textContent = data.about;
    this.find(".ts-more summary").textContent = data.counted;
    this.find(".ts-source").textContent = data.source;
    this.find(".ts-moment").append(this.player.bar); // a row of its own, as wide as the lanes' scale
    this.fillControls();
    this.show();
    this.listen();
    this.open();
    this.keepInAddress(this.addressParts());
    this.followRange();
  }

  // In the lab the range of the gain comes later: the kernel writes the headline that has it beside this frame, which goes on playing.
  followRange() {
    const beside = this.wanted.mode === "frame" && frameElement?.closest(".pl-explorer")?.querySelector(".pl-step-sure");
    if (!beside) return;
    const look = () => {
      const given = beside.querySelector("[data-headline]");
      if (!given) return;
      this.fillHeadline(JSON.parse(given.dataset.headline));
      fitFrame(this.root);
    };
    new MutationObserver(look).observe(beside, { childList: true, subtree: true });
    look();
  }

  // What a link says of this page: each control's value, the number of the exchange whose clock it is, the path whose road is shown.
  addressParts() {
    const controls = this.data.controls.map(({ label, values }, i) => [label, choiceOf(() => values, () => this.numbers[i], (number) => this.control(i, number))]);
    return {
      ...Object.fromEntries(controls),
      exchange: choiceOf(() => this.state.sides[0].names.map((_, i) => String(i + 1)), () => this.followed ?? -1, (number) => this.follow(number)),
      road: choiceOf(() => this.state.sides.map(({ title }) => title), () => this.side, (number) => this.showPath(number)),
    };
  }

  control(i, number) {
    this.numbers[i] = number;
    this.find(".ts-controls").querySelectorAll("select")[i].value = number;
    this.show();
  }

  showPath(number) {
    this.choosePath(number);
    this.player.draw();
  }

  // Begins where the exposed exchange is seen, at the middle of the last one of the faster side; play then begins at the start.
  open() {
    const sides = this.state.sides, last = sides.map(({ flight }) => flight[flight.length - 1]).filter(Boolean).sort((a, b) => a[1] - b[1])[0];
    if (!last) return;
    this.player.seek((last[0] + last[1]) / 2);
    this.opened = this.player.time;
  }

  // Before play: what nobody has moved yet begins at the start.
  rewind() {
    if (this.player.time === this.opened) this.player.seek(0);
    this.opened = null;
  }

  get state() {
    const { controls, states } = this.data;
    return states[controls.reduce((place, { values }, i) => place * values.length + this.numbers[i], 0)];
  }

  fillControls() {
    this.data.controls.forEach(({ label, tip, values }, i) => {
      const choice = make("select", "");
      choice.setAttribute("aria-label", label);
      choice.title = tip;
      values.forEach((value, n) => choice.append(new Option(value, n, n === this.numbers[i], n === this.numbers[i])));
      choice.addEventListener("change", () => {
        this.numbers[i] = Number(choice.value);
        this.show();
      });
      const named = make("label", "", `${capital(label)} `);
      named.title = tip;
      named.append(choice);
      this.find(".ts-controls").append(named);
    });
  }

  // Shows another state: other controls, with what was chosen as far as it is there.
  show() {
    const { sides, rows, words, gain } = this.state, names = sides[0].names, last = names.length - 1;
    this.find(".ts-bucket").replaceChildren(...names.map((name, i) => new Option(capital(name), i)));
    const chosen = Math.min(this.chosen ?? last, last);
    this.chosen = null; // a new list names its first
    this.name(chosen);
    this.fillHeadline(this.state.headline);
    this.find(".ts-key span").textContent = this.state.exchanged;
    // As the lanes: of two paths, half of each colour.
    const colours = sides.map(({ role }) => `var(--pl-${role})`);
    this.find(".ts-swatch").style.background = sides.length > 1 ? `linear-gradient(90deg, ${colours[0]} 50%, ${colours[1]} 50%)` : colours[0];
    const table = this.find(".ts-rows"), head = document.createElement("tr"), two = sides.length > 1;
    for (const text of ["", ...sides.map(({ title }) => title), ...(two ? ["ratio"] : [])]) head.append(Object.assign(make(text ? "th" : "td", "", text), text ? { scope: "col" } : {}));
    table.replaceChildren(head, ...rows.map(([what, ...cells]) => {
      const row = document.createElement("tr");
      row.append(Object.assign(make("th", "", what), { scope: "row" }), ...cells.slice(0, two ? 3 : 1).map((cell) => make("td", "", cell)));
      return row;
    }));
    this.find(".ts-lanes").setAttribute("aria-label", words);
    this.fillPaths();
    this.find(".ts-gain").hidden = !gain;
    this.curve = gain && new GainCurve(this.find(".ts-gain"), gain);
    this.road = null;
    this.paint();
    this.follow(this.followed === null ? null : this.chosen);
  }

  fillHeadline({ label, value, after, note, rests, good }) {
    this.find(".ts-hero").classList.toggle("ts-good", good);
    this.find(".ts-label").textContent = label;
    this.find(".ts-value").replaceChildren(make("b", "", value), ...(after ? [make("small", "", ` ${after}`)] : []));
    this.find(".ts-note").textContent = note.replaceAll(" %", "\u00a0%");
    this.find(".ts-rests").textContent = rests;
  }

  // The names of two paths above their lanes, of which one is chosen to have its road below; of one path nothing is to be chosen.
  fillPaths() {
    const { sides } = this.state, host = this.find(".ts-path");
    host.hidden = sides.length < 2;
    this.side = Math.min(this.side, sides.length - 1);
    const labels = sides.map(({ title, role }, i) => {
      const label = Object.assign(make("label", ""), { title: "Show this data path below" }), choice = Object.assign(make("input", ""), { type: "radio", name: "ts-path", value: i, checked: i === this.side });
      choice.addEventListener("change", () => this.showPath(i));
      label.style.color = `var(--pl-${role}-ink)`;
      label.append(choice, title);
      return label;
    });
    host.replaceChildren(host.querySelector("legend"), ...labels);
    this.choosePath(this.side);
  }

  choosePath(number) {
    this.side = number;
    this.road = null;
    for (const choice of this.root.querySelectorAll("[name=ts-path]")) choice.checked = Number(choice.value) === number;
  }

  // Gives the clock to one exchange, or to the step.
  follow(number) {
    this.followed = number;
    if (number !== null) this.name(number);
    this.root.dataset.zoom = number === null ? "step" : "bucket";
    this.placeSlider();
    for (const one of this.root.querySelectorAll("[name=ts-zoom]")) one.checked = one.value === this.root.dataset.zoom;
    const moments = this.moments(), length = Math.max(...this.state.sides.map((side) => (number === null ? side.end_us : lasts(side, number))));
    this.load(length, length / WATCHED_S, `${number}/${this.numbers}/${length}`, moments);
    this.player.draw();
  }

  // Lets the list name an exchange.
  name(number) {
    if (number === this.chosen) return;
    this.chosen = number;
    this.find(".ts-bucket").value = number;
  }

  // When something begins or ends.
  moments() {
    const found = new Set();
    for (const side of this.state.sides)
      if (this.followed === null) for (const [begin, end] of [...side.computing, ...side.flight]) found.add(begin).add(end);
      else found.add(lasts(side, this.followed));
    return [...found].sort((a, b) => a - b);
  }

  // ---- the lanes ------------------------------------------------------------------------------------------------

  paint() {
    const host = this.find(".ts-lanes"), { sides } = this.state, width = host.clientWidth || 1080;
    this.longest = Math.max(...sides.map(({ end_us }) => end_us)) || 1;
    this.width = width;
    const from = endOf(sides, this.longest, width / this.longest), aside = from === null ? 0 : asideOf(width);
    const whole = { wide: aside ? width - aside - ASIDE.gap : width, from: 0 }, end = { wide: aside, from, words: false };
    for (const view of [whole, end]) view.x = (time) => (view.wide * (time - view.from)) / (this.longest - view.from);
    this.aside = aside;
    this.views = aside ? [whole, end] : [whole];
    this.x = whole.x;
    // devices compute the same on both paths, unless exchanges slow them down
    const alike = sides.every(({ computing }) => this.alike(computing, sides[0].computing)), shared = alike ? LANE.title + COMPUTING + LANE.gap : aside ? LANE.title : 0;
    this.waits = sides.map(({ waiting }) => inRows(waiting.filter((wait) => this.views.some(({ x }) => seen(wait, x)))));
    this.pitches = this.waits.map((waits) => Math.min(WAIT.pitch, WAIT.room / rowsOf(waits)));
    this.high = LANE.high + Math.max(...this.waits.map((waits, i) => (rowsOf(waits) - 1) * this.pitches[i]));
    const each = LANE.title + this.high + LANE.gap + (alike ? 0 : COMPUTING), high = shared + sides.length * each + AXIS;
    host.setAttribute("viewBox", `0 0 ${width} ${high}`);
    host.replaceChildren();
    const times = `${enlarged(end, whole)}\u00d7`, larger = !aside ? "" : ["end of the step", "end of step"].map((what) => `${what}, ${times}`).find((words) => widthOf(words, WORD_PX) <= aside) ?? `end, ${times}`; // no wider than what it names
    const titled = () => (alike || aside) && this.title(host, LANE.title, { title: alike ? "Computing" : "", more: alike && sides.length > 1 ? "the same on both data paths" : "", aside: larger });
    this.tops = sides.map((_, i) => shared + (i + 1) * each - LANE.gap - this.high);
    for (const view of this.views) this.paintView(view, view === whole ? host : svgShape("svg", { x: width - aside, width: aside, height: high, class: "ts-end" }, host), alike);
    this.x = whole.x;
    this.clock = svgShape("rect", { class: "ts-clock", x: -0.75, width: 1.5, y: -4, height: high - AXIS + 6, fill: "var(--pl-ink)", "pointer-events": "none" }, host);
    titled();
    sides.forEach((side, i) => this.paintWords(host, i, this.tops[i] - (alike ? 0 : COMPUTING)));
    host.append(...host.querySelectorAll(":scope > text")); // words lie on the line of the clock
    this.placeSlider();
    this.axis(host, high - AXIS + 6);
    if (aside) this.pull(host, whole, end, high - AXIS + 6);
    this.find(".ts-key-waits").hidden = !this.waits.flat().length;
    this.find(".ts-key-pause").hidden = !sides.some(({ exposed }) => exposed.length);
    this.road?.paint(1);
    this.curve?.paint();
  }

  // The slider of the step is as long as its lanes are, so that a moment stands at one place; that of a bucket is as long as the page is wide.
  placeSlider() {
    const end = this.followed === null ? this.x(this.longest) : this.width;
    Object.assign(this.player.bar.style, { width: `${end + THUMB}px`, marginLeft: `${-THUMB / 2}px` });
  }

  // Paints the lanes of the whole step, or of its end.
  paintView(view, host, alike) {
    const { sides } = this.state;
    this.x = view.x;
    if (alike) this.paintComputing(host, sides[0], LANE.title, view);
    sides.forEach((side, i) => this.paintSide(host, i, alike, view));
    view.moments = sides.map((_, i) => svgShape("rect", { class: "ts-now", x: -1, width: 2, y: this.tops[i] - 1, height: this.high + 2, fill: "var(--pl-ink)", "pointer-events": "none" }, host));
    if (view === this.views[0]) this.mark = svgShape("rect", { class: "ts-chosen", fill: "none", stroke: "var(--pl-ink)", "stroke-width": 2, rx: 2, height: LANE.flight[1] - LANE.flight[0] + 6, "pointer-events": "none" }, host);
  }

  // From the whole step to its enlarged end a funnel, and below that how long a stretch of it is.
  pull(host, whole, end, top) {
    const left = this.width - end.wide, each = end.x(1) - end.x(0), time = roundTime(end.wide * 0.75, each), far = left + time * each;
    for (const lane of this.tops) {
      const middle = lane + (LANE.flight[0] + LANE.flight[1]) / 2, narrow = 5;
      svgShape("path", { d: `M${whole.wide + 4} ${middle - narrow}L${left} ${lane + 1}V${lane + this.high - 1}L${whole.wide + 4} ${middle + narrow}z`, fill: "var(--pl-faint)" }, host);
    }
    svgShape("path", { d: `M${left} ${top - 4}v4H${far.toFixed(1)}v-4`, stroke: "var(--pl-edge)", fill: "none" }, host);
    text(host, (left + far) / 2, top + 12, sayTime(time), { "text-anchor": "middle", fill: "var(--pl-muted)", "font-size": TICK_PX });
  }

  // Whether the operations of two paths that take any time lie on each other, to a pixel.
  alike(...paths) {
    const [some, others] = paths.map((computing) => computing.filter(([begin, end]) => end > begin));
    return some.length === others.length && some.every(([begin, end], i) => Math.max(Math.abs(this.x(begin) - this.x(others[i][0])), Math.abs(this.x(end) - this.x(others[i][1]))) < 1);
  }

  // Writes the words above a lane: its name, what it takes, and at its end how long the devices wait; what has no room beside the others is left out.
  title(host, below, { title, before = widthOf(title, WORD_PX, true), ink = "ink", more = "", waits = "", aside = "" }) {
    const y = below - 7, words = waits || aside, wide = widthOf(words, WORD_PX, !aside), fits = wide <= this.aside, room = this.width - (fits && words ? this.aside : wide);
    const last = fits ? { x: room } : { x: this.width, "text-anchor": "end" }; // where the end is enlarged it begins with it
    if (title) text(host, 0, y, title, { fill: `var(--pl-${ink})`, "font-weight": 650 });
    if (more && before + widthOf(more, WORD_PX) + 24 < room) text(host, before + 10, y, more, { fill: "var(--pl-muted)" });
    if (aside) text(host, last.x, y, aside, { ...last, fill: "var(--pl-muted)" });
    if (waits && before + 16 < room) text(host, last.x, y, waits, { ...last, fill: `var(--pl-${ink})`, "font-weight": 650 });
  }

  // Paints what devices compute, each phase as one box until they wait.
  paintComputing(host, { computing }, top, { words = true }) {
    const runs = [];
    for (const [begin, end, phase] of computing) {
      const last = runs.at(-1);
      if (last && last[2] === phase && this.x(begin) - this.x(last[1]) < 1) last[1] = end;
      else runs.push([begin, end, phase]);
    }
    const named = new Set();
    for (const [begin, end, phase] of runs) {
      const left = this.x(begin), wide = this.x(end) - left, name = PHASES[phase];
      if (wide < LEAST) continue;
      svgShape("rect", { x: left, y: top, width: Math.max(LEAST, wide - 1), height: COMPUTING, rx: 2, fill: `var(--pl-${name.fill})` }, host);
      if (!words || named.has(phase) || wide < widthOf(name.words, WORD_PX) + 12) continue;
      named.add(phase);
      text(host, left + wide / 2, top + COMPUTING / 2 + 4, name.words, { "text-anchor": "middle", fill: `var(--pl-${name.ink})` });
    }
  }

  // The words above a path's lane: of two paths the name is a choice on the page, with room for it here; of one path the headline has the times.
  paintWords(host, number, below) {
    const { title, role, end_us: end, exposed } = this.state.sides[number], ink = `${role}-ink`;
    if (this.state.sides.length < 2) return void this.title(host, below, { title, ink });
    this.find(".ts-path").querySelectorAll("label")[number].style.top = `${below - LANE.title}px`;
    const sum = exposed.reduce((sum, [begin, end]) => sum + end - begin, 0), words = sum > 0 ? [`devices wait ${sayTime(sum)}`, `wait ${sayTime(sum)}`] : ["devices never wait", "never wait"];
    const waits = words.find((one) => !this.aside || widthOf(one, WORD_PX, true) <= this.aside) ?? words[1]; // no wider than the end that they stand above
    this.title(host, below, { title: "", before: RADIO + widthOf(title, WORD_PX, true), ink, more: `${sayTime(end)} a step`, waits });
  }

  paintSide(host, number, alike, view) {
    const side = this.state.sides[number], top = this.tops[number], { role, end_us: end } = side;
    svgShape("rect", { x: 0, y: top, width: view.wide, height: this.high, fill: "var(--pl-panel)", rx: 4, "data-side": number }, host);
    if (!alike) this.paintComputing(host, side, top - COMPUTING, view);
    const later = (view === this.views[0] && this.views[1]?.from) || Infinity; // what is seen enlarged is not drawn twice
    side.exposed.forEach(([begin, end], i) => {
      const room = this.x(side.exposed[i + 1]?.[0] ?? Infinity), right = Math.max(this.x(end), Math.min(this.x(begin) + 2 * HATCH, room));
      if (begin < later) this.hatch(host, [this.x(begin), top + LANE.exposed[0], right, top + LANE.exposed[1]], role);
    });
    this.paintWaits(host, number);
    this.boxes(host, number);
    if (!side.flight.some((one) => Math.abs(this.x(one[1]) - this.x(end)) < 4)) svgShape("line", { x1: this.x(end), x2: this.x(end), y1: top, y2: top + this.high, stroke: `var(--pl-${role})`, "stroke-width": 2 }, host);
  }

  // A line for each bucket that waits, from when it is ready to when it begins; those that wait at one time lie below each other.
  paintWaits(host, number) {
    const { flight, names } = this.state.sides[number], pitch = this.pitches[number];
    for (const { begin, end, row } of this.waits[number]) {
      const line = svgShape("rect", { class: "ts-wait", x: this.x(begin), y: this.tops[number] + LANE.waiting + row * pitch, width: Math.max(LEAST, this.x(end) - this.x(begin) - 1), height: pitch * WAIT.thick, fill: "var(--pl-muted)" }, host);
      const whose = flight.findIndex(([starts]) => Math.abs(starts - end) < 1e-6);
      svgShape("title", {}, line).textContent = `${capital(numbered(names[whose] ?? "bucket"))} waits ${sayTime(end - begin)}`;
    }
  }

  // The exchanges of a path, each with its number where it has room; what begins before an enlarged end has none there.
  boxes(host, side) {
    const { flight, names, role } = this.state.sides[side], [above, below] = LANE.flight.map((y) => this.tops[side] + y);
    flight.forEach(([start, stop, exposed], i) => {
      const begin = this.x(start), end = this.x(stop), room = i + 1 < flight.length ? this.x(flight[i + 1][0]) - begin - 1 : THIN; // a box that has room is never a hairline
      const width = Math.max(0.6, Math.min(THIN, room), end - begin - Math.min(PARTED, (end - begin) / 4));
      const box = svgShape("rect", { x: begin, y: above, width, height: below - above, fill: `var(--pl-${role})` }, host), [, number] = NUMBERED.exec(names[i]) ?? ["", ""];
      Object.assign(box.dataset, { exchange: i, side });
      svgShape("title", {}, box).textContent = `${capital(names[i])}: ${sayTime(stop - start)}, for ${sayTime(exposed)} of it devices wait`;
      if (begin >= 0 && widthOf(number, NUMBER_PX, true) + 6 <= width) text(host, begin + width / 2, (above + below) / 2 + 4.5, number, { class: "ts-number", "text-anchor": "middle", "font-weight": 650, "font-size": NUMBER_PX });
    });
  }

  // Slanted lines inside a box; those of all boxes lie on one grid, so that boxes side by side are one hatch.
  hatch(host, [left, top, right, bottom], role) {
    const high = bottom - top;
    let d = "";
    for (let start = Math.floor((left - high) / HATCH) * HATCH; start < right; start += HATCH) {
      const begin = Math.max(start, left), end = Math.min(start + high, right);
      if (end > begin) d += `M${begin.toFixed(1)} ${(bottom - begin + start).toFixed(1)}L${end.toFixed(1)} ${(bottom - end + start).toFixed(1)}`;
    }
    svgShape("path", { d, stroke: `var(--pl-${role})`, "stroke-width": 2, fill: "none", "pointer-events": "none" }, host);
  }

  axis(host, top) {
    const room = this.x(this.longest) / (widthOf(sayTime(this.longest), TICK_PX) + BETWEEN_TICKS);
    for (const at of ticks(this.longest, room, MOST_TICKS)) {
      svgShape("line", { x1: this.x(at), x2: this.x(at), y1: top - 4, y2: top, stroke: "var(--pl-edge)" }, host);
      const words = at ? sayTime(at) : "0", half = widthOf(words, TICK_PX) / 2;
      text(host, Math.min(this.x(at), this.width - half), top + 12, words, { "text-anchor": "middle", fill: "var(--pl-muted)", "font-size": TICK_PX });
    }
  }

  // Outlines an exchange in the lane of the path that is shown below: in the whole step, as all of its end is the last one.
  outline([begin, end]) {
    const [{ x, wide }] = this.views, left = x(begin) - 3, right = Math.min(wide - 2, Math.max(left + 7, x(end) + 2)), box = { x: left.toFixed(1), y: this.tops[this.side] + LANE.flight[0] - 3, width: (right - left).toFixed(1) }; // within its lane
    for (const [name, value] of Object.entries(box)) if (this.mark.getAttribute(name) !== String(value)) this.mark.setAttribute(name, value);
  }

  // ---- the clock ------------------------------------------------------------------------------------------------

  // Draws the moment `time` of the clock, microseconds; `flow` is microseconds per second of watching.
  draw(time, flow) {
    if (!this.views) return;
    const moving = this.player?.playing ? flow : 0;
    this.clock.setAttribute("transform", `translate(${this.views[0].x(time).toFixed(1)} 0)`);
    this.state.sides.forEach((side, i) => {
      const at = this.followed === null ? under(side, time) : this.followed, [begin, end] = side.flight[at] ?? [0, 0];
      const now = this.followed === null ? time : Math.min(begin + time, end);
      for (const { moments, x } of this.views) moments[i].setAttribute("transform", `translate(${x(Math.min(now, side.end_us)).toFixed(1)} 0)`);
      if (!side.flight[at] || i !== this.side) return;
      this.outline(side.flight[at]);
      this.name(at);
      this.drawRoad(side, at, now, moving);
    });
  }

  drawRoad(side, at, now, moving) {
    const host = this.find(".ts-road"), [begin, end] = side.flight[at], road = this.data.roads[side.roads[at]];
    if (this.road?.road !== road) {
      this.road = new RaceRoad(host.querySelector("svg"), road, { alone: true, both: true, role: side.role });
      this.road.paint(1);
      host.querySelector("p").style.color = `var(--pl-${side.role}-ink)`; // whose bucket it is: its name stands at its lane
    }
    const before = now < begin, done = now >= end - 1e-6, since = sayTime(now - begin);
    const doing = before ? "waits for its gradients" : done ? `done after ${sayTime(end - begin)}` : `${since} of ${sayTime(end - begin)}`;
    // how long it takes its lane says; on its own clock the player says both
    showWords(host.querySelector("p"), before || done ? doing : this.followed === null ? `under way for ${since}` : "under way");
    host.classList.toggle("ts-idle", (before || done) && !moving); // nobody is busy then; while it plays words stand still
    host.querySelector("svg").setAttribute("aria-label", `${side.title}: ${side.names[at]}, ${doing}`);
    this.road.draw(Math.max(0, Math.min(now - begin, end - begin)), now < begin || now >= end ? 0 : moving, !this.calm);
  }

  // ---- what a reader does ---------------------------------------------------------------------------------------

  turn(by) {
    const count = this.state.sides[0].names.length;
    if (count) this.follow(Math.max(0, Math.min(count - 1, this.chosen + by)));
  }

  listen() {
    const pick = this.find(".ts-bucket");
    pick.addEventListener("change", () => this.follow(Number(pick.value)));
    this.find(".ts-more").addEventListener("toggle", () => this.wanted.mode === "frame" && fitFrame(this.root));
    for (const one of this.root.querySelectorAll("[name=ts-zoom]")) one.addEventListener("change", () => this.follow(one.value === "step" ? null : this.chosen));
    this.find(".ts-lanes").addEventListener("click", ({ target }) => this.pointAt(target.dataset ?? {}));
    this.find(".pl-play").addEventListener("click", () => this.rewind(), { capture: true });
    const keys = { s: () => this.follow(null), b: () => this.follow(this.chosen), n: () => this.turn(1), p: () => this.turn(-1) };
    this.listenToKeys(keys, forControl, () => this.begin());
    this.paintWhenSized([".ts-lanes", ".ts-lower"], () => this.paint());
  }

  // A lane that is clicked on has its road below, and one of its buckets the clock.
  pointAt({ side, exchange }) {
    if (side !== undefined) this.choosePath(Number(side));
    if (exchange !== undefined) this.follow(Number(exchange));
    else if (side !== undefined) this.player.draw();
  }

  begin() {
    this.rewind();
    this.player.toggle();
  }
}

// How wide the enlarged end is: a quarter, in a wide window a third; the same in training.css, where the curve stands below it.
function asideOf(width) {
  return Math.max(ASIDE.least, 0.25 * width, Math.min(0.34 * width, 0.55 * width - 360));
}

// How many times as large the end is as in the whole step.
function enlarged(end, whole) {
  const times = (end.x(1) - end.x(0)) / (whole.x(1) - whole.x(0));
  return times < 9.5 ? times.toFixed(1) : times.toFixed(0);
}

// How long an exchange takes.
function lasts({ flight }, number) {
  const [begin, end] = flight[number] ?? [0, 0];
  return end - begin;
}

// Whether a wait is broad enough to be seen.
function seen([begin, end], x) {
  return x(end) - x(begin) >= 2;
}

// Waits in as few rows as leave each of them whole.
function inRows(waits) {
  const ends = [];
  return waits.map(([begin, end]) => {
    const free = ends.findIndex((last) => last <= begin), row = free < 0 ? ends.length : free;
    ends[row] = end;
    return { begin, end, row };
  });
}

function rowsOf(waits) {
  return Math.max(1, ...waits.map(({ row }) => row + 1));
}

// What an exchange is, without its size.
function numbered(name) {
  return name.split(",")[0];
}

// The exchange under way at a moment; before the first it is the first, and between two the one that was last.
function under({ flight }, time) {
  let found = 0;
  for (let i = 0; i < flight.length && flight[i][0] <= time; i++) found = i;
  return found;
}

function text(host, x, y, words, more) {
  return svgText(words, { x, y, "font-size": WORD_PX, ...more }, host);
}

function capital(words) {
  return words.charAt(0).toUpperCase() + words.slice(1);
}

beginPlayed("ts", StepPage);
