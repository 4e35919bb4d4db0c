// Leaves with their hosts, and above each its uplinks, as wide as their rate: every job has its part of that width.
import { KeyRows } from "./key_rows.js";
import { widthOf } from "./places.js";
import { svgShape, svgText } from "./svg.js";

// px; in a roomy page words are larger; leaves stand apart, and fill the page; beside a pipe there is room for a word, or for three; it takes a part of its leaf, less what stands beside it; at its foot a host has the colour of its job
const FLOOR = { apart: 12, row: 400, host: 34, largest: 2.4, widest: 160, gap: 6, pad: 12, spine: 22, pipe: 84, longest: 150, wide: 92, beside: 8, off: 4, part: 0.24, less: 20, word: 62, words: 150, letters: [13, 14], roomy: 1100, number: 14, cause: 14, causes: [20, 18, 16, 14, 13, 12], foot: 5, head: 30, name: 21 };
const UPLINK = "uplinks"; // beside the first of them
const AREA = { ink: "edge" }; // words on half of it could not be read in the dark
const PALE = { cpu: "cpu-ink", network: "network-ink" }; // near the ground of a leaf: they have an outline
const WORDS = ["bottleneck:", "all uplinks full"]; // once for all uplinks, in one line where it has room
const WAY = { long: 40, head: 13, thick: 1.5, apart: 16, room: 24, most: 4 }; // px: the arrow beside an uplink that says which way it goes

// The colour of an outline of a job.
function outlineOf(role) {
  return `var(--pl-${PALE[role] ?? role})`;
}

