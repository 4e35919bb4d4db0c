// A data path unrolled, with its slices as trains: as long as the time for which they occupy a stretch.
import { freePlace, meet, widthOf } from "./places.js";
import { Rows } from "./rows.js";
import { svgShape, svgText } from "./svg.js";

const CARRIAGE = 22; // px, with the gap behind it: texture, so that one sees a train move
const GAP = 2.5;
const QUEUE = 8; // so many waiting slices have their usual distance: more stand closer, so that all are drawn
const DENSEST = 20; // more than so many are one block
const HILL = 60; // px: how high a hill is at least where the number of slices that wait on it stands above them
const SPEED = 130; // px per second of watching, at which carriages roll where single slices are too quick to see
const BED = 13; // px: how broad the road is
const RIM = 8; // px: half a circle with its edge; slices begin and end beside it
const SHORT = 100; // px: a hill is at least so long beside a wire with room for its words
const APART = 14; // px from a name to the wire's words, and to slices that wait, at least: nearer they would read as one line
const EDGE = { "paint-order": "stroke", stroke: "var(--pl-panel)", "stroke-width": 3, "stroke-linejoin": "round" }; // words stay readable on a line
const BLUR_S = 0.15; // over so much watching they are counted then
const TOO_QUICK = 0.25; // a frame that takes longer than this part of a slice's time on a stretch shows no single slices

/**
 * @typedef {object} Road A data path as the page draws it
 * @property {Stop[]} stops
 * @property {Stretch[]} stretches
 * @property {Sign[]} signs
 * @property {number[]} spared
 * @property {PageRows} slices
 */
/**
 * @typedef {object} Stop A place on the road
 * @property {number} x
 * @property {number} level
 * @property {string} name
 * @property {boolean} hot
 */
/**
 * @typedef {object} Stretch A part of the road from one stop to the next
 * @property {number[][]} points
 * @property {string} role
 * @property {boolean} flight
 * @property {boolean} hot
 */
/**
 * @typedef {object} Sign Words beside the road
 * @property {number} x
 * @property {number} level
 * @property {string[]} words
 * @property {boolean} hot
 */
export class RaceRoad {
  // `alone`: no other road stands above or below it, whose places it would have to meet; `role`: whose colour all slices have, as where a page tells paths apart by it; none: each what is done with it; `both`: what limits is named on both hills where it has room.
  constructor(host, road, { alone = false, role = null, both = false } = {}) {
    Object.assign(this, { host, road, alone, role, other: both && otherHill(road) });
    this.rows = new Rows(road.slices, { floats: ["came", "enter", "out", "leave", "gone", "work"], ints: ["stretch", "device", "slice"], begin: "came", end: "gone" });
    this.paired = this.rows.device.some((device) => device > 0); // two devices take turns; else slices do
    this.typical = road.stretches.map((_, i) => median(this.rows, i));
    this.queued = new Set([...this.rows.stretch].filter((_, i) => this.rows.enter[i] > this.rows.came[i])); // stops before which some slice waits
    this.waitWords = `${"8".repeat(Math.max(2, String(mostWaiting(this.rows, this.queued)).length))} wait`; // as wide as any number of them
  }

