// Below the ports: what waits at the port that everybody shares, fabric by fabric on one axis of time; and of one fabric marks, rates and who was stopped.
import { ticks } from "./labels.js";
import { MARKED } from "./port_cells.js";
import { svgShape, svgText } from "./svg.js";
import { sayBytes, sayTime } from "./words.js";

// In px: margins (right of the axis the most that waits, and on a slide, which has no table, a time), rows of fabrics, lanes; of ports that were stopped so many are listed, longest first.
const STRIP = { left: 176, right: 104, slide: 190, narrow: 600, beside: 900, less: [124, 92], head: 18, low: 19, high: 44, tall: 54, flat: 34, top: 8, rates: 36, lane: 20, thin: 4, stopped: 1, column: 2, axis: 16, tick: 72, label: 24 };
const SENDS = / sends$/; // of a link from a host
const LIMITS = { queue: "full", kmin: "Kmin", kmax: "Kmax" };

export class PortStrip {
  constructor(host, data, { cells, peaks, linkName, choose, letters, slide }) {
    Object.assign(this, { host, data, cells, peaks, linkName, pick: choose, letters, slide });
    this.own = new Set(data.flows.flatMap(({ own }, i) => (own ? [i] : [])));
  }

  // The port that everybody shares, in words.
  get port() {
    const { links, shared } = this.data;
    return `${links[shared].kind === "down" ? "the port " : ""}${this.linkName(shared)}`;
  }

  x(time) {
    return this.left + ((this.right - this.left) * Math.min(time, this.data.played_us)) / this.data.played_us;
  }

  // Draws all of it for one fabric.
  show(number) {
    const { host, data } = this, { fabrics } = data;
    this.fabric = fabrics[number];
    this.width = host.clientWidth || 1000;
    this.narrow = this.width < (this.slide ? STRIP.narrow : STRIP.beside);
    this.wide = !this.narrow && !this.slide; // then it begins where the switches do, and ends where the page does
    this.left = this.narrow ? STRIP.less[0] : this.slide ? STRIP.left : 0.27 * this.width;
    this.right = this.width - (this.narrow ? STRIP.less[1] : this.slide ? STRIP.slide : 0);
    host.replaceChildren();
    if (!this.wide) this.text(this.narrow ? 0 : this.left, 0, `bytes waiting at ${this.port}${fabrics.length > 1 && this.slide && !this.narrow ? ", the chosen fabric enlarged" : ""}`);
    if (this.slide) this.text(this.width, 0, "at most", { "text-anchor": "end" }); // a page has a table
    const begin = this.wide ? STRIP.top : STRIP.head + (this.slide ? 0 : 5); // its scale's upper end stands below the name
    let top = begin;
    fabrics.forEach((fabric, i) => (top = this.slide || i === number ? this.row(fabric, i, i === number, top) : top)); // a page has a table of the others
    if (this.cells[number].hasRates) top = this.rates(number, top + 8);
    top = this.stopped(this.fabric, top + 6);
    this.axis(top - 2);
    const high = top + STRIP.axis;
    host.setAttribute("viewBox", `0 0 ${this.width} ${high}`);
    host.style.height = `${high}px`;
    this.cursor = svgShape("line", { stroke: "var(--pl-ink)", "stroke-width": 1.5, y1: begin - 4, y2: top - 2 }, host);
  }

  // Moments below all rows.
  axis(top) {
    svgShape("path", { d: `M${this.left} ${top}H${this.right}`, stroke: "var(--pl-faint)" }, this.host);
    for (const time of ticks(this.data.played_us, Math.floor((this.right - this.left) / STRIP.tick))) {
      svgShape("path", { d: `M${this.x(time).toFixed(1)} ${top}v4`, stroke: "var(--pl-edge)" }, this.host);
      this.text(this.x(time), top + 2, time ? sayTime(time) : "0", { "text-anchor": this.x(time) > this.width - STRIP.label ? "end" : "middle" });
    }
  }

  now(time) {
    this.cursor?.setAttribute("x1", this.x(time));
    this.cursor?.setAttribute("x2", this.x(time));
  }

  text(x, y, words, more = {}) {
    return svgText(words, { x, y: y + this.letters + 1, "font-size": this.letters, fill: "var(--pl-muted)", ...more }, this.host);
  }

