// Hosts, switches and ports of a scene: every port a glass whose level is the bytes that wait there, every link a line with the cell on it.
import { widthOf } from "./places.js";
import { svgShape } from "./svg.js";
import { sayBytes } from "./words.js";

const ROW = 20;
const GLASS = 13;
const LETTERS = 12; // px
const HOSTS = 10; // so many rows of a leaf are drawn, those where most waits; the others are a number
const TRUNKS = 3;
const GAP = 44; // between the leaves
const HELD_S = 0.12; // of watching: so long a signal is seen at least
const TOO_QUICK = 0.6; // a cell that takes fewer frames is not drawn by itself: its link rolls
const FRAME_S = 1 / 60;
const OUTLINE = { "paint-order": "stroke", stroke: "var(--pl-paper)", "stroke-width": 4, "stroke-linejoin": "round" }; // words stay readable on a line
const NAMES = { xoff: "XOFF", xon: "XON", credits: "credits", queue: "full", kmin: "Kmin", kmax: "Kmax" };
const OF_ACCOUNT = ["xoff", "xon", "credits"];

export class PortSceneView {
  constructor(host, data) {
    this.host = host;
    this.data = data;
  }

  // Takes a fabric: its cells and what stops them.
  show(fabric, cells, { ports, accounts }) {
    Object.assign(this, { fabric, cells, most: ports });
    const { links } = this.data;
    const room = (values) => 1.08 * Math.max(1, ...values);
    const kind = (name) => links.map((link, i) => (name.includes(link.kind) ? this.most[i] : 0));
    this.scale = { up: room(kind(["up"])), port: room([...kind(["down", "trunk"]), fabric.marks.kmin ?? 0]), account: room([...accounts, fabric.marks.xoff ?? fabric.marks.credits ?? 0]) };
    this.paint();
  }

  // Which links of a leaf are drawn.
  rows(leaf, kind) {
    const { links, flows } = this.data, used = new Set(flows.flatMap(({ src, dst }) => [`up${src}`, `down${dst}`]));
    const all = links.map((link, i) => ({ ...link, number: i })).filter((link) => link.kind === kind && link.leaf === leaf && (kind === "trunk" || used.has(`${kind}${link.host}`)));
    const most = kind === "trunk" ? TRUNKS : HOSTS;
    const chosen = new Set([...all].sort((a, b) => this.most[b.number] - this.most[a.number]).slice(0, most).map(({ number }) => number));
    return { drawn: all.filter(({ number }) => chosen.has(number)), hidden: all.length - chosen.size };
  }