  // Draws what stands still; `zoom` is how large shapes are, `letters` how large words, px, `sides` how far the ends of the road are from those of the drawing, and `wire` where the wire's words stand at least (`wirePlace`). Words without room have rows below the names; those of a hill that have none there, either, stand above its name.
  paint(zoom, letters = 12 * zoom, sides = this.sides(zoom, letters), wire = 0, further = 0, over = 0) {
    const { host, road } = this, width = host.clientWidth, height = host.clientHeight, hilly = road.stops.some(({ level }) => level);
    host.replaceChildren();
    host.setAttribute("viewBox", `0 0 ${width} ${height}`);
    Object.assign(this, { zoom, letters, row: 1.25 * letters, width, height, taken: [] });
    this.spread(sides);
    const own = this.wirePlace(zoom, letters, sides), place = this.lowWords().wire ? Math.max(own, wire) : own;
    this.forced = place > own;
    this.above = place === 1;
    const foot = height - 21 * zoom - letters - this.row * (this.rowsBelow(place) + further), named = 14 * zoom + letters + this.row * over;
    const lift = road.stops.some(({ level }, i) => level && this.queued.has(i)) ? 15 * zoom : 0, top = foot - named - lift < HILL * zoom ? named : named + lift;
    this.y = (level) => (level ? top : hilly || road.spared.length ? foot : Math.min(foot, height / 2 + 8 * zoom));
    this.beds = road.stretches.map(({ points }) => ({ points: points.map(([x, level]) => [this.x(x), this.y(level)]), thick: (BED + 4) * zoom }));
    this.spare(road.spared, zoom);
    road.stretches.forEach(({ hot }, i) => this.edge(hot, this.beds[i].points, zoom)); // below all beds, so that none is crossed by the edge of another one
    this.tracks = road.stretches.map((one, i) => this.track(one, this.beds[i].points, zoom, [i, i + 1].map((end) => (road.stops[end]?.name ? RIM * zoom : 0))));
    road.stops.forEach((stop) => this.stop(stop, zoom));
    this.names(zoom);
    const lacking = road.signs.filter((sign) => !this.sign(sign));
    const rows = (high) => Math.max(0, ...lacking.filter(({ level }) => Boolean(level) === high).map(({ words }) => words.length));
    const [low, high] = [rows(false), rows(true)];
    if (high && !over && this.alone) return void this.paint(zoom, letters, sides, wire, further, high); // above their hill they stand at it
    if (lacking.length && !further && !over) return void this.paint(zoom, letters, sides, wire, Math.max(low, high - 1, 1));
    if (high && !over) return void this.paint(zoom, letters, sides, wire, low, high);
    if (this.other) this.sign(this.other, true);
    this.queues = road.stops.map((_, i) => this.queued.has(i) && Object.assign(svgShape("g", { fill: "var(--pl-ink)" }, host), { place: this.queuePlace(i) }));
  }

  // How much room the names of the road's ends need beyond it, and slices that wait before the first: left and right. A road that stands alone is in the middle, where slices that wait on its first hill and the wire's words have room then.
  sides(zoom, letters) {
    Object.assign(this, { zoom, letters });
    const [first, last] = [this.road.stops[0], this.road.stops.at(-1)].map(({ name }) => this.wide(name, true) / 2 + 4 * zoom), end = Math.max(24 * zoom, last);
    const row = Math.max(this.queueWide() + 10 * zoom, first), side = Math.max(end, this.queued.has(0) ? row : first), hill = firstHill(this.road.stops);
    const room = hill ? side + hill.x * (this.host.clientWidth - 2 * side) - this.wide(hill.name, true) / 2 - APART * zoom : Infinity;
    const [even, uneven] = [[side, side], [row, end]];
    return this.alone && room > this.queueWide() && this.wirePlace(zoom, letters, even) <= this.wirePlace(zoom, letters, uneven) ? even : uneven;
  }

  wide(words, bold) {
    return widthOf(words, this.letters, bold);
  }

  // How broad a row of waiting slices is, or their number above it.
  queueWide() {
    return Math.max(5 * QUEUE * this.zoom, this.wide(this.waitWords) + 4 * this.zoom);
  }

  // The road's ends stand so far from those of its drawing. Where a road that stands alone is short, its wire is as long as its words need between the names of its ends.
  spread([left, right]) {
    const wide = this.host.clientWidth - left - right, { wire, low } = this.lowWords();
    this.x = (part) => left + part * wide;
    if (!this.alone || !wire || !low.length) return;
    const [from, to] = wire.map(({ x }) => x), needed = this.betweenNames(wire, low) / wide, outside = (1 - needed) / (1 - to + from);
    if (needed <= to - from || outside * from * wide < SHORT * this.zoom) return;
    const part = (at) => (at < from ? at * outside : at > to ? 1 - (1 - at) * outside : from * outside + ((at - from) * needed) / (to - from));
    this.x = (at) => left + part(at) * wide;
  }

  // How long a wire is at least that has its words between the names of its ends.
  betweenNames([from, to], low) {
    const words = Math.max(...low.flatMap(({ words, hot }) => words.map((word) => this.wide(word, hot))));
    return words + (this.wide(from.name, true) + this.wide(to.name, true)) / 2 + (2 * APART + 1) * this.zoom;
  }

