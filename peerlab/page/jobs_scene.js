// Leaves with their hosts, and above each its uplinks, as wide as their rate: every job has its part of that width.
import { KeyRows } from "./key_rows.js";
import { svgShape, svgText } from "./svg.js";

export const SHARES = 0.6; // opacity of what jobs have of an uplink: they stand behind their exchanges
const FLOOR = { host: 34, gap: 6, pad: 12, spine: 22, pipe: 84, longest: 130, wide: 40, beside: 6, word: 62, words: 92, letters: 12 }; // px; beside a pipe there is room for a word, or for three

export class JobsScene {
  constructor(host, data) {
    this.host = host;
    this.data = data;
    this.jobOf = new Map(data.jobs.flatMap(({ hosts }, job) => hosts.map((host) => [host, job])));
    this.leaves = [...new Set([...this.jobOf.keys()].map((host) => Math.floor(host / data.leaf)))].sort((a, b) => a - b);
    this.sending = new KeyRows(data.jobs.flatMap(({ transfers }) => transfers), 1 + Math.max(...this.jobOf.keys()), 2);
    this.exchanging = new KeyRows(data.jobs.flatMap(({ exchanges }, job) => exchanges.map((span) => [job, ...span])), data.jobs.length);
    this.uses = new KeyRows(data.links.flatMap(({ uses }, link) => uses.map((use) => [link, ...use])), data.links.length);
  }

  // Draws what stands still; `grown`: so many times as high as it is at least.
  paint(grown = 1) {
    const { host, data, leaves } = this, width = host.clientWidth || 1000, each = width / leaves.length;
    const floor = { host: FLOOR.host * Math.max(1, Math.min(grown, each / 260, 1.5)), pipe: Math.min(FLOOR.pipe * grown, FLOOR.longest) };
    this.floor = floor;
    const most = Math.max(1, Math.min(data.leaf, Math.floor((Math.min(each - 20, 420) - 2 * FLOOR.pad + FLOOR.gap) / (floor.host + FLOOR.gap)))), rows = Math.ceil(data.leaf / most), row = Math.ceil(data.leaf / rows); // rows of one length
    const wide = Math.max(row * (floor.host + FLOOR.gap) - FLOOR.gap + 2 * FLOOR.pad, Math.min(each - 12, 240)), leafTop = FLOOR.spine + floor.pipe, leafHigh = 24 + rows * (floor.host - 6 + FLOOR.gap) + 8;
    host.replaceChildren();
    this.boxes = [];
    this.pipes = [];
    svgShape("rect", { x: 0, y: 0, width, height: FLOOR.spine, rx: 6, fill: "var(--pl-panel)" }, host);
    this.text(width / 2, 16, "spine", { "text-anchor": "middle", fill: "var(--pl-muted)" });
    leaves.forEach((leaf, i) => {
      const middle = each * (i + 0.5), left = middle - wide / 2;
      svgShape("rect", { x: left, y: leafTop, width: wide, height: leafHigh, rx: 8, fill: "var(--pl-panel)" }, host);
      this.text(middle, leafTop + 16, `leaf ${leaf}`, { "text-anchor": "middle", fill: "var(--pl-muted)" });
      for (const out of [true, false]) this.pipe(leaf, out, Math.max(8, Math.min(FLOOR.wide, each / 2 - 10 - FLOOR.word)), middle, each);
      for (let k = 0; k < data.leaf; k++) this.hostBox(leaf * data.leaf + k, middle - (Math.min(row, data.leaf) * (floor.host + FLOOR.gap) - FLOOR.gap) / 2 + (k % row) * (floor.host + FLOOR.gap), leafTop + 24 + Math.floor(k / row) * (floor.host - 6 + FLOOR.gap));
    });
    const high = leafTop + leafHigh + 4;
    host.setAttribute("viewBox", `0 0 ${width} ${high}`);
    host.style.height = `${high}px`;
  }

  text(x, y, words, more) {
    return svgText(words, { x, y, "font-size": FLOOR.letters, ...more }, this.host);
  }

  // An uplink out of a leaf, or into it: its width is its rate.
  pipe(leaf, out, wide, middle, each) {
    const { host, data, floor } = this, x = out ? middle - wide - FLOOR.beside : middle + FLOOR.beside, y = FLOOR.spine, link = data.links.findIndex((uplink) => uplink.leaf === leaf && uplink.out === out);
    svgShape("rect", { x, y, width: wide, height: floor.pipe, fill: "var(--pl-panel)" }, host);
    const parts = data.jobs.map(({ role }) => svgShape("rect", { y, height: floor.pipe, width: 0, fill: `var(--pl-${role})`, opacity: SHARES }, host));
    const arrow = out ? `M${x + wide / 2} ${y + 8}l5 8h-10z` : `M${x + wide / 2} ${y + floor.pipe - 8}l5 -8h-10z`;
    svgShape("path", { d: arrow, fill: "var(--pl-ink)", opacity: 0.55 }, host);
    const full = this.text(out ? x - 8 : x + wide + 8, y + floor.pipe / 2 + 4, "", { "text-anchor": out ? "end" : "start", fill: "var(--pl-hot-ink)" });
    this.pipes.push({ link, out, parts, x, wide, full, room: each / 2 - wide - 8 });
  }

  hostBox(number, x, y) {
    const { host, data, floor } = this, job = this.jobOf.get(number), role = job === undefined ? "faint" : data.jobs[job].role;
    const frame = svgShape("rect", { x, y, width: floor.host, height: floor.host - 6, rx: 4, fill: "var(--pl-box)", stroke: `var(--pl-${role})`, "stroke-width": job === undefined ? 1 : 1.5 }, host);
    const fill = svgShape("rect", { x: x + 1, y: y + 1, width: floor.host - 2, height: floor.host - 8, rx: 3, fill: `var(--pl-${role})`, opacity: 0 }, host);
    this.text(x + floor.host / 2, y + floor.host / 2 + 1, number, { "text-anchor": "middle", fill: job === undefined ? "var(--pl-muted)" : "var(--pl-ink)" });
    this.boxes.push({ number, job, frame, fill });
  }

  // Draws a moment: who sends, and what each has of every uplink.
  draw(time) {
    for (const { number, job, fill, frame } of this.boxes) {
      if (job === undefined) continue;
      const sends = this.sending.last(number, time, ([, , , until]) => time < until), exchanges = this.exchanging.last(job, time, ([, , until]) => time < until);
      fill.setAttribute("opacity", sends ? 0.55 : 0);
      frame.setAttribute("stroke-dasharray", exchanges ? "none" : "3 3");
    }
    let before = null; // of both uplinks of a leaf the first says it where both are full
    for (const { link, out, parts, x, wide, full, room } of this.pipes) {
      const use = link < 0 ? null : this.uses.last(link, time, ([, , until]) => time < until), shares = use?.slice(3) ?? [];
      let done = 0;
      parts.forEach((part, job) => {
        const share = shares[job] ?? 0;
        part.setAttribute("x", x + wide * done);
        part.setAttribute("width", Math.max(0, wide * share));
        done += share;
      });
      const isFull = room >= FLOOR.word && shares.filter((share) => share > 0).length > 1 && done > 0.999, both = !out && isFull && room >= FLOOR.words && before;
      full.textContent = isFull && !both ? "full" : "";
      if (both) before.textContent = "full, both ways";
      before = out && isFull ? full : null;
    }
  }
}
