// Hosts, switches and ports of a scene: every port a glass whose level is the bytes that wait there, every link a line with the cell on it.
import { KeyRows } from "./key_rows.js";
import { widthOf } from "./places.js";
import { AGAIN, DISCARDED, MARKED } from "./port_cells.js";
import { svgShape, svgText } from "./svg.js";
import { sayBytes } from "./words.js";

const ROW = { least: 20, most: 26, all: 310 }; // from one port to the next; few of them stand further apart
const GLASS = 12;
const LINK = 3; // how thick the line of a link is
const TRUNK = { row: 24, glass: 16, link: 8, aside: 40, apart: 12 }; // everybody's: drawn larger, its lines beside the middle
const WIDE = 900; // px: from there on links to receivers need less than a fourth of the width
const NAMED = 20; // px: a line for the names of thresholds of the first leaf, where some fabric has any but credits, which the key names
const NAME = 66; // px: from the page's edge to senders, or from receivers to the page's other edge
const TRUNKS = 3;
const GAP = 30; // between the leaves
const HELD_S = 0.12; // of watching: so long a signal is seen at least
const FALLS_S = 0.3; // of watching: so long a cell that was lost is seen to fall
const TOO_QUICK = 0.6; // a cell that takes fewer frames is not drawn by itself: its link rolls
const FRAME_S = 1 / 60;
const THIN = 1; // px: how thick a link is over which nothing is to go
const STOPPED = 3; // px: how thick a link is that is stopped because another one is
const OUTLINE = { "paint-order": "stroke", stroke: "var(--pl-paper)", "stroke-width": 4, "stroke-linejoin": "round" }; // words stay readable on a line
const NAMES = { xoff: "XOFF", xon: "XON", credits: "credits", queue: "full", kmin: "Kmin", kmax: "Kmax" };
const MOST_FLYING = 12; // credits that are drawn on one link
const CELL = 16; // px: how long a cell on a link is
const OUTLINED = 0.45; // of the ink of outlines: what waits and what is stopped is seen first, empty ports last
const CREDIT = 5; // px: of a credit on its way, which touches its link
const BELOW = 4; // from a glass to what a sender may send, drawn below it
const WORDS = ["var(--pl-muted)", "var(--pl-hot)", "var(--pl-cpu)"]; // the end of a pause, a pause, a notification
const OF_ACCOUNT = ["xoff", "xon", "credits"], OF_PORT = ["queue", "kmin", "kmax"];

const OWN = 1, RESENT = 2, REFUSED = 4; // kinds of runs in a glass

export class PortSceneView {
  // Of a leaf so many hosts are drawn, those where most waits; the others are a number. Letters are px.
  constructor(host, data, { most, letters }) {
    Object.assign(this, { host, data, mostHosts: most, letters });
  }

  // Takes a fabric: its cells and what stops them.
  show(fabric, cells, { ports, accounts }) {
    Object.assign(this, { fabric, cells, most: ports });
    const { links, flows } = this.data;
    this.words = new KeyRows(fabric.signals, links.length, 2);
    this.stops = [[new KeyRows(fabric.lost, links.length), "lost"], [new KeyRows(fabric.starved, links.length), "no credits"], [new KeyRows(fabric.pauses, links.length), "paused"]];
    this.flowOf = new Map(flows.map(({ src }, i) => [src, i]).reverse());
    const room = (values) => 1.08 * Math.max(1, ...values);
    const kind = (name) => links.map((link, i) => (name.includes(link.kind) ? this.most[i] : 0));
    this.scale = { up: room(kind(["up"])), port: room([...kind(["down", "trunk"]), fabric.marks.kmin ?? 0]), account: room([...accounts, fabric.marks.xoff ?? fabric.marks.credits ?? 0]) };
    this.paint();
  }