  // Where the wire's words stand: 0 between the names of its ends, 1 above it where they have no room there, 2 below the names.
  wirePlace(zoom, letters, sides) {
    Object.assign(this, { zoom, letters });
    this.spread(sides);
    const { wire, low, lines } = this.lowWords();
    if (!wire || !low.length) return 0;
    const [from, to] = wire, room = this.x(to.x) - this.x(from.x), needed = Math.max(...low.flatMap(({ words, hot }) => words.map((word) => this.wide(word, hot))));
    if (needed < room - (this.wide(from.name, true) + this.wide(to.name, true)) / 2 - 2 * APART * zoom) return 0;
    return lines === 1 && needed < room - 8 * zoom ? 1 : 2;
  }

  // The ends of the wire, the words at the road's foot, and how many lines they have.
  lowWords() {
    const { stops, signs, stretches } = this.road, low = signs.filter(({ level }) => !level), number = stretches.findIndex(({ flight }) => flight);
    return { wire: number < 0 ? null : [stops[number], stops[number + 1]], low, lines: Math.max(0, ...low.map(({ words }) => words.length)) };
  }

  // How many rows of words there are below the names of the stops, where the wire's stand at such a place.
  rowsBelow(place) {
    const { wire, lines } = this.lowWords();
    return wire && lines ? [lines - 1, 0, lines][place] : 0;
  }

  // Writes words below the road, and returns whether they lie on no others: at its foot beside the names or below them, under a hill as high as they have room.
  sign({ x, level, words, hot }, optional = false) {
    const { zoom, letters, row } = this, half = Math.max(...words.map((word) => this.wide(word, hot))) / 2, middle = this.x(x), first = this.y(level) + 13 * zoom + letters;
    const downs = level ? Array.from({ length: 1 + Math.ceil(this.height / (2 * zoom)) }, (_, i) => 2 * zoom * i) : this.above ? [-26 * zoom - letters - row * (words.length - 1)] : this.forced ? [row, 2 * row] : [0, row, 2 * row];
    const places = [...downs.map((down) => first + down), ...(level ? [this.y(level) - 13 * zoom - row * words.length] : [])].map((y) => {
      return { y, box: { left: middle - half - 6 * zoom, right: middle + half + 6 * zoom, top: y - 0.83 * letters, bottom: y + row * (words.length - 1) + 0.25 * letters } };
    });
    const lowest = level && this.alone ? this.y(0) : this.height; // else they would stand beside its foot
    const { y, box } = freePlace(places.filter((place) => place.box.bottom <= lowest), this, this.beds, this.taken) ?? places[0], clear = box.top >= 0 && !this.taken.some((other) => meet(box, other));
    if (optional && !clear) return false;
    this.taken.push(box);
    words.forEach((word, i) => this.text(middle, y + row * i, word, { hot, bold: hot, kind: "rc-sign" }));
    return clear;
  }

  // Where slices stand that wait for a stop, before it if there is room: the right end of their row, or its left end if their number is beside them, and their number's, if it has room anywhere.
  queuePlace(number) {
    const { zoom, road } = this, { x, level } = road.stops[number], at = this.x(x), base = this.y(level), row = 5 * QUEUE * zoom, said = this.wide(this.waitWords), wide = Math.max(row, said + 2 * zoom);
    const name = this.taken.find(({ stops }) => stops?.includes(number)) ?? { left: at, right: at }, [before, behind] = [name.left - APART * zoom, name.right + APART * zoom];
    const above = (right, y) => ({ right, y, say: { x: right, y: y - 5 * zoom }, box: { left: right - wide, right, top: y - 5 * zoom - this.letters, bottom: y + 12 * zoom } });
    const beside = (right, rows) => ({ left: rows && right - row, y: base - 23 * zoom, say: { x: right - rows * (row + 4 * zoom), y: base - 13 * zoom }, box: { left: right - rows * (row + 4 * zoom) - said, right, top: base - 12 * zoom - this.letters, bottom: base - 9 * zoom } });
    const both = row + said + 8 * zoom, high = [beside(before, 1), beside(behind + both, 1), beside(behind + said, 0), beside(before - both, 1), beside(behind + 2 * both, 1), beside(before - said - 6 * zoom, 0)];
    const low = [above(at - 9 * zoom, base - 23 * zoom), above(before, base + 26 * zoom), above(at + 9 * zoom + wide, base - 23 * zoom)];
    const first = level ? [above(before, base - 23 * zoom), ...high] : low, place = freePlace([...first, ...this.others(road.stops[number], above), { ...first.at(-1), say: null }], this, this.beds, this.taken);
    this.taken.push(place.box);
    return place;
  }

