// What both have delivered until now, between the two the lead, and once the first is through what is still to come: before, it would tell how the race ends.
import { ticks } from "./labels.js";
import { freePlace, widthOf } from "./places.js";
import { svgShape, svgText } from "./svg.js";
import { digits, sayTime } from "./words.js";

const POINTS = 240;
const TICK = 56; // px that a moment's words need
const DOT = 5; // px: radius
const SAYING = 13; // px: size of what is ahead
const HALO = { "paint-order": "stroke", stroke: "var(--behind)", "stroke-linejoin": "round" }; // it stays readable on stripes

export class RaceChart {
  constructor(host, data, delivered) {
    Object.assign(this, { host, data, delivered });
  }

  paint(zoom) {
    const { host, data } = this, width = host.clientWidth, height = host.clientHeight;
    host.replaceChildren();
    host.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.zoom = zoom;
    const left = 40 * zoom, right = width - 12 * zoom, top = 10 * zoom, bottom = height - 22 * zoom;
    this.x = (time) => left + (time / data.end_us) * (right - left);
    this.y = (share) => bottom - share * (bottom - top);
    this.hatch(zoom);
    const all = data.same_way ? data.racers[0].total / data.unit_bytes : 100;
    for (const share of [0, 0.5, 1]) {
      svgShape("path", { d: `M${left} ${this.y(share)}H${right}`, stroke: "var(--pl-faint)" }, host);
      this.text(left - 6 * zoom, this.y(share) + 4 * zoom, digits(share * all) || "0", { "text-anchor": "end" });
    }
    for (const time of ticks(data.end_us, Math.floor((right - left) / (TICK * zoom)))) {
      const word = this.text(this.x(time), height - 6 * zoom, time ? sayTime(time) : "0", { "text-anchor": "middle" });
      word.setAttribute("x", Math.min(this.x(time), width - word.getComputedTextLength() / 2)); // the last one may stand at the edge
    }
    this.wedge = svgShape("path", { fill: "url(#rc-hatch)", stroke: "none" }, host);
    this.lines = data.racers.map(({ role }) => [
      svgShape("path", { class: "rc-rest", fill: "none", stroke: `var(--pl-${role}-ink)`, "stroke-width": 1.5 * zoom, "stroke-dasharray": `${2 * zoom} ${3 * zoom}` }, host),
      svgShape("path", { fill: "none", stroke: `var(--pl-${role})`, "stroke-width": 3 * zoom, "stroke-linejoin": "round" }, host),
    ]);
    this.lines.forEach(([rest], i) => rest.setAttribute("d", this.line(i, data.racers[i].finish_us)));
    this.cursor = svgShape("path", { stroke: "var(--pl-ink)", "stroke-width": 1.5 * zoom }, host);
    this.dots = data.racers.map(({ role }) => svgShape("path", { class: "rc-dot", fill: `var(--pl-${role})`, stroke: "var(--pl-box)", "stroke-width": 1.5 * zoom }, host));
    this.said = this.text(0, 0, "", { "font-weight": 700, "font-size": SAYING * zoom, ...HALO, "stroke-width": 4 * zoom });
    this.full = data.racers.map(({ finish_us }, i) => ({ points: this.points(i, finish_us), thick: 5 * zoom }));
  }

  hatch(zoom) {
    const pattern = svgShape("pattern", { id: "rc-hatch", width: 7 * zoom, height: 7 * zoom, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" }, svgShape("defs", {}, this.host));
    const first = this.data.racers.reduce((one, other) => (other.finish_us < one.finish_us ? other : one)); // who leads in the end, where nobody does any more
    this.stripes = [svgShape("rect", { width: 7 * zoom, height: 7 * zoom, opacity: 0.16 }, pattern), svgShape("rect", { width: 1.4 * zoom, height: 7 * zoom }, pattern)];
    for (const stripe of this.stripes) stripe.setAttribute("fill", `var(--pl-${first.role})`);
  }

  text(x, y, words, more) {
    return svgText(words, { x, y, fill: "var(--pl-muted)", "font-size": 12 * this.zoom, ...more }, this.host);
  }

  // A line up to a moment, as points in pixels.
  points(i, until) {
    return Array.from({ length: POINTS + 1 }, (_, k) => [this.x((k / POINTS) * until), this.y(this.delivered[i].at((k / POINTS) * until))]);
  }

  line(i, until) {
    return `M${this.points(i, until).map(([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`).join("L")}`;
  }

  // Draws the moment `time`; `lead` is who leads and by how much, in words and in fewer words or in none, or nothing.
  draw(time, shares, lead) {
    if (!this.cursor) return;
    const { data, zoom } = this, [one, other] = this.lines.map(([, past], i) => {
      const d = this.line(i, time);
      past.setAttribute("d", d);
      return d;
    });
    this.wedge.setAttribute("d", `${one}L${other.slice(1).split("L").reverse().join("L")}Z`);
    this.cursor.setAttribute("d", `M${this.x(time)} ${this.y(1)}V${this.y(0)}`);
    // Where they would lie on each other, each is half a dot.
    const r = DOT * zoom, apart = Math.abs(this.y(shares[0]) - this.y(shares[1])) >= r;
    const half = (side, way) => `a${r} ${r} 0 0 ${side} 0 ${2 * way * r}`;
    this.dots.forEach((dot, i) => dot.setAttribute("d", `M${this.x(time)} ${this.y(shares[i]) - r}${apart ? half(1, 1) + half(1, -1) : half(i, 1)}Z`));
    const role = lead && data.racers[lead.who].role;
    if (lead) for (const stripe of this.stripes) stripe.setAttribute("fill", `var(--pl-${role})`);
    if (!lead?.texts.length) return void (this.said.textContent = "");
    let place;
    for (const text of lead.texts) {
      this.said.textContent = text;
      place = this.sayingPlace(text, time, shares);
      if (place.clear) break;
    }
    const { x, y, anchor } = place;
    for (const [name, value] of Object.entries({ x, y, "text-anchor": anchor, fill: `var(--pl-${role}-ink)` })) this.said.setAttribute(name, value);
  }

  // Where it is said who leads: beside the moment, between both lines or below or above them, as near as no line is.
  sayingPlace(words, time, shares) {
    const { zoom } = this, wide = widthOf(words, SAYING * zoom, true), at = this.x(time), [above, below] = [Math.max(...shares), Math.min(...shares)].map((share) => this.y(share));
    const frame = { width: this.x(this.data.end_us), height: this.y(0) - 2 * zoom }, heights = [(above + below) / 2 + 5 * zoom, below + 20 * zoom, frame.height - 4 * zoom, above - 12 * zoom];
    for (let y = frame.height - 4 * zoom; y > 14 * zoom; y -= 6 * zoom) heights.push(y);
    const box = (x, y, anchor) => ({ x, y, anchor, box: { left: anchor === "end" ? x - wide : x, right: anchor === "end" ? x : x + wide, top: y - 11 * zoom, bottom: y + 4 * zoom } });
    const places = [11, 45, 90, 140].flatMap((far) => heights.flatMap((y) => [box(at - far * zoom, y, "end"), box(at + far * zoom, y, "start")])).filter(({ box: { left } }) => left >= this.x(0) + 2);
    const least = at > frame.width / 2 ? box(Math.max(at - 11 * zoom, wide + 2), heights[0], "end") : box(at + 11 * zoom, heights[0], "start");
    const place = freePlace([...places, least], frame, this.full, []);
    return { ...place, clear: place !== least };
  }
}