  paint() {
    const { host, data } = this, width = host.clientWidth || 1000, two = new Set(data.leaves).size > 1;
    const glass = Math.max(54, Math.min(140, width * 0.11)), left = width * 0.27, right = width * 0.73;
    host.replaceChildren();
    this.parts = [];
    this.hatch(host);
    const leaves = two ? [0, 1] : [data.leaves[0]], ups = leaves.map((leaf) => this.rows(leaf, "up")), downs = leaves.map((leaf) => this.rows(leaf, "down")), trunks = leaves.map((leaf) => this.rows(leaf, "trunk").drawn);
    let top = 20;
    const boxes = leaves.map((leaf, i) => {
      const count = Math.max(1, ups[i].drawn.length, downs[i].drawn.length), trunk = two ? ROW * Math.max(...trunks.map((rows) => rows.length)) : 0;
      const box = { leaf, top, rows: top + 8 + (i ? trunk : 0), trunk: i ? top + 8 : top + 8 + count * ROW, bottom: top + 16 + count * ROW + trunk };
      svgShape("rect", { x: left, y: box.top, width: right - left, height: box.bottom - box.top, rx: 8, fill: "var(--pl-panel)", stroke: "var(--pl-faint)" }, host);
      this.text((left + right) / 2, i ? box.bottom - 8 : box.top + 16, `switch ${leaf}`, { "text-anchor": "middle", fill: "var(--pl-muted)" });
      top = box.bottom + GAP;
      return box;
    });
    this.text(left + 6, 12, "ingress accounts", { fill: "var(--pl-muted)" });
    this.text(right - 6, 12, "egress queues", { "text-anchor": "end", fill: "var(--pl-muted)" });
    this.text(8, 12, "sender", { fill: "var(--pl-muted)" });
    this.text(width - 8, 12, "receiver", { "text-anchor": "end", fill: "var(--pl-muted)" });
    const name = 70;
    boxes.forEach((box, i) => {
      ups[i].drawn.forEach((link, row) => {
        const y = box.rows + ROW * row + ROW / 2;
        this.text(name - 6, y + 4, this.hostName(link.host), { "text-anchor": "end", ...this.ink(link.host) });
        this.port(link, { x: name, y, wide: glass, exit: 1, scale: this.scale.up }, [[name + glass, y], [left, y]]);
        this.account(link.number, { x: left + 6, y, wide: glass, exit: 0 });
      });
      downs[i].drawn.forEach((link, row) => {
        const y = box.rows + ROW * row + ROW / 2;
        this.port(link, { x: right - 6 - glass, y, wide: glass, exit: 1, scale: this.scale.port, marks: true }, [[right - 6, y], [width - name, y]]);
        this.text(width - name + 8, y + 4, this.hostName(link.host), this.ink(link.host));
      });
      for (const [side, hidden] of [[[left - 8, "end"], ups[i].hidden], [[right + 8, "start"], downs[i].hidden]])
        if (hidden) this.text(side[0], box.bottom + 14, `and ${hidden} more, where less waits`, { "text-anchor": side[1], fill: "var(--pl-muted)" });
    });
    if (two) this.paintTrunks(boxes, trunks, { left, right, glass });
    const high = boxes.at(-1).bottom + 10;
    host.setAttribute("viewBox", `0 0 ${width} ${high}`);
    host.style.height = `${high}px`;
  }

  // Trunks go down on the left of the middle, and back up on the right of it.
  paintTrunks(boxes, trunks, { left, right, glass }) {
    const middle = (left + right) / 2, wide = Math.min(1.5 * glass, (right - left) / 2 - 60);
    trunks.forEach((rows, i) => rows.forEach((link, row) => {
      const down = i === 0, x = down ? middle - 34 - 7 * row : middle + 34 + 7 * row, from = boxes[i].trunk + ROW * row + ROW / 2, to = boxes[1 - i].trunk + ROW * row + ROW / 2;
      const place = { x: down ? x - wide - 6 : x + 6, y: from, wide, exit: down ? 1 : 0, scale: this.scale.port, marks: true };
      this.port(link, place, [[x, from], [x, to]]);
      this.account(link.number, { x: down ? x - wide - 6 : x + 6, y: to, wide, exit: down ? 1 : 0 });
    }));
    this.text(middle, (boxes[0].bottom + boxes[1].top) / 2 + 4, "trunk", { "text-anchor": "middle", fill: "var(--pl-muted)" });
  }

  // A link in words: its sender, or its receiver.
  linkName(number) {
    const { kind, host, name } = this.data.links[number];
    return kind === "trunk" ? name : kind === "up" ? `${this.hostName(host)} sends` : `to ${this.hostName(host)}`;
  }

  // A host by its place among those of its kind.
  hostName(host) {
    const own = this.isOwn(host), before = this.data.leaves.slice(0, host).filter((_, other) => this.isOwn(other) === own).length;
    return `${own ? "node" : "other"} ${before}`;
  }

  isOwn(host) {
    return this.data.flows.some(({ src, dst, own }) => own && (src === host || dst === host));
  }

  ink(host) {
    return this.isOwn(host) ? { fill: "var(--pl-ink)", "font-weight": 650 } : { fill: "var(--pl-muted)" };
  }