  // All other places, those near the stop first: on a short road there is room between the hills.
  others({ x, level }, above) {
    const step = 6 * this.zoom, [right, down] = [this.x(x) + this.queueWide() / 2, this.y(level) - 23 * this.zoom], far = (place) => Math.hypot(place.right - right, place.y - down);
    const places = Array.from({ length: Math.ceil(this.height / step) }, (_, row) => Array.from({ length: Math.ceil(this.width / step) }, (_, column) => above(column * step, row * step)));
    for (const { box } of places.flat()) box.right += 4 * this.zoom; // words stand at this end, and others may begin there
    return places.flat().sort((one, other) => far(one) - far(other));
  }

  // The edge of a stretch, which is seen while it is idle, and the frame of one that is full.
  edge(hot, points, zoom) {
    const shape = shapeOf(points);
    if (hot) svgShape("path", { ...shape, class: "rc-hot", stroke: "var(--pl-hot)", "stroke-width": (BED + 4) * zoom }, this.host);
    svgShape("path", { ...shape, stroke: "var(--pl-gather)", "stroke-width": BED * zoom, "stroke-linecap": "round" }, this.host);
  }

  // `rims`: what the circles at its ends cover of it.
  track({ role }, points, zoom, [before, behind]) {
    const shape = shapeOf(points);
    const bed = svgShape("path", { ...shape, stroke: "var(--pl-faint)", "stroke-width": (BED - 2) * zoom, "stroke-linecap": "round" }, this.host);
    const trains = [1, 0.6].map((strength) => {
      const own = `var(--pl-${this.role ?? role})`, colour = strength === 1 ? own : `color-mix(in srgb, ${own} 55%, var(--pl-panel))`;
      return svgShape("path", { ...shape, stroke: colour, "stroke-width": 9 * zoom, "stroke-dashoffset": -before, visibility: "hidden" }, this.host);
    });
    return { length: Math.max(1, bed.getTotalLength() - before - behind), trains };
  }

  stop({ x, level, name, hot }, zoom) {
    if (!name) return;
    svgShape("circle", { class: hot ? "rc-hot" : "", cx: this.x(x), cy: this.y(level), r: 7 * zoom, fill: "var(--pl-box)", stroke: hot ? "var(--pl-hot)" : "var(--pl-ink)", "stroke-width": (hot ? 3 : 2) * zoom }, this.host);
  }

  // Stops of one name beside each other, such as two in host memory, have it once.
  names(zoom) {
    const { stops } = this.road;
    for (let i = 0, j; i < stops.length; i = j) {
      for (j = i + 1; stops[i].level && j < stops.length && stops[j].level && stops[j].name === stops[i].name; ) j++;
      if (!stops[i].name) continue;
      const middle = (this.x(stops[i].x) + this.x(stops[j - 1].x)) / 2, y = this.y(stops[i].level) + (stops[i].level ? -13 * zoom : 13 * zoom + this.letters), half = this.wide(stops[i].name, true) / 2;
      this.taken.push({ left: middle - half, right: middle + half, top: y - 0.83 * this.letters, bottom: y + 0.25 * this.letters, stops: stops.slice(i, j).map((_, k) => i + k) });
      this.text(middle, y, stops[i].name, { bold: true });
    }
  }

