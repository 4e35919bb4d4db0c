// What both have delivered until now, what is still to come, and between the two the lead.
import { svgShape } from "./svg.js";
import { digits, sayTime } from "./words.js";

const POINTS = 240;
const HALO = { "paint-order": "stroke", stroke: "var(--pl-paper)", "stroke-linejoin": "round" }; // words stay readable on a line

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
    for (const time of ticks(data.end_us)) this.text(this.x(time), height - 6 * zoom, time ? sayTime(time) : "0", { "text-anchor": "middle" });
    this.wedge = svgShape("path", { fill: "url(#rc-hatch)", stroke: "none" }, host);
    this.lines = data.racers.map(({ role }) => [
      svgShape("path", { fill: "none", stroke: `var(--pl-${role}-ink)`, "stroke-width": 1.5 * zoom, "stroke-dasharray": `${2 * zoom} ${3 * zoom}` }, host),
      svgShape("path", { fill: "none", stroke: `var(--pl-${role})`, "stroke-width": 3 * zoom, "stroke-linejoin": "round" }, host),
    ]);
    this.lines.forEach(([rest], i) => rest.setAttribute("d", this.line(i, data.racers[i].finish_us)));
    this.cursor = svgShape("path", { stroke: "var(--pl-ink)", "stroke-width": 1.5 * zoom }, host);
    this.key(right, bottom, zoom);
    this.dots = data.racers.map(({ role }) => svgShape("circle", { r: 5 * zoom, fill: `var(--pl-${role})`, stroke: "var(--pl-box)", "stroke-width": 1.5 * zoom }, host));
    this.said = this.text(0, 0, "", { "font-weight": 700, "font-size": 13 * zoom, ...HALO, "stroke-width": 4 * zoom });
  }

  hatch(zoom) {
    const pattern = svgShape("pattern", { id: "rc-hatch", width: 7 * zoom, height: 7 * zoom, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" }, svgShape("defs", {}, this.host));
    this.stripes = [svgShape("rect", { width: 7 * zoom, height: 7 * zoom, opacity: 0.16 }, pattern), svgShape("rect", { width: 1.4 * zoom, height: 7 * zoom }, pattern)];
  }

  text(x, y, words, more) {
    const one = svgShape("text", { x, y, fill: "var(--pl-muted)", "font-size": 11 * this.zoom, ...more }, this.host);
    one.textContent = words;
    return one;
  }

  // Who is who, where no line comes: below the lines at their end.
  key(right, bottom, zoom) {
    this.data.racers.forEach(({ title, role, finish_us }, i) =>
      this.text(right, bottom - (24 - 16 * i) * zoom, `${title}, ${sayTime(finish_us)}`, { "text-anchor": "end", fill: `var(--pl-${role}-ink)`, "font-weight": 650, ...HALO, "stroke-width": 4 * zoom }),
    );
  }

  line(i, until) {
    const found = [];
    for (let k = 0; k <= POINTS; k++) {
      const time = (k / POINTS) * until;
      found.push(`${this.x(time).toFixed(1)} ${this.y(this.delivered[i].at(time)).toFixed(1)}`);
    }
    return `M${found.join("L")}`;
  }

  // Draws the moment `time`; `lead` is who leads and by how much, or nothing.
  draw(time, shares, lead) {
    if (!this.cursor) return;
    const { data, zoom } = this, [one, other] = this.lines.map(([, past], i) => {
      const d = this.line(i, time);
      past.setAttribute("d", d);
      return d;
    });
    this.wedge.setAttribute("d", `${one}L${other.slice(1).split("L").reverse().join("L")}Z`);
    this.cursor.setAttribute("d", `M${this.x(time)} ${this.y(1)}V${this.y(0)}`);
    this.dots.forEach((dot, i) => {
      dot.setAttribute("cx", this.x(time));
      dot.setAttribute("cy", this.y(shares[i]));
    });
    this.said.textContent = lead?.text ?? "";
    if (!lead) return;
    const { role } = data.racers[lead.who];
    for (const stripe of this.stripes) stripe.setAttribute("fill", `var(--pl-${role})`);
    const room = this.x(time) < 0.5 * this.host.clientWidth; // below the lower line; later in the wedge
    this.said.setAttribute("x", this.x(time) + (room ? 11 : -11) * zoom);
    this.said.setAttribute("y", room ? Math.min(this.y(Math.min(...shares)) + 20 * zoom, this.y(0) - 4 * zoom) : this.y((shares[0] + shares[1]) / 2) + 5 * zoom);
    this.said.setAttribute("text-anchor", room ? "start" : "end");
    this.said.setAttribute("fill", `var(--pl-${role}-ink)`);
  }
}

// Three to six round moments from 0 to the end.
function ticks(end) {
  const rough = end / 5, power = 10 ** Math.floor(Math.log10(rough)), step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= rough);
  return Array.from({ length: Math.floor(end / step) + 1 }, (_, i) => i * step);
}