  // One fabric: its queue from the bottom up, the victim's bytes below those of the others.
  row(fabric, i, chosen, top) {
    const { host } = this, { played_us, shared } = this.data, high = !chosen ? STRIP.low : this.slide ? STRIP.high : Object.keys(LIMITS).some((name) => fabric.marks[name]) ? STRIP.tall : STRIP.flat, base = top + high - 4, room = high - 8, end = this.x(fabric.length_us);
    const ink = chosen ? { fill: "var(--pl-ink)", "font-weight": 650 } : {};
    const group = svgShape("g", { class: "np-row" }, host);
    svgShape("rect", { x: 0, y: top, width: this.width, height: high, fill: "transparent" }, group);
    group.addEventListener("click", () => this.pick(i));
    if (this.slide) this.text(this.left - 8, top + 3, fabric.title, { "text-anchor": "end", ...ink });
    svgShape("rect", { x: this.left, y: base - room, width: end - this.left, height: room, fill: "var(--pl-panel)" }, host);
    const most = this.peaks[i].ports[shared], columns = Math.max(1, Math.round((this.right - this.left) / STRIP.column));
    const scale = Math.max(1, ...this.peaks.map(({ ports }) => ports[shared])), [own, others] = this.cells[i].means(shared, played_us, columns, (flow) => this.own.has(flow));
    const faded = { opacity: chosen ? 1 : 0.8 };
    this.area(own.map(() => 0), own, base, room / scale, { fill: "var(--pl-network)", ...faded });
    this.area(own, others, base, room / scale, { fill: "var(--pl-edge)", ...faded });
    if (chosen && !this.slide) {
      const [most] = [[base - room, sayBytes(scale)], [base, "0"]].map(([y, words]) => this.text(this.left - 8, y - 9, words, { "text-anchor": "end", class: "np-scale" })); // the same for all fabrics
      if (this.wide) this.name(top + 3, this.left - 16 - most.getComputedTextLength());
    }
    if (chosen) this.limits(fabric, i, base, room, scale, this.slide ? top + 3 + this.letters : base - room + this.letters - 8);
    if (this.slide && !this.narrow) this.text(this.right + 8, top + 3, `${fabric.alone_us && !fabric.ends ? "over " : ""}${fabric.time}`, ink);
    if (this.slide) this.text(this.width, top + 3, sayBytes(most), { "text-anchor": "end", ...ink });
    return top + high;
  }

  // What a row shows, in two lines where one would come to the scale.
  name(top, room) {
    const words = ["bytes waiting", `at ${this.port}`], line = this.text(0, top, words.join(" "));
    if (line.getComputedTextLength() <= room) return;
    line.remove();
    words.forEach((part, i) => this.text(0, top + (i - 0.5) * (this.letters + 2), part));
  }

  // Heights as steps upon what is below them.
  area(below, heights, base, scale, look) {
    const wide = (this.right - this.left) / heights.length, y = (height) => (base - height * scale).toFixed(1), x = (k) => (this.left + k * wide).toFixed(1);
    if (!heights.some((height) => height > 0)) return;
    let up = "", back = "";
    heights.forEach((height, k) => {
      up += `L${x(k)} ${y(below[k] + height)}H${x(k + 1)}`;
      back = `L${x(k + 1)} ${y(below[k])}H${x(k)}${back}`;
    });
    svgShape("path", { d: `M${up.slice(1)}${back}z`, ...look }, this.host);
  }

  // Where the port acts, and below the queue a notch for each cell that it marked.
  limits({ marks }, i, base, room, scale, title) {
    let lowest = this.slide ? base : base - 9; // a page has a 0 there; words of lines that lie on each other stand apart
    for (const [name, words] of Object.entries(LIMITS)) {
      const value = marks[name];
      if (!value || value > scale) continue;
      const y = base - (room * value) / scale;
      svgShape("path", { d: `M${this.left} ${y.toFixed(1)}H${this.right}`, stroke: "var(--pl-edge)", "stroke-width": 1, "stroke-dasharray": "4 3" }, this.host);
      lowest = Math.max(title + 2, Math.min(lowest - this.letters - 1, y - 7)); // a slide's name of the fabric stands above, or a page's end of the scale
      this.text(this.left - 8, lowest, words, { "text-anchor": "end" });
    }
    const cells = this.cells[i], { shared } = this.data, notches = new Set();
    for (let k = cells.first[shared]; k < cells.first[shared + 1]; k++) if (cells.kind[k] & MARKED) notches.add(Math.round(this.x(cells.queued[k])));
    const d = [...notches].map((x) => `M${x} ${base}v4`).join("");
    if (d) svgShape("path", { d, stroke: "var(--pl-ink)", "stroke-width": 1, class: "np-notches" }, this.host);
  }

