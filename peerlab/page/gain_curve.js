// What the second data path gains at other batches: a curve with the step that is shown on it.
import { make } from "./dom.js";
import { freePlace, widthOf } from "./places.js";
import { svgShape, svgText } from "./svg.js";

const OUTLINE = { "paint-order": "stroke", stroke: "var(--pl-panel)", "stroke-width": 4, "stroke-linejoin": "round" }; // words stay readable on a line
const AROUND = { left: 38, right: 13, top: 16, bottom: 26 };
const NEAR = 80; // px: words farther from their point are shorter ones
const LEADS = 14; // px: a line leads from words that are farther
const TICK = 30; // px from a figure of the axis to the next
const LEAST_HEIGHT = 0.1; // of gain: a scale is at least so high, else a flat curve would look steep

export class GainCurve {
  constructor(host, { unit, points, here }) {
    Object.assign(this, { host: host.querySelector("svg"), points, here });
    host.querySelector("figcaption").replaceChildren(make("b", "", "Gain"), ` by ${unit}`);
    this.host.setAttribute("aria-label", `Gain of the step by ${unit}: ${points.map(([batch, gain]) => `${batch}: ${gain.toFixed(2)} times`).join(", ")}.`);
  }

  paint() {
    const { host, points, here } = this, width = host.clientWidth, height = host.clientHeight;
    if (!width || !height) return;
    const gains = points.map(([, gain]) => gain), low = Math.min(1, ...gains), high = roundAbove(low, Math.max(low + LEAST_HEIGHT, ...gains)); // a line of the grid lies above the curve
    const first = Math.log2(points[0][0]), wide = Math.log2(points[points.length - 1][0]) - first || 1;
    this.x = (batch) => AROUND.left + ((width - AROUND.left - AROUND.right) * (Math.log2(batch) - first)) / wide;
    this.y = (gain) => height - AROUND.bottom - ((height - AROUND.top - AROUND.bottom) * (gain - low)) / (high - low);
    host.setAttribute("viewBox", `0 0 ${width} ${height}`);
    host.replaceChildren();
    this.grid = roundGains(low, high).map((gain) => ({ points: [[AROUND.left, this.y(gain)], [width - AROUND.right, this.y(gain)]], thick: 2 }));
    for (const gain of roundGains(low, high)) {
      svgShape("path", { d: `M${AROUND.left} ${this.y(gain)}H${width - AROUND.right}`, stroke: `var(--pl-${gain === 1 ? "edge" : "faint"})` }, host);
      this.text(AROUND.left - 6, this.y(gain) + 4, `${+gain.toFixed(2)}×`, { "text-anchor": "end" });
    }
    const batches = this.ticks();
    for (const { batch, own } of batches) this.text(this.x(batch), height - 6, batch, { "text-anchor": "middle", ...(own && { "font-weight": 650, fill: "var(--pl-ink)" }) });
    svgShape("path", { d: points.map(([batch, gain], i) => `${i ? "L" : "M"}${this.x(batch).toFixed(1)} ${this.y(gain).toFixed(1)}`).join(""), fill: "none", stroke: "var(--pl-direct)", "stroke-width": 2.5, "stroke-linejoin": "round" }, host);
    for (const [batch, gain] of points) svgShape("circle", { cx: this.x(batch), cy: this.y(gain), r: 3, fill: "var(--pl-panel)", stroke: "var(--pl-direct)", "stroke-width": 2 }, host);
    const [x, y] = [this.x(here[0]), this.y(here[1])];
    svgShape("circle", { cx: x, cy: y, r: 6, fill: "var(--pl-direct)", stroke: "var(--pl-ink)", "stroke-width": 2 }, host);
    const room = { width, height: height - AROUND.bottom }, far = ({ box }) => Math.max(y - box.bottom, box.top - y, 0);
    const places = ["you are here", "here"].map((words) => ({ words, ...this.placeOf(x, y, widthOf(words, 12, true), room) }));
    const at = places.find((place) => far(place) < NEAR) ?? places.sort((a, b) => far(a) - far(b))[0];
    if (far(at) > LEADS) svgShape("path", { d: at.y < y ? `M${x} ${at.box.bottom + 2}V${y - 7}` : `M${x} ${at.box.top - 2}V${y + 7}`, stroke: "var(--pl-ink)" }, host);
    this.text(at.x, at.y, at.words, { fill: "var(--pl-ink)", "font-weight": 650, ...OUTLINE });
  }

  // The figures of the axis: this step's batch, both ends, and from the step's on every doubling that has room, or every second, third one; another batch that is no doubling stands in their place.
  ticks() {
    const [own] = this.here, batches = this.points.map(([batch]) => batch), doublings = batches.filter((batch) => Number.isInteger(Math.log2(batch)));
    const start = Math.max(0, doublings.indexOf(own)), each = Math.ceil(TICK / (this.x(2) - this.x(1))), named = [own];
    for (const batch of [batches[0], batches.at(-1), ...doublings.filter((_, i) => (i - start) % each === 0)])
      if (named.every((other) => Math.abs(this.x(batch) - this.x(other)) >= TICK)) named.push(batch);
    return named.map((batch) => ({ batch, own: batch === own }));
  }

  // Where words about a point stand: over it, below it or beside it, as near as they lie on no line; clear of the grid, too, if that is possible.
  placeOf(x, y, wide, room) {
    const places = [], curve = { points: this.points.map(([batch, gain]) => [this.x(batch), this.y(gain)]), thick: 10 }; // with its dots
    const add = (left, base) => places.push({ x: left, y: base, box: { left, right: left + wide, top: base - 10, bottom: base + 3 } });
    const middle = Math.max(AROUND.left, Math.min(x - wide / 2, room.width - wide));
    for (let far = 0; far < room.height; far++) {
      for (const base of [y - 12 - far, y + 20 + far]) for (const left of [middle, x - 6, x + 6 - wide, room.width - wide]) if (left < x && x < left + wide) add(left, base);
      if (far === LEADS) for (const left of [x + 14, x - 14 - wide]) add(left, y + 4);
    }
    const scale = [{ left: 0, right: AROUND.left, top: 0, bottom: room.height }];
    return freePlace([...places, freePlace(places, room, [curve], scale)], room, [curve, ...this.grid], scale);
  }

  text(x, y, words, more) {
    svgText(words, { x, y, fill: "var(--pl-muted)", "font-size": 12, ...more }, this.host);
  }
}

// From a line of the grid to the next.
function stepOf(low, high) {
  return [0.02, 0.05, 0.1, 0.2, 0.5, 1, 2].find((step) => (high - low) / step <= 5 + 1e-9) ?? 5;
}

// The round figure at `high` or next above it.
function roundAbove(low, high) {
  const each = stepOf(low, high);
  return Math.ceil(high / each - 1e-9) * each;
}

// Round figures from `low` to `high`, four or so.
function roundGains(low, high) {
  const each = stepOf(low, high), gains = [];
  for (let at = Math.ceil(low / each - 1e-9); at * each <= high + 1e-9; at++) gains.push(+(at * each).toFixed(4));
  return gains;
}