  // Host memory that the road does not touch.
  spare(places, zoom) {
    for (const x of places) {
      const wide = this.wide("host memory") + 40 * zoom, high = 1.7 * this.letters, above = (room) => this.y(0) - room - high, clear = above(29 * zoom + this.letters); // of slices that wait
      const at = { x: this.x(x) - wide / 2, y: Math.min(10 * zoom, clear >= 0 ? clear : above((BED / 2 + 6) * zoom)) }; // above the road where a lane is low
      svgShape("rect", { ...at, width: wide, height: high, rx: 5 * zoom, fill: "none", stroke: "var(--pl-edge)", "stroke-dasharray": "4 3" }, this.host);
      this.taken.push({ left: at.x, right: at.x + wide, top: at.y, bottom: at.y + high });
      this.text(this.x(x), at.y + high / 2 + this.letters / 3, "host memory", {});
    }
  }

  text(x, y, words, { hot, bold, kind = "" }) {
    if (!words) return;
    const ink = hot ? "hot-ink" : bold ? "ink" : "muted";
    svgText(words, { x, y, "text-anchor": "middle", "font-size": this.letters, class: kind, fill: `var(--pl-${ink})`, "font-weight": bold ? 650 : 400, ...EDGE }, this.host);
  }

  // Draws the moment `time`, microseconds; `flow` is microseconds per second of watching, 0 while it stands; carriages roll or stand.
  draw(time, flow, rolls) {
    const here = this.slices(time);
    this.tracks?.forEach((track, i) => {
      const quick = flow / 60 > TOO_QUICK * this.typical[i];
      const shown = quick ? rolling(this.share(i, time, flow * BLUR_S), rolls ? (time / flow) * SPEED * this.zoom : 0, track.length, this.zoom) : trains(here.trains[i], track.length, this.pace(i, time), this.zoom);
      track.trains.forEach((path, tone) => {
        path.setAttribute("visibility", shown[tone].length ? "visible" : "hidden");
        if (shown[tone].length) path.setAttribute("stroke-dasharray", dashes(shown[tone], track.length));
      });
    });
    this.queues?.forEach((queue, i) => queue && this.queue(queue, here.waiting[i] ?? 0));
  }

  // How far carriages have rolled on a stretch, px: at the speed at which its slices cross it.
  pace(i, time) {
    return (time / (this.typical[i] || 1)) * 3 * CARRIAGE * this.zoom;
  }

  // The slices of a moment: those on each stretch as {from, to, density, tone}, and how many wait at each stop.
  slices(time) {
    const { rows, road } = this, onto = road.stretches.map(() => []), waiting = {};
    rows.between(time, time, (i, shift) => {
      const stretch = rows.stretch[i], [enter, out, leave, gone] = ["enter", "out", "leave", "gone"].map((name) => rows[name][i] + shift);
      if (time < enter) waiting[stretch] = (waiting[stretch] ?? 0) + 1;
      else if (time < gone) {
        const from = time < leave ? 0 : (time - leave) / (gone - leave), to = time < out ? (time - enter) / (out - enter) : 1;
        onto[stretch].push({ from, to, density: Math.min(1, rows.work[i] / (leave - enter || 1)), tone: (this.paired ? rows.device[i] : rows.slice[i]) % 2 });
      }
    });
    return { trains: onto, waiting };
  }

  // The share of the time before `time` in which a stretch served slices.
  share(stretch, time, span) {
    const { rows } = this, from = Math.max(0, time - span);
    let served = 0;
    rows.between(from, time, (i, shift) => {
      if (rows.stretch[i] !== stretch) return;
      const enter = rows.enter[i] + shift, leave = rows.leave[i] + shift;
      served += (Math.max(0, Math.min(time, leave) - Math.max(from, enter)) * rows.work[i]) / (leave - enter || 1);
    });
    return Math.min(1, served / (time - from || 1));
  }

  queue(group, count) {
    if (group.dataset.count === String(count) && group.childElementCount) return;
    group.dataset.count = count;
    group.replaceChildren();
    const { zoom } = this, { left, right, y, say } = group.place;
    const many = count > DENSEST, each = many ? 5 * QUEUE : Math.min(5, (5 * QUEUE) / count), wide = many ? each : 0.6 * each; // px from one to the next, and of one
    for (let k = 0; (left || right) && k < (many ? 1 : count); k++) svgShape("rect", { x: left ? left + k * each * zoom : right - (k * each + wide) * zoom, y, width: wide * zoom, height: 12 * zoom, rx: Math.min(1, wide / 3) * zoom, opacity: 0.75 }, group);
    if (count && say) svgText(count === 1 ? "1 waits" : `${count} wait`, { ...say, "text-anchor": "end", "font-size": this.letters, fill: "var(--pl-muted)" }, group);
  }
}