  // Which links of a leaf are drawn.
  rows(leaf, kind) {
    const { links, flows } = this.data, used = new Set(flows.flatMap(({ src, dst }) => [`up${src}`, `down${dst}`]));
    const all = links.map((link, i) => ({ ...link, number: i })).filter((link) => link.kind === kind && link.leaf === leaf && (kind === "trunk" || used.has(`${kind}${link.host}`)));
    const most = kind === "trunk" ? TRUNKS : this.mostHosts;
    const chosen = new Set([...all].sort((a, b) => this.most[b.number] - this.most[a.number]).slice(0, most).map(({ number }) => number));
    return { drawn: all.filter(({ number }) => chosen.has(number)), hidden: all.length - chosen.size };
  }

  paint() {
    const { host, data } = this, width = host.clientWidth || 1000, two = new Set(data.leaves).size > 1;
    const left = width * 0.27, right = width * (width < WIDE ? 0.73 : 0.8), glass = Math.max(54, (right - left) / 2 - TRUNK.aside - 16); // as wide as the trunk's: what waits is as long at both
    host.replaceChildren();
    this.parts = [];
    const leaves = two ? [0, 1] : [data.leaves[0]], ups = leaves.map((leaf) => this.rows(leaf, "up")), downs = leaves.map((leaf) => this.rows(leaf, "down")), trunks = leaves.map((leaf) => this.rows(leaf, "trunk").drawn);
    const counts = leaves.map((_, i) => Math.max(1, ups[i].drawn.length, downs[i].drawn.length)), lanes = two ? Math.max(...trunks.map((rows) => rows.length)) : 0;
    this.row = Math.max(ROW.least, Math.min(ROW.most, Math.floor(ROW.all / counts.reduce((sum, count) => sum + count + lanes, 0))));
    const named = data.fabrics.some(({ marks }) => Object.keys(NAMES).some((name) => name !== "credits" && marks[name])) ? NAMED : 0; // the same for each, so that nothing moves
    let top = 20;
    const boxes = leaves.map((leaf, i) => {
      const count = counts[i], trunk = TRUNK.row * lanes, line = i ? 0 : named, first = top + 8 + line;
      const box = { leaf, top, rows: first + (i ? trunk : 0), trunk: i ? first : first + count * this.row, bottom: top + 16 + line + count * this.row + trunk };
      svgShape("rect", { x: left, y: box.top, width: right - left, height: box.bottom - box.top, rx: 8, fill: "var(--pl-panel)" }, host);
      this.text((left + right) / 2, box.rows + (count * this.row) / 2 + 5, `switch ${leaf}`, { "text-anchor": "middle", "font-weight": 650, fill: "var(--pl-ink)" }); // between its inputs and outputs, where no trunk runs
      top = box.bottom + GAP;
      return box;
    });
    const narrow = width < 600; // px
    this.text(left + 6, 12, narrow ? "input ports" : "bytes waiting, by input port", { fill: "var(--pl-muted)" });
    this.text(right - 6 - glass, 12, narrow ? "output ports" : "bytes waiting, by output port", { fill: "var(--pl-muted)" });
    const name = NAME;
    this.text(0, 12, "sender", { fill: "var(--pl-muted)" });
    this.text(width, 12, "receiver", { "text-anchor": "end", fill: "var(--pl-muted)" });
    const own = Math.min(glass, (left - name) / (narrow ? 2 : 1.7)); // a link has some length, too
    this.tells = left + 6 - name - own > widthOf("no credits", this.letters, false) + 10; // why a link is stopped has room on it
    boxes.forEach((box, i) => {
      ups[i].drawn.forEach((link, row) => {
        const y = box.rows + this.row * row + this.row / 2;
        this.text(0, y + 4, this.hostName(link.host), this.sender(link));
        this.port(link, { x: name, y, wide: own, exit: 1, scale: this.scale.up }, [[name + own, y], [left + 6, y]]);
        this.account(link.number, { x: left + 6, y, wide: glass, exit: 1 });
      });
      downs[i].drawn.forEach((link, row) => {
        const y = box.rows + this.row * row + this.row / 2;
        this.port(link, { x: right - 6 - glass, y, wide: glass, exit: 1, scale: this.scale.port }, [[right - 6, y], [width - name + 6, y]]);
        this.text(width, y + 4, this.hostName(link.host), { "text-anchor": "end", ...this.ink(link.host) });
      });
      const inputs = { x: left + 6, wide: glass, exit: 1 }, outputs = { x: right - 6 - glass, wide: glass, exit: 1 };
      this.across(box, ups[i].drawn.length, inputs, OF_ACCOUNT, this.scale.account);
      this.across(box, downs[i].drawn.length, outputs, OF_PORT, this.scale.port);
      if (i) return; // those of the other leaf are the same; lines have titles, too
      this.nameMarks(box.rows - 5, inputs, OF_ACCOUNT, this.scale.account);
      this.nameMarks(box.rows - 5, outputs, OF_PORT, this.scale.port);
    });
    boxes.forEach((box, i) => {
      for (const [side, hidden] of [[[left - 8, "end"], ups[i].hidden], [[right + 8, "start"], downs[i].hidden]])
        if (hidden) this.text(side[0], box.bottom + 14, narrow ? `and ${hidden} more` : `and ${hidden} more, where less waits`, { "text-anchor": side[1], fill: "var(--pl-muted)" });
    });
    if (two) this.paintTrunks(boxes, trunks, { left, right });
    const high = boxes.at(-1).bottom + (ups.at(-1).hidden || downs.at(-1).hidden ? 18 : 2);
    host.setAttribute("viewBox", `0 0 ${width} ${high}`);
    host.style.height = `${high}px`;
  }