  // What senders may send, as steps: the victim, what it rises towards, and its neighbours.
  rates(number, top) {
    const cells = this.cells[number], { flows, victim } = this.data, end = Math.min(this.fabric.length_us, this.data.played_us), base = top + STRIP.rates - 4, room = STRIP.rates - 10;
    const line = (flow, column, look) => {
      const { at } = cells.rates, values = cells.rates[column];
      let d = "";
      for (let i = cells.firstRate[flow]; i < cells.firstRate[flow + 1]; i++) {
        const y = (base - room * values[i]).toFixed(1);
        d += d ? `H${this.x(at[i]).toFixed(1)}V${y}` : `M${this.x(at[i]).toFixed(1)} ${y}`;
      }
      if (d) svgShape("path", { d: `${d}H${this.x(end).toFixed(1)}`, fill: "none", ...look }, this.host);
    };
    svgShape("path", { d: `M${this.left} ${base}H${this.x(end).toFixed(1)}M${this.left} ${base - room}H${this.x(end).toFixed(1)}`, stroke: "var(--pl-faint)" }, this.host);
    flows.forEach(({ own }, flow) => own || line(flow, "rate", { stroke: "var(--pl-edge)", "stroke-width": 1, opacity: 0.7 }));
    const mine = flows.findIndex(({ src, own }) => own && src === victim);
    if (mine >= 0) {
      line(mine, "target", { stroke: "var(--pl-network-ink)", "stroke-width": 1.2, "stroke-dasharray": "2 3" });
      line(mine, "rate", { stroke: "var(--pl-network)", "stroke-width": 2.2 });
    }
    const name = this.narrow ? "at most" : `${this.linkName(victim)}, at most`, [at, side] = this.wide ? [this.left - 8, { "text-anchor": "end" }] : [this.x(end) + 6, {}]; // where the axis ends with the page nothing has room behind it
    this.text(this.wide ? 0 : this.left - 8, top, name, this.wide ? {} : { "text-anchor": "end" });
    this.text(at, base - room - 9, "100 %", side);
    this.text(at, base - 9, "0 %", side);
    return top + STRIP.rates;
  }

  // When ports of a fabric were stopped, those that were it longest.
  stopped({ pauses, starved, length_us }, top) {
    const { host } = this, stopped = new Map();
    for (const [link, from, until] of [...pauses, ...starved]) stopped.set(link, [...(stopped.get(link) ?? []), [from, until]]);
    const total = (rows) => rows.reduce((sum, [from, until]) => sum + until - from, 0), worst = [...stopped].sort((a, b) => total(b[1]) - total(a[1]));
    // the victim's own comes first: the others are why
    const mine = worst.filter(([link]) => link === this.data.victim), chosen = [...mine, ...worst.filter(([link]) => link !== this.data.victim)].slice(0, STRIP.stopped);
    chosen.forEach(([link, rows], i) => {
      const y = top + STRIP.lane * i;
      const name = `${this.linkName(link).replace(SENDS, "")} stopped`, inAll = `${sayTime(total(rows))} in all`; // why, the key says
      this.text(this.slide ? this.left - 8 : 0, y, this.wide ? `${name}, ${inAll}` : name, this.slide ? { "text-anchor": "end" } : {});
      const from = y + 7;
      svgShape("rect", { x: this.left, y: from, width: this.x(length_us) - this.left, height: STRIP.thin, rx: 2, fill: "var(--pl-panel)" }, host);
      const drawn = []; // pixels: what is no further apart is one, else the raster makes stripes of it
      for (const [begin, until] of rows.filter(([begin]) => begin < this.data.played_us).sort(([a], [b]) => a - b)) {
        const left = Math.floor(this.x(begin)), right = Math.max(left + 1, Math.round(this.x(until))), last = drawn.at(-1);
        if (last && left - last[1] <= 1) last[1] = Math.max(last[1], right);
        else drawn.push([left, right]);
      }
      svgShape("path", { d: drawn.map(([left, right]) => `M${left} ${from}H${right}v${STRIP.thin}H${left}z`).join(""), fill: "var(--pl-hot)" }, host);
      if (!this.wide) this.text(this.width, y, inAll, { "text-anchor": "end" });
    });
    return top + STRIP.lane * chosen.length + 4;
  }
}