// The other hill on which what limits works, too, if there is one: its name, as how busy it is stands at the last hill.
export function otherHill({ stops, stretches, signs }) {
  const cause = signs.find(({ hot, level }) => hot && level), hot = stops.findIndex(({ level }, i) => level && (stretches[i]?.hot || stretches[i - 1]?.hot));
  if (!cause || hot < 0 || stops[hot].x > 0.5 || cause.x < 0.5) return null;
  return { ...cause, x: firstHill(stops).x, words: cause.words.slice(0, 1) };
}

// The hill of the first node: its middle and its name; nothing where the road stays flat there.
function firstHill(stops) {
  const hill = stops.filter(({ level, x }) => level && x < 0.5);
  return hill.length ? { x: hill.reduce((sum, stop) => sum + stop.x, 0) / hill.length, name: hill[0].name } : null;
}

// A road in words: its stops, and what stands beside it.
export function roadWords({ title, road }) {
  const names = road.stops.map(({ name }) => name).filter((name, i, all) => name && name !== all[i - 1]);
  return `${title}: ${names.join(", ")}. ${road.signs.filter(({ words }, i, all) => words.join() !== all[i - 1]?.words.join()).map(({ words }) => words.join(" ")).join(", ")}.`;
}

// How many slices wait at once at one of the stops where some do, at most.
function mostWaiting(rows, stops) {
  let most = 0;
  for (const stretch of stops) {
    const changes = [];
    for (let i = 0; i < rows.count; i++) if (rows.stretch[i] === stretch && rows.enter[i] > rows.came[i]) changes.push([rows.came[i], 1], [rows.enter[i], -1]);
    changes.sort(([a, up], [b, down]) => a - b || up - down);
    let waiting = 0;
    for (const [, change] of changes) most = Math.max(most, (waiting += change));
  }
  return most;
}

// A stretch as a line.
function shapeOf(points) {
  return { d: points.map(([x, y], i) => `${i ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join(""), fill: "none", "stroke-linejoin": "round" };
}

function median(rows, stretch) {
  const found = [];
  for (let i = 0; i < rows.count; i++) if (rows.stretch[i] === stretch) found.push(rows.leave[i] - rows.enter[i]);
  return found.sort((a, b) => a - b)[found.length >> 1] ?? 0;
}

// Pieces of a stretch in both tones: carriages of the trains on it; where trains share it, they take turns.
function trains(found, length, rolled, zoom) {
  const size = CARRIAGE * zoom, pieces = [[], []];
  if (!found.length) return pieces;
  for (let k = 0, at = (rolled % size) - size; at < length; at += size, k++) {
    const middle = (at + size / 2) / length, there = found.filter(({ from, to }) => from <= middle && middle <= to);
    const end = there.length ? null : found.find(({ from, to }) => from * length < at + size && to * length > at), one = end ?? there[k % there.length]; // a train that is shorter than a carriage is seen, too
    if (!one) continue;
    const from = Math.max(at, end ? end.from * length : 0), to = Math.min(at + (size - GAP * zoom) * one.density, end ? end.to * length : length);
    if (to > from) pieces[one.tone].push([from, to]);
  }
  return pieces;
}

// The same where single slices are too quick to see: carriages with as much room between them as the stretch is idle.
function rolling(share, rolled, length, zoom) {
  const size = CARRIAGE * zoom, pieces = [];
  if (share < 0.01) return [[], []];
  for (let at = (rolled % size) - size; at < length; at += size) {
    const from = Math.max(at, 0), to = Math.min(at + Math.max(2, (size - GAP * zoom) * share), length);
    if (to > from) pieces.push([from, to]);
  }
  return [pieces, []];
}

// Pieces of a line as its pattern of dashes.
function dashes(pieces, length) {
  const found = [0];
  let end = 0;
  for (const [from, to] of pieces) {
    found.push(from - end, to - from);
    end = to;
  }
  return [...found, length * 2].map((value) => value.toFixed(1)).join(" ");
}