  // Thresholds of glasses that are as wide as each other, as one line across all of them.
  across(box, count, place, names, scale) {
    if (count) this.marks({ ...place, y: box.rows + (this.row * count) / 2, high: this.row * (count - 1) + GLASS }, names, scale, this.host);
  }

  // Trunks go down on the left of the middle, and back up on the right of it; their ports begin where those of the hosts do. Bytes leave every port at its right end, and what waits begins there; only those that go back up leave at the left end, where their trunk is.
  paintTrunks(boxes, trunks, { left, right }) {
    const middle = (left + right) / 2, wordsAt = (boxes[0].bottom + boxes[1].top) / 2;
    trunks.forEach((rows, i) => rows.forEach((link, row) => {
      const down = i === 0, aside = TRUNK.aside + TRUNK.apart * row, x = down ? middle - aside : middle + aside, [from, to] = [i, 1 - i].map((leaf) => boxes[leaf].trunk + TRUNK.row * (row + 0.5));
      const place = { x: down ? left + 6 : x + 10, wide: (right - left) / 2 - aside - 16, exit: down ? 1 : 0, high: TRUNK.glass, thick: TRUNK.link, wordsAt };
      this.port(link, { ...place, y: from, scale: this.scale.port, marks: true }, [[x, from], [x, to]]);
      this.account(link.number, { ...place, y: to, exit: 1 });
      this.marks({ ...place, y: to, exit: 1 }, OF_ACCOUNT, this.scale.account, this.host);
    }));
    this.text(middle, wordsAt + 4, "trunk", { "text-anchor": "middle", fill: "var(--pl-muted)" });
  }

  // A link in words: its sender, or its receiver.
  linkName(number) {
    const { kind, host, name } = this.data.links[number];
    const written = this.data.links.filter((link) => link.kind === "trunk").length > 2 ? "trunk $3, $1 to $2" : "trunk $1 to $2";
    return kind === "trunk" ? name.replace(/^trunk (\d+)>(\d+) (\d+)$/, written) : kind === "up" ? `${this.hostName(host)} sends` : `to ${this.hostName(host)}`;
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
    return this.isOwn(host) ? { fill: "var(--pl-ink)" } : { fill: "var(--pl-muted)" };
  }

  // A sender's name; the victim's is the one to watch.
  sender({ number, host }) {
    return number === this.data.victim ? { ...this.ink(host), "font-weight": 650 } : this.ink(host);
  }