// The colour of an area of a job: pale, so that what is full and the page's numbers lead, and the same on every ground.
export function tintOf(role) {
  return `color-mix(in srgb, var(--pl-${AREA[role] ?? role}) var(--jb-tint), var(--pl-paper))`;
}

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
    const { host, data, leaves } = this, width = host.clientWidth || 1000, apart = Math.min(FLOOR.apart, (0.2 * width) / leaves.length), each = (width + apart) / leaves.length; // from one leaf to the next
    const floor = { letters: FLOOR.letters[width < FLOOR.roomy ? 0 : 1], host: FLOOR.host * Math.max(1, Math.min(grown, each / 250, FLOOR.largest)), pipe: Math.min(FLOOR.pipe * grown, FLOOR.longest) };
    this.floor = floor;
    const most = Math.max(1, Math.min(data.leaf, Math.floor((Math.min(each - apart, FLOOR.row) - 2 * FLOOR.pad + FLOOR.gap) / (floor.host + FLOOR.gap)))), rows = Math.ceil(data.leaf / most), row = Math.ceil(data.leaf / rows); // rows of one length
    const wide = Math.max(row * (floor.host + FLOOR.gap) - FLOOR.gap + 2 * FLOOR.pad, each - apart), leafTop = FLOOR.spine + floor.pipe, pitch = floor.host - 6 + FLOOR.gap, leafHigh = FLOOR.head + rows * pitch - FLOOR.gap + FLOOR.pad;
    floor.wide = Math.min(FLOOR.widest, (wide - 2 * FLOOR.pad + FLOOR.gap) / row - FLOOR.gap); // of a host: they fill their leaf
    host.replaceChildren();
    this.boxes = [];
    this.pipes = [];
    svgShape("rect", { x: (each - apart - wide) / 2, y: 0, width: each * (leaves.length - 1) + wide, height: FLOOR.spine, rx: 6, fill: "var(--pl-panel)" }, host);
    this.text(width / 2, 16, "spine", { "text-anchor": "middle", fill: "var(--pl-muted)" });
    leaves.forEach((leaf, i) => {
      const middle = each * (i + 0.5) - apart / 2, left = middle - wide / 2;
      svgShape("rect", { x: left, y: leafTop, width: wide, height: leafHigh, rx: 8, fill: "var(--pl-panel)" }, host);
      this.text(middle, leafTop + FLOOR.name, `leaf ${leaf}`, { "text-anchor": "middle", fill: "var(--pl-muted)" });
      for (const out of [true, false]) this.pipe(leaf, out, Math.max(8, Math.min(FLOOR.wide, each / 2 - 10 - FLOOR.word, FLOOR.part * each - FLOOR.less)), middle, each);
      const place = (k) => [middle - (row * (floor.wide + FLOOR.gap) - FLOOR.gap) / 2 + (k % row) * (floor.wide + FLOOR.gap), leafTop + FLOOR.head + Math.floor(k / row) * pitch];
      for (let k = 0; k < data.leaf; k++) this.hostBox(leaf * data.leaf + k, ...place(k));
    });
    this.everywhere = this.causeOfAll();
    const high = leafTop + leafHigh + 4;
    host.setAttribute("viewBox", `0 0 ${width} ${high}`);
    host.style.height = `${high}px`;
  }

  text(x, y, words, more) {
    return svgText(words, { x, y, "font-size": this.floor.letters, ...more }, this.host);
  }

  // An uplink out of a leaf, or into it: its width is its rate.
  pipe(leaf, out, wide, middle, each) {
    const { host, data, floor } = this, x = out ? middle - wide - FLOOR.beside : middle + FLOOR.beside, y = FLOOR.spine, link = data.links.findIndex((uplink) => uplink.leaf === leaf && uplink.out === out);
    svgShape("rect", { x, y, width: wide, height: floor.pipe, fill: "var(--pl-paper)", stroke: "var(--pl-lane)" }, host);
    const parts = data.jobs.map(({ role }) => svgShape("rect", { y, height: floor.pipe, width: 0, fill: tintOf(role) }, host));
    const frame = svgShape("rect", { x: x - FLOOR.off, y, width: wide + 2 * FLOOR.off, height: floor.pipe, fill: "none", stroke: "var(--pl-hot)", "stroke-width": 2, visibility: "hidden" }, host); // on paper: on the colours of jobs it has 1.3 : 1
    const beside = each / 2 - wide - 8, told = this.leaves.length <= WAY.most || this.pipes.length < 2; // of many leaves the first one says it
    const aside = told ? this.way(out, x, wide, beside >= WAY.room && (beside < FLOOR.word || beside >= FLOOR.word + WAY.room)) : 0, room = beside - aside;
    if (out && !this.pipes.length && beside >= widthOf(UPLINK, floor.letters, false) + WAY.apart) this.text(x - 10, y + floor.letters + 4, UPLINK, { "text-anchor": "end", fill: "var(--pl-muted)" });
    const full = this.cause(out ? x - aside - 10 : x + wide + aside + 10, floor, out ? "end" : "start");
    this.pipes.push({ link, out, parts, x, wide, frame, full, aside, room });
  }

  // Which way an uplink goes, as an arrow beside it, or upon it where words have the room. Returns what the arrow takes beside it.
  way(out, x, wide, beside) {
    const { floor, host } = this, middle = FLOOR.spine + floor.pipe / 2, at = beside ? (out ? x - WAY.apart : x + wide + WAY.apart) : x + wide / 2, [tip, tail] = (out ? [-1, 1] : [1, -1]).map((side) => middle + (side * WAY.long) / 2), neck = tip + (out ? WAY.head : -WAY.head) * 0.8;
    svgShape("path", { d: `M${at - WAY.thick} ${tail}V${neck}H${at - WAY.head / 2}L${at} ${tip}L${at + WAY.head / 2} ${neck}H${at + WAY.thick}V${tail}z`, fill: "var(--pl-ink)", stroke: "var(--pl-paper)", "stroke-width": 3, "paint-order": "stroke" }, host);
    return beside ? WAY.apart + WAY.head / 2 : 0;
  }

  // What limits, right beside the uplink that does.
  cause(x, floor, anchor) {
    return this.text(x, FLOOR.spine + floor.pipe / 2 + 5, "", { "text-anchor": anchor, "font-size": FLOOR.cause, "font-weight": 650, fill: "var(--pl-hot-ink)" });
  }

  // Where all uplinks limit it is said once, right beside those of the first leaf; null where the words do not fit before those of the second.
  causeOfAll() {
    const [, into, out] = this.pipes;
    if (!out) return null;
    const from = into.x + into.wide + into.aside, apart = into.aside ? 10 : 6, room = out.x - out.aside - from - 2 * apart, y = FLOOR.spine + this.floor.pipe / 2;
    const largest = (lines) => FLOOR.causes.find((size) => lines.every((line) => widthOf(line, size, true) <= room)) ?? 0, one = [WORDS.join(" ")];
    const lines = largest(WORDS) > largest(one) ? WORDS : one, letters = largest(lines); // as large as they may be
    if (!letters) return null;
    const group = svgShape("g", { visibility: "hidden", class: "jb-cause" }, this.host);
    lines.forEach((line, i) => svgText(line, { x: from + apart, y: y + 0.36 * letters + (i - (lines.length - 1) / 2) * 1.25 * letters, "font-size": letters, "font-weight": 650, fill: "var(--pl-hot-ink)" }, group));
    return group;
  }

  hostBox(number, x, y) {
    const { host, data, floor } = this, job = this.jobOf.get(number), role = job === undefined ? "faint" : data.jobs[job].role;
    const frame = svgShape("rect", { x, y, width: floor.wide, height: floor.host - 6, rx: 4, fill: "var(--pl-box)", stroke: outlineOf(role), "stroke-width": job === undefined ? 1 : 1.5 }, host);
    const fill = svgShape("rect", { x: x + 0.75, y: y + 0.75, width: floor.wide - 1.5, height: floor.host - 7.5, rx: 3.25, fill: tintOf(role), opacity: 0 }, host); // up to its frame
    if (job !== undefined) svgShape("rect", { x: x + 1, y: y + floor.host - 7 - FLOOR.foot, width: floor.wide - 2, height: FLOOR.foot, fill: `var(--pl-${role})`, class: "jb-foot" }, host); // whose it is, also while it does not send
    const words = this.text(x + floor.wide / 2, y + (floor.host - 6) / 2 + (job === undefined ? 5 : 4), number, { "text-anchor": "middle", "font-size": FLOOR.number, fill: job === undefined ? "var(--pl-muted)" : "var(--pl-ink)" });
    this.boxes.push({ number, job, role, frame, fill, words });
  }

  // Draws a moment: who sends, and what each has of every uplink. Returns what hosts do, by its name in the key.
  draw(time) {
    const acts = new Set();
    for (const { number, job, fill, frame } of this.boxes) {
      if (job === undefined) continue;
      const sends = this.sending.last(number, time, ([, , , until]) => time < until), exchanges = this.exchanging.last(job, time, ([, , until]) => time < until);
      fill.setAttribute("opacity", sends ? 1 : 0);
      frame.setAttribute("stroke-dasharray", exchanges ? "none" : "3 3");
      acts.add(sends ? "jb-sends" : exchanges ? "jb-waits" : "jb-computes");
    }
    for (const { link, parts, x, wide } of this.pipes) {
      const shares = this.shares(link, time);
      let done = 0;
      parts.forEach((part, job) => {
        const share = shares[job] ?? 0;
        part.setAttribute("x", x + wide * done);
        part.setAttribute("width", Math.max(0, wide * share));
        done += share;
      });
    }
    this.sayFull(time);
    return acts;
  }

  // What each job has of an uplink at a moment.
  shares(link, time) {
    return (link >= 0 && this.uses.last(link, time, ([, , until]) => time < until)?.slice(3)) || [];
  }

  // Which uplinks are full, each of several jobs: where all are, once for all of them; else of both of a leaf the first says it where there is room.
  sayFull(time) {
    const isFull = this.pipes.map(({ link }) => this.shares(link, time).filter((share) => share > 0)).map((shares) => shares.length > 1 && shares.reduce((sum, share) => sum + share, 0) > 0.999);
    const all = Boolean(this.everywhere) && isFull.every(Boolean);
    this.everywhere?.setAttribute("visibility", all ? "visible" : "hidden");
    this.pipes.forEach(({ out, frame, full, room }, i) => {
      frame.setAttribute("visibility", isFull[i] ? "visible" : "hidden");
      const both = isFull[i] && isFull[out ? i + 1 : i - 1] && room >= FLOOR.words;
      full.textContent = all || !isFull[i] || room < FLOOR.word || (both && !out) ? "" : both ? "full, both ways" : "full";
    });
  }
}