  hatch(host) {
    const pattern = svgShape("pattern", { id: "np-hatch", width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" }, svgShape("defs", {}, host));
    svgShape("rect", { width: 6, height: 6, fill: "var(--pl-faint)" }, pattern);
    svgShape("rect", { width: 2.5, height: 6, fill: "var(--pl-edge)" }, pattern);
  }

  // A port: its glass, and the line of its link.
  port(link, place, line) {
    const { host } = this, d = line.map(([x, y], i) => `${i ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");
    const track = svgShape("path", { d, fill: "none", stroke: "var(--pl-faint)", "stroke-width": 6, "stroke-linecap": "round" }, host);
    const roll = svgShape("path", { d, fill: "none", "stroke-width": 5, "stroke-dasharray": "9 5", visibility: "hidden" }, host);
    const cell = svgShape("rect", { width: 12, height: 8, rx: 2, visibility: "hidden" }, host);
    const signal = svgShape("rect", { width: 4, height: 16, rx: 2, visibility: "hidden" }, host);
    const [[x0, y0], [x1, y1]] = line, upright = x0 === x1;
    const stop = svgShape("text", { ...OUTLINE, "font-size": LETTERS, "font-weight": 650, fill: "var(--pl-hot-ink)", "text-anchor": upright ? (place.exit ? "end" : "start") : "middle", x: upright ? x0 + (place.exit ? -8 : 8) : (x0 + x1) / 2, y: (y0 + y1) / 2 + 4 }, host);
    const glass = this.glass(place);
    if (place.marks) this.marks(place, Object.keys(NAMES).filter((name) => !OF_ACCOUNT.includes(name)), this.scale.port);
    this.parts.push({ ...link, ...glass, place, line, fits: upright ? 80 : Math.abs(x1 - x0), track, roll, cell, signal, stop });
  }

  // What came by a link and has not left the switch.
  account(link, place) {
    const full = { ...place, scale: this.scale.account };
    this.parts.push({ account: true, number: link, ...this.glass(full), place: full });
    this.marks(full, OF_ACCOUNT, this.scale.account);
  }

  glass({ x, y, wide }) {
    const frame = svgShape("rect", { x, y: y - GLASS / 2, width: wide, height: GLASS, rx: 3, fill: "var(--pl-box)", stroke: "var(--pl-edge)" }, this.host);
    return { frame, fill: svgShape("g", {}, this.host), pieces: [] };
  }

  marks({ x, y, wide, exit }, names, scale) {
    for (const name of names) {
      const value = this.fabric.marks[name];
      if (!value || value > scale) continue;
      const at = exit ? x + wide - (wide * value) / scale : x + (wide * value) / scale;
      const line = svgShape("line", { x1: at, x2: at, y1: y - GLASS / 2 - 2, y2: y + GLASS / 2 + 2, stroke: "var(--pl-ink)", "stroke-width": 1.5 }, this.host);
      svgShape("title", {}, line).textContent = `${NAMES[name]}: ${sayBytes(value)}`;
    }
  }

  text(x, y, words, more) {
    svgShape("text", { x, y, "font-size": LETTERS, ...more }, this.host).textContent = words;
  }

  // Draws a moment; `flow` is microseconds per second of watching.
  draw(time, flow, moving) {
    if (!this.parts || !this.cells) return;
    const stopped = this.stopped(time, flow), { ports, accounts } = this.levels(time);
    for (const part of this.parts) {
      this.drawLevel(part, (part.account ? accounts : ports)[part.number]);
      if (part.account) continue;
      const why = stopped.get(part.number);
      part.stop.textContent = why && part.fits >= widthOf(why, LETTERS, true) ? why : "";
      part.frame.setAttribute("stroke", why ? "var(--pl-hot)" : "var(--pl-edge)");
      part.track.setAttribute("stroke", why && why !== "lost" ? "var(--pl-hot-fill)" : "var(--pl-faint)");
      this.onLink(part, time, flow, moving);
      this.signalOn(part, time, flow);
    }
  }

  // Why ports do not send at a moment.
  stopped(time, flow) {
    const found = new Map();
    for (const [link, at] of this.fabric.lost) if (at <= time && time < at + HELD_S * flow) found.set(link, "lost");
    for (const [rows, words] of [[this.fabric.starved, "no credits"], [this.fabric.pauses, "paused"]])
      for (const [link, from, until] of rows) if (from <= time && time < until) found.set(link, words);
    return found;
  }

  // What is at every port and in every account, first what leaves first; neighbours of one kind are one run.
  levels(time) {
    const { cells, data } = this, ports = data.links.map(() => []), accounts = data.links.map(() => []);
    const add = (runs, kind, bytes) => {
      const last = runs.at(-1);
      if (last?.kind === kind) last.bytes += bytes;
      else runs.push({ kind, bytes });
    };
    data.links.forEach((_, port) => cells.at(port, time, (i) => {
      const kind = (data.flows[cells.flow[i]].own ? 1 : 0) + 2 * cells.again[i];
      add(ports[port], kind, cells.wire[i]);
      if (cells.via[i] >= 0) add(accounts[cells.via[i]], kind, cells.wire[i]);
    }));
    return { ports, accounts };
  }

  // Draws the runs of a glass from its exit on.
  drawLevel({ place, fill, pieces }, runs) {
    let done = 0;
    runs.forEach(({ kind, bytes }, n) => {
      const piece = (pieces[n] ??= svgShape("rect", { y: place.y - GLASS / 2 + 1.5, height: GLASS - 3, "stroke-width": 1 }, fill));
      const from = (place.wide - 3) * Math.min(1, done / place.scale), wide = (place.wide - 3) * Math.min(1, (done + bytes) / place.scale) - from;
      piece.setAttribute("x", place.exit ? place.x + place.wide - 1.5 - from - wide : place.x + 1.5 + from);
      piece.setAttribute("width", Math.max(0, wide));
      piece.setAttribute("fill", kind & 1 ? "var(--pl-network)" : "url(#np-hatch)");
      piece.setAttribute("stroke", kind & 2 ? "var(--pl-hot)" : "none");
      done += bytes;
    });
    for (let n = runs.length; n < pieces.length; n++) pieces[n].setAttribute("width", 0);
  }

  onLink({ number, line: [[x0, y0], [x1, y1]], cell, roll }, time, flow, moving) {
    const { cells, data } = this, i = cells.sending(number, time), lasts = i < 0 ? 0 : cells.end[i] - cells.start[i];
    const quick = moving && lasts < TOO_QUICK * flow * FRAME_S, colour = i >= 0 && data.flows[cells.flow[i]].own ? "var(--pl-network)" : "var(--pl-edge)";
    roll.setAttribute("visibility", i >= 0 && quick ? "visible" : "hidden");
    cell.setAttribute("visibility", i >= 0 && !quick ? "visible" : "hidden");
    if (i < 0) return;
    if (quick) {
      roll.setAttribute("stroke", colour);
      roll.setAttribute("stroke-dashoffset", -((performance.now() / 8) % 14));
      return;
    }
    const part = (time - cells.start[i]) / lasts;
    cell.setAttribute("x", x0 + (x1 - x0) * part - 6);
    cell.setAttribute("y", y0 + (y1 - y0) * part - 4);
    cell.setAttribute("fill", colour);
    cell.setAttribute("stroke", cells.again[i] ? "var(--pl-hot)" : "none");
  }

  // A pause or its end, on its way against the bytes.
  signalOn({ number, line: [[x0, y0], [x1, y1]], signal }, time, flow) {
    const seen = this.fabric.signals.find(([link, , sent, arrives]) => link === number && sent <= time && time < Math.max(arrives, sent + HELD_S * flow));
    signal.setAttribute("visibility", seen ? "visible" : "hidden");
    if (!seen) return;
    const [, on, sent, arrives] = seen, part = Math.min(1, (time - sent) / Math.max(arrives - sent, HELD_S * flow));
    signal.setAttribute("x", x1 + (x0 - x1) * part - 2);
    signal.setAttribute("y", y1 + (y0 - y1) * part - 8);
    signal.setAttribute("fill", on ? "var(--pl-hot)" : "var(--pl-direct)");
  }
}