  // A port: its glass, and the line of its link.
  port(link, place, line) {
    const group = svgShape("g", { class: "np-port" }, this.host), d = line.map(([x, y], i) => `${i ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join(""), thick = place.thick ?? LINK;
    const glass = this.glass(place, group), [[x0, y0], [x1, y1]] = line, upright = x0 === x1;
    const end = (place.exit ? place.x + place.wide : place.x).toFixed(1), joined = `M${end} ${y0.toFixed(1)}${d.replace("M", "L")}H${end}`; // a trunk goes from its buffer to the one that it fills
    const track = svgShape("path", { d: upright ? joined : d, fill: "none", stroke: "var(--pl-gather)", "stroke-width": thick, "stroke-linejoin": "round" }, group);
    const roll = svgShape("path", { d, fill: "none", "stroke-width": thick, "stroke-dasharray": "9 5", visibility: "hidden" }, group);
    const broad = thick + 7, cell = svgShape("rect", { ...(upright ? { x: x0 - broad / 2, width: broad } : { y: y0 - broad / 2, height: broad }), rx: 2, visibility: "hidden" }, group);
    const signal = svgShape("rect", { width: upright ? 16 : 4, height: upright ? 4 : 16, rx: 2, visibility: "hidden" }, group);
    const below = this.allowance(link, place, group), flying = this.fabric.pool && below ? Array.from({ length: MOST_FLYING }, () => svgShape("circle", { r: CREDIT, fill: "var(--pl-muted)", visibility: "hidden" }, group)) : [];
    const falls = svgShape("rect", { width: 9, height: 7, rx: 2, visibility: "hidden" }, group);
    const behind = svgShape("rect", { height: 12, rx: 2, y: (y0 + y1) / 2 - 6, fill: "var(--pl-paper)", visibility: "hidden" }, group); // no pipe runs through the word on it
    const stop = svgShape("text", { ...OUTLINE, ...(link.number === this.data.shared ? { "font-size": this.letters + 1, "font-weight": 650 } : { "font-size": this.letters }), fill: "var(--pl-hot-ink)", "text-anchor": upright ? (place.exit ? "end" : "start") : "middle", x: upright ? x0 + (place.exit ? -10 : 10) : (x0 + x1) / 2, y: (place.wordsAt ?? (y0 + y1) / 2) + 4 }, group);
    if (place.marks) this.marks(place, OF_PORT, this.scale.port, group);
    this.parts.push({ ...link, ...glass, group, place, line, fits: upright ? 80 : Math.abs(x1 - x0), thick, track, roll, cell, signal, stop, behind, below, flying, falls });
  }

  // Credits are drawn where one watches them: of who pays most, and of the port that everybody shares. Of all others the link says that they wait.
  hasCredits(number, kind) {
    const { victim, shared } = this.data;
    return this.fabric.pool > 0 && kind !== "down" && (number === victim || number === shared);
  }

  // Below a glass, what its port may send: a line as long as the rate of its sender, or, as long as one points at it, as the share of the pool for which it has credits; the glass that its link fills says as much.
  allowance({ number, kind, host: from }, { x, y, wide, high = GLASS }, group) {
    const { fabric, cells } = this, at = y + high / 2 + BELOW - 1;
    if (this.hasCredits(number, kind)) {
      const row = svgShape("g", { class: "np-credits" }, group), line = (fill) => svgShape("rect", { x, y: at - 1, width: wide, height: 2, rx: 1, fill }, row);
      svgShape("title", {}, group).textContent = "The line below: what credits allow it to send";
      line("var(--pl-faint)");
      return { row, credits: line("var(--pl-muted)"), wide };
    }
    const flow = this.flowOf.get(from);
    if (!cells.hasRates || kind !== "up" || flow === undefined) return null;
    svgShape("rect", { x, y: at - 1.5, width: wide, height: 3, rx: 1.5, fill: "var(--pl-faint)" }, group);
    const rate = svgShape("rect", { x, y: at - 1.5, width: 0, height: 3, rx: 1.5, fill: this.data.flows[flow].own ? "var(--pl-network)" : "var(--pl-edge)" }, group);
    const target = svgShape("line", { y1: at - 3.5, y2: at + 3.5, stroke: "var(--pl-ink)", "stroke-width": 1.2 }, group);
    return { flow, rate, target, x, wide, number };
  }

  drawAllowance({ number, below }, time) {
    if (!below) return;
    if (below.credits) {
      const { pool } = this.fabric, there = Math.max(0, pool - this.cells.unanswered(number, time)) / pool;
      below.credits.setAttribute("width", (below.wide * there).toFixed(1));
      below.row.setAttribute("visibility", there < 1 ? "visible" : "hidden"); // a pool that is full says nothing
      return;
    }
    const [rate, target] = this.cells.rate(below.flow, time), x = below.x + below.wide * Math.min(1, target);
    below.rate.setAttribute("width", below.wide * Math.min(1, rate));
    below.target.setAttribute("x1", x);
    below.target.setAttribute("x2", x);
  }

  // Credits on their way, beside the bytes and against them.
  drawCredits({ number, line: [[x0, y0], [x1, y1]], thick, flying }, time) {
    if (!flying.length) return;
    const upright = x0 === x1, aside = thick / 2 + CREDIT;
    let k = 0;
    this.cells.flying(number, time, (part) => {
      if (k === flying.length) return;
      flying[k].setAttribute("cx", x1 + (x0 - x1) * part + (upright ? aside : 0));
      flying[k].setAttribute("cy", y1 + (y0 - y1) * part + (upright ? 0 : aside));
      flying[k++].setAttribute("visibility", "visible");
    });
    for (let hidden = k; hidden < flying.length; hidden++) flying[hidden].setAttribute("visibility", "hidden");
  }

  // A cell that a port had no room for falls beside its glass.
  drawFall({ number, place, falls }, time, flow) {
    const lost = this.stops[0][0].last(number, time, ([, at]) => time < at + FALLS_S * flow);
    falls.setAttribute("visibility", lost ? "visible" : "hidden");
    if (!lost) return;
    const part = (time - lost[1]) / (FALLS_S * flow);
    falls.setAttribute("x", place.exit ? place.x - 12 : place.x + place.wide + 3);
    falls.setAttribute("y", place.y - 4 + 16 * part * part);
    falls.setAttribute("opacity", 1 - 0.8 * part);
    falls.setAttribute("fill", "var(--pl-hot)");
  }

  // What came by a link and has not left the switch.
  account(link, place) {
    const full = { ...place, scale: this.scale.account };
    const group = svgShape("g", {}, this.host);
    this.parts.push({ account: true, number: link, group, ...this.glass(full, group), place: full });
  }

  // A glass for what waits at a port.
  glass({ x, y, wide, high = GLASS }, group) {
    const frame = svgShape("rect", { x, width: wide, y: y - high / 2, height: high, rx: 3, fill: "var(--pl-box)", stroke: "var(--pl-edge)", "stroke-opacity": OUTLINED }, group);
    const fill = svgShape("g", {}, group), notches = svgShape("path", { stroke: "var(--pl-ink)", "stroke-width": 1.2, class: "np-notches" }, group);
    return { frame, fill, notches, pieces: [] };
  }

  // Where a threshold lies in a glass; null: the fabric has none there.
  placeOf(name, { x, wide, exit }, scale) {
    const value = this.fabric.marks[name], from = (wide * value) / scale;
    return !value || value > scale ? null : exit ? x + wide - from : x + from;
  }

  // Names of thresholds right above their lines, apart from each other and within their ports; what credits allow has its line in the key.
  nameMarks(y, place, names, scale) {
    const placed = names.filter((name) => name !== "credits").map((name) => [NAMES[name], this.placeOf(name, place, scale)]).filter(([, at]) => at !== null).sort(([, a], [, b]) => b - a);
    let free = place.x + place.wide + 6;
    const lefts = placed.map(([words, at]) => {
      const wide = widthOf(words, this.letters, false), left = Math.min(free - wide, at - wide / 2);
      free = left - 6;
      return left;
    });
    const beyond = Math.max(0, place.x - Math.min(...lefts));
    placed.forEach(([words], i) => this.text(lefts[i] + beyond, y, words, { fill: "var(--pl-muted)" }));
  }

  marks({ x, y, wide, exit, high = GLASS }, names, scale, group) {
    for (const name of names) {
      const at = this.placeOf(name, { x, wide, exit }, scale);
      if (at === null) continue;
      const line = svgShape("line", { x1: at, x2: at, y1: y - high / 2 - 1, y2: y + high / 2 + 1, stroke: "var(--pl-muted)", "stroke-width": 1.5, "stroke-dasharray": "3 2" }, group);
      svgShape("title", {}, line).textContent = `${NAMES[name]}: ${sayBytes(this.fabric.marks[name])}`;
    }
  }

  text(x, y, words, more) {
    svgText(words, { x, y, "font-size": this.letters, ...more }, this.host);
  }

  // Draws a moment; `flow` is microseconds per second of watching.
  draw(time, flow, moving) {
    if (!this.parts || !this.cells) return;
    const { data } = this;
    const stopped = this.stopped(time, flow), { ports, accounts } = this.levels(time), cause = stopped(data.shared);
    const reasons = new Set(); // of links that are stopped alike the first one says it, or the shared one if it is; of all others their colour does
    for (const part of this.parts) {
      const runs = (part.account ? accounts : ports)[part.number];
      this.drawLevel(part, runs);
      this.fade(part, ports, accounts);
      if (part.account) continue;
      const why = stopped(part.number), what = why === "lost" ? `${why} ${part.kind} ${part.leaf}` : why;
      const isCause = part.number === data.shared, isStopped = why && why !== "lost"; // everybody waits at the shared port: it is the heaviest mark, the others are lighter
      const isTold = !isCause && (reasons.has(what) || (isStopped && why === cause));
      this.sayStop(part, isTold ? "" : why);
      reasons.add(what);
      const rests = !isStopped && part.faded;
      part.track.setAttribute("stroke", isStopped ? "var(--pl-hot)" : rests ? "var(--pl-edge)" : "var(--pl-gather)");
      part.track.setAttribute("stroke-width", isStopped && !isCause ? STOPPED : rests ? THIN : part.thick);
      this.onLink(part, time, flow, moving);
      this.drawAllowance(part, time);
      this.drawCredits(part, time);
      this.drawFall(part, time, flow);
      this.signalOn(part, time, flow);
    }
  }

  // A sender at which nothing waits is an outline, and so is what came from it.
  fade(part, ports, accounts) {
    const { number, frame } = part, faded = this.data.links[number].kind === "up" && !ports[number].length && !accounts[number].length;
    if (part.faded === faded) return;
    part.faded = faded;
    frame.setAttribute("fill", faded ? "none" : "var(--pl-box)");
  }

  // Writes on a link why it does not send, where that has room, with nothing behind the word; beside an upright link nothing is.
  sayStop({ stop, behind, fits, line: [[x0], [x1]] }, why) {
    const wide = why ? widthOf(why, this.letters, false) : 0, words = why && fits >= wide + 10 ? why : "";
    stop.textContent = words;
    behind.setAttribute("visibility", words && x0 !== x1 ? "visible" : "hidden");
    if (!words) return;
    behind.setAttribute("x", (x0 + x1 - wide) / 2 - 2);
    behind.setAttribute("width", wide + 4);
  }

  // Why ports do not send at a moment.
  stopped(time, flow) {
    const [lost, ...stops] = this.stops;
    return (link) => {
      for (const [rows, words] of stops) if (rows.last(link, time, ([, , until]) => time < until)) return words;
      return lost[0].last(link, time, ([, at]) => time < at + HELD_S * flow) && lost[1];
    };
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
      const kind = (data.flows[cells.flow[i]].own ? OWN : 0) + (cells.kind[i] & AGAIN ? RESENT : 0) + (cells.kind[i] & DISCARDED ? REFUSED : 0);
      if (cells.kind[i] & MARKED) (ports[port].marked ??= []).push(ports[port].reduce((sum, { bytes }) => sum + bytes, 0) + cells.wire[i] / 2);
      add(ports[port], kind, cells.wire[i]);
      if (cells.via[i] >= 0) add(accounts[cells.via[i]], kind, cells.wire[i]);
    }));
    return { ports, accounts };
  }

  // Draws the runs of a glass from its exit on.
  drawLevel({ place, fill, notches, pieces }, runs) {
    const { high = GLASS } = place;
    let done = 0;
    notches.setAttribute("d", (runs.marked ?? []).map((bytes) => (place.wide - 3) * Math.min(1, bytes / place.scale)).map((from) => `M${(place.exit ? place.x + place.wide - 1.5 - from : place.x + 1.5 + from).toFixed(1)} ${place.y - high / 2 + 1}v4`).join(""));
    runs.forEach(({ kind, bytes }, n) => {
      const piece = (pieces[n] ??= svgShape("rect", { y: place.y - high / 2 + 1.5, height: high - 3, "stroke-width": 1 }, fill));
      const from = (place.wide - 3) * Math.min(1, done / place.scale), wide = (place.wide - 3) * Math.min(1, (done + bytes) / place.scale) - from;
      piece.setAttribute("x", place.exit ? place.x + place.wide - 1.5 - from - wide : place.x + 1.5 + from);
      piece.setAttribute("width", Math.max(0, wide));
      const colour = kind & OWN ? "var(--pl-network)" : "var(--pl-edge)";
      piece.setAttribute("fill", kind & REFUSED ? "var(--pl-box)" : colour);
      piece.setAttribute("stroke", kind & RESENT ? "var(--pl-hot)" : kind & REFUSED ? (kind & OWN ? "var(--pl-network)" : "var(--pl-edge)") : "none");
      done += bytes;
    });
    for (let n = runs.length; n < pieces.length; n++) pieces[n].setAttribute("width", 0);
  }

  // What is on a link.
  onLink({ number, line: [[x0, y0], [x1, y1]], cell, roll }, time, flow, moving) {
    const { cells, data } = this, i = cells.sending(number, time), lasts = i < 0 ? 0 : cells.end[i] - cells.start[i];
    const quick = moving && lasts < TOO_QUICK * flow * FRAME_S, colour = i >= 0 && data.flows[cells.flow[i]].own ? "var(--pl-network)" : "var(--pl-edge)";
    roll.setAttribute("visibility", i >= 0 && quick ? "visible" : "hidden");
    cell.setAttribute("visibility", i >= 0 && !quick ? "visible" : "hidden");
    if (i < 0) return;
    if (quick) {
      roll.setAttribute("stroke", colour);
      roll.setAttribute("stroke-dashoffset", -(((125 * time) / flow) % 14));
      return;
    }
    const part = (time - cells.start[i]) / lasts;
    // what of it is on the link: the rest has left its port, or is in the next one
    const [begin, end] = x0 === x1 ? [y0, y1] : [x0, x1], middle = begin + (end - begin) * part, least = Math.max(Math.min(begin, end), middle - CELL / 2);
    cell.setAttribute(x0 === x1 ? "y" : "x", least);
    cell.setAttribute(x0 === x1 ? "height" : "width", Math.min(Math.max(begin, end), middle + CELL / 2) - least);
    const refused = cells.kind[i] & DISCARDED;
    cell.setAttribute("fill", refused ? "var(--pl-paper)" : colour);
    cell.setAttribute("stroke", cells.kind[i] & AGAIN ? "var(--pl-hot)" : refused ? colour : "none");
  }

  // A pause, its end or a notification, on its way against the bytes.
  signalOn({ number, line: [[x0, y0], [x1, y1]], signal }, time, flow) {
    const word = this.words.last(number, time, ([, , sent, arrives]) => time < Math.max(arrives, sent + HELD_S * flow));
    signal.setAttribute("visibility", word ? "visible" : "hidden");
    if (!word) return;
    const [, which, sent, arrives] = word, part = Math.min(1, (time - sent) / Math.max(arrives - sent, HELD_S * flow));
    signal.setAttribute("x", x1 + (x0 - x1) * part - signal.width.baseVal.value / 2);
    signal.setAttribute("y", y1 + (y0 - y1) * part - signal.height.baseVal.value / 2);
    signal.setAttribute("fill", WORDS[which]);
  }
}
