// The data path at a moment: where every slice is, which memory is registered, which step the ring is in.
const SCENE_WIDTH = 1060;
const SCENE_HEIGHT = 272;
const RING = { x: 530, y: 141, radius: 18, dots: 24, words: 30 };
const TABLE = { left: 414, right: 646, top: 24, pitch: 18, rows: 4 };
const PASSED = ["start", "sent", "received", "turned", "end"]; // when a slice passes what lies on the way of its stage

class Scene {
  constructor(figures, host) {
    this.figures = figures;
    this.host = host;
    this.scale = 1;
    this.squeeze = 1; // how much wider than high a unit of the scene is on the page
    this.capacity = 0;
  }

  apply(data) {
    this.data = data.scene;
    this.meta = data.meta;
    this.moves = new Rows(data.moves, {
      floats: ["enter", ...PASSED, "until"],
      ints: ["device", "step", "slice", "whose", "stage"],
      begin: "enter",
      end: "until",
    });
    this.table = data.table;
    this.registered = data.table.live
      ? new Rows(data.table.rows, {
          floats: ["start", "end"],
          ints: ["device", "kind", "side", "position", "nbytes", "step"],
          begin: "start",
          end: "end",
        })
      : null;
    this.ways = {};
    for (const [stage, devices] of Object.entries(this.data.ways))
      this.ways[stage] = devices.map((variants) => variants.map((points) => points.length && new Way(points)));
    this.paint();
  }

  // Draws what stands still, in the colours of the theme and at the size of the page.
  paint() {
    const { figures, data } = this;
    const { clientWidth: width, clientHeight: height } = this.host;
    this.size = this.room();
    if (width > 50) this.scale = width / SCENE_WIDTH; // not while it is hidden
    if (height > 50) this.squeeze = this.scale / (height / SCENE_HEIGHT);
    for (const name of ["panels", "pipes", "loads", "boxes", "slots"]) figures.fill(`scene_${name}`, data[name], ["fill", "line"]);
    figures.fill("scene_lines", data.lines, ["line"]);
    const kept = [...data.texts.style.keys()].filter((i) => this.reads(data.texts.style[i]));
    const texts = Object.fromEntries(Object.entries(data.texts).map(([name, column]) => [name, kept.map((i) => column[i])]));
    figures.fill("scene_texts", { ...texts, size: texts.size.map((size) => this.px(size)) }, ["ink"]);
    this.palette = {};
    for (const [stage, role] of Object.entries(data.roles)) this.palette[stage] = figures.colour(role);
    this.edge = figures.colour("box");
    this.lastWords = "";
  }

  // How much there is: what was painted for it need not be painted again.
  room() {
    return `${this.host.clientWidth} x ${this.host.clientHeight}`;
  }

  // Whether words of a style are written: where there is little room, only names are.
  reads(style) {
    return style === "bold" || !this.figures.sparse;
  }

  px(size) {
    return `${(size * (this.figures.sceneText ?? Math.min(this.scale, 1.3))).toFixed(1)}px`; // words need not grow as far as boxes do
  }

  // Draws the moment `time` (microseconds); `pace` is microseconds per second of watching.
  draw(time, pace) {
    const slices = this.slices(time);
    this.drawSlices(slices);
    this.drawWords(time, pace, slices);
  }

  // Where every slice is: [{x, y, stage, hollow}], and how many wait for each stage.
  slices(time) {
    const { moves, data } = this, placed = [], waiting = {}, OWN = 1;
    moves.between(time, time, (i, shift) => {
      if (time >= moves.until[i] + shift) return;
      const stage = moves.stage[i], device = moves.device[i], start = moves.start[i] + shift, end = moves.end[i] + shift;
      if (time < start) {
        if (moves.whose[i] & OWN) (waiting[`${stage},${device}`] ??= []).push(moves.enter[i] + shift);
        return;
      }
      const times = PASSED.map((name) => moves[name][i] + shift);
      this.ways[stage][device].forEach((way, variant) => {
        if (!way || !(moves.whose[i] & (1 << variant)) || (variant && time > end)) return;
        const stops = data.stops[stage][device][variant];
        if (stops[0] === 0 && time < times[1]) return; // it has not come into sight
        placed.push({ ...way.at(gone(time, times, stops)), stage, hollow: variant > 0, row: i, shift });
      });
    });
    const counts = {};
    for (const [key, entered] of Object.entries(waiting)) {
      const [stage, device] = key.split(",");
      const places = data.waiting[stage][device];
      counts[stage] = (counts[stage] ?? 0) + entered.length;
      for (let i = 0; i < Math.min(entered.length, places.length); i++)
        placed.push({ x: places[i][0], y: places[i][1], stage, hollow: false, waits: true });
    }
    return { placed, counts };
  }

  drawSlices({ placed }) {
    const source = this.figures.model("scene_slices");
    if (placed.length > this.capacity) {
      this.capacity = Math.max(64, 2 * placed.length);
      const blank = (value) => new Array(this.capacity).fill(value);
      source.data = { x: blank(NaN), y: blank(NaN), fill: blank("#000"), line: blank("#000"), size: blank(0) };
    }
    const { x, y, fill, line, size } = source.data, zoom = Math.min(this.scale, 1.4), solid = 10 * zoom, small = 7.5 * zoom;
    for (let i = 0; i < this.capacity; i++) {
      const one = placed[i];
      x[i] = one ? one.x : NaN;
      y[i] = one ? one.y : NaN;
      if (!one) continue;
      const colour = this.palette[one.stage];
      fill[i] = one.hollow ? this.edge : colour;
      line[i] = one.hollow ? colour : this.edge;
      size[i] = one.hollow ? small : solid;
    }
    source.change.emit();
  }

  drawWords(time, pace, { counts }) {
    const words = [], quads = [];
    this.addBadges(words, counts);
    const ring = this.addRing(words, time);
    this.addNames(words, time);
    this.addTable(words, quads, time, pace);
    const key = JSON.stringify([words, quads, this.scale, this.figures.theme]);
    if (key === this.lastWords) return;
    this.lastWords = key;
    this.figures.fill("scene_ring", ring, ["fill"]);
    const columns = { x: [], y: [], text: [], size: [], style: [], ink: [], align: [], baseline: [] };
    for (const [x, y, text, size, style, ink, align] of words) {
      if (!this.reads(style)) continue;
      const row = { x, y, text, size: this.px(size), style, ink, align, baseline: "middle" };
      for (const name in columns) columns[name].push(row[name]);
    }
    this.figures.fill("scene_words", columns, ["ink"]);
    const rows = { left: [], right: [], top: [], bottom: [], fill: [], line: [] };
    for (const [left, top, right, bottom, fill, line] of quads) {
      const row = { left, top, right, bottom, fill, line };
      for (const name in rows) rows[name].push(row[name]);
    }
    this.figures.fill("scene_rows", rows, ["fill", "line"]);
  }

  addBadges(words, counts) {
    for (const [stage, count] of Object.entries(counts)) {
      if (count < 3) continue;
      const [x, y, align] = this.data.badges[stage];
      words.push([x, y, `${count} wait`, 12, "bold", "hot-ink", align]);
    }
  }

  // Who is shown: the same two nodes all the time, or a partner that changes from step to step.
  addNames(words, time) {
    const { sight, names } = this.data, step = Math.min(this.step(time), sight.partner.length - 1), { node, other } = names;
    const name = (number) => `node ${number}${sight.slow[number] ? `, ${sight.slow[number]}` : ""}`;
    words.push([node[0], node[2], name(sight.node), 13, "bold", sight.slow[sight.node] ? "hot-ink" : "ink", "left"]);
    const partner = sight.partner[step];
    if (partner >= 0) words.push([node[1], node[2], name(partner), 13, "bold", sight.slow[partner] ? "hot-ink" : "ink", "right"]);
    if (sight.source[step] >= 0) words.push([other[0], other[2], `from node ${sight.source[step]}`, 11, "normal", "muted", "right"]);
    if (sight.beyond[step] >= 0) words.push([other[1], other[2], `to node ${sight.beyond[step]}`, 11, "normal", "muted", "left"]);
  }

  // The ring: nodes whose contribution a slice of this step carries when it arrives (or that have the finished one then).
  addRing(words, time) {
    const { nodes, steps, reducing } = this.meta, columns = { x: [], y: [], fill: [], size: [] };
    if (!steps || this.meta.collective === "point-to-point") return columns;
    const step = this.step(time), dots = Math.min(nodes, RING.dots);
    const reached = this.meta.ring ? (step % (nodes - 1)) + 2 : 1, lit = Math.max(1, Math.round((reached * dots) / nodes));
    // round on the page, and clear of the words below it, however flat the scene is
    const down = Math.max(4, Math.min(RING.radius * this.squeeze, RING.words - 9 * this.squeeze)), across = down / this.squeeze;
    for (let i = 0; i < dots; i++) {
      const angle = (2 * Math.PI * i) / dots - Math.PI / 2, back = (dots - i) % dots;
      columns.x.push(RING.x + across * Math.cos(angle));
      columns.y.push(RING.y + down * Math.sin(angle));
      columns.fill.push(back < lit ? "register" : "faint");
      columns.size.push((i === 0 ? 8 : dots > 12 ? 4 : 6.5) * this.scale);
    }
    const { partner } = this.data.sight, mate = partner[Math.min(step, partner.length - 1)];
    if (!this.meta.ring && mate >= 0) columns.fill[Math.round((((mate - this.data.sight.node + nodes) % nodes) * dots) / nodes) % dots] = "register";
    const doing = this.meta.collective === "alltoall" ? "exchanging" : step < reducing ? "adding up" : "handing out";
    words.push([RING.x, RING.y + RING.words, `step ${step + 1} of ${steps}: ${doing}`, 12, "normal", "ink", "center"]);
    words.push([RING.x, RING.y, `${nodes}`, 11, "bold", "muted", "center"]);
    return columns;
  }

  // The latest step of which a slice has been sent.
  step(time) {
    let step = 0;
    for (const [i, , j, s] of this.moves.recent(time, 8)) if (this.moves.whose[i] & 1 || !this.meta.ring) step = Math.max(step, this.moves.step[i] + j * s.steps);
    return step;
  }

  addTable(words, quads, time, pace) {
    const { left, right, top, pitch, rows } = TABLE, { table } = this, height = rows * pitch;
    if (this.meta.hot === "registration") quads.push([left - 5, top - 22, right + 5, top + height + 17, "hot-wash", "hot"]);
    if (!table.live && this.figures.sparse) return; // its rows are words
    words.push([left + 2, 13, table.title, 12, "bold", "ink", "left"]);
    if (!table.live) {
      table.lines.forEach(([name, note], i) => {
        const y = top + i * pitch;
        quads.push([left, y, right, y + pitch - 3, "box", "faint"]);
        words.push([left + 7, y + 8, name, 11, "normal", "ink", "left"]);
        words.push([right - 7, y + 8, note, 11, "normal", "muted", "right"]);
      });
      return;
    }
    this.regions(time, rows).forEach((region, i) => {
      const y = top + i * pitch, state = this.stateOf(region, time, pace);
      quads.push([left, y, right, y + pitch - 3, state.fill, "faint"]);
      if (state.done < 1) quads.push([left, y, left + (right - left) * state.done, y + pitch - 3, "register-wash", "none"]);
      words.push([left + 7, y + 8, this.nameOf(region), 11, "normal", state.ink, "left"]);
      words.push([right - 7, y + 8, state.text, 11, state.style, state.inkOf, "right"]);
    });
    words.push([left + 2, top + rows * pitch + 8, table.total, 11, "normal", "muted", "left"]);
  }

  // The regions last asked for, in a stable order.
  regions(time, most) {
    const { registered, table } = this, seen = new Map();
    for (const [i, shift, j, s] of registered.recent(time, 40)) {
      const own = registered.position[i];
      const position = own < 0 ? own : (own + j * s.steps) % table.chunks;
      const key = `${registered.device[i]},${position}`;
      if (!seen.has(key)) seen.set(key, { device: registered.device[i], position, row: i, shift });
      if (seen.size === most) break;
    }
    return [...seen.values()].sort((a, b) => a.device - b.device || a.position - b.position);
  }

  nameOf({ device, position }) {
    const { table } = this, whose = table.devices > 1 ? `${table.device} ${device}, ` : "";
    return whose + (position < 0 ? "send buffer" : `chunk ${position}`);
  }

  stateOf({ row, shift }, time, pace) {
    const { registered, table } = this, kind = table.kinds[registered.kind[row]];
    const start = registered.start[row] + shift, end = registered.end[row] + shift, fresh = time - end < pace * 0.35;
    const plain = { fill: "box", ink: "ink", inkOf: "muted", style: "normal", done: 1 };
    const cost = ` ${sayTime(end - start)}`;
    if (kind === "hit") return { ...plain, text: "hit", fill: fresh ? "direct-wash" : "box", inkOf: "direct-ink", style: "bold" };
    if (kind === "miss" || kind === "uncached") {
      if (time < end) return { ...plain, text: `registering${cost}`, inkOf: "register-ink", style: "bold", done: (time - start) / (end - start) };
      return { ...plain, text: `registered${cost}` };
    }
    const word = kind === "evict" ? "evicted" : "released";
    return { ...plain, text: `${word}${cost}`, ink: "muted", inkOf: kind === "evict" ? "hot-ink" : "muted", fill: "panel" };
  }
}

// Which part of its way a slice has gone: as evenly as it may, but never past a stop before its time (peerlab/view/geometry.py).
function gone(time, times, stops) {
  const last = times.length - 1, place = (k) => (k === last ? 1 : stops[k - 1]);
  for (let k = 0, at = 0; k < last; ) {
    let next = last, slowest = Infinity;
    for (let j = k + 1; j <= last; j++) {
      if (place(j) === null) continue;
      const pace = times[j] > times[k] ? (place(j) - at) / (times[j] - times[k]) : Infinity;
      if (pace <= slowest) [next, slowest] = [j, pace];
    }
    if (time < times[next]) return at + slowest * (time - times[k]);
    [k, at] = [next, place(next)];
  }
  return 1;
}

// A broken line that a slice goes along.
class Way {
  constructor(points) {
    this.points = points;
    this.lengths = [0];
    for (let i = 1; i < points.length; i++) {
      const [a, b] = [points[i - 1], points[i]];
      this.lengths.push(this.lengths[i - 1] + Math.abs(a[0] - b[0]) + Math.abs(a[1] - b[1]));
    }
  }

  at(fraction) {
    const { points, lengths } = this, along = fraction * lengths[lengths.length - 1];
    let i = 1;
    while (i < points.length - 1 && lengths[i] < along) i++;
    if (i >= points.length) return { x: points[0][0], y: points[0][1] };
    const part = (along - lengths[i - 1]) / (lengths[i] - lengths[i - 1] || 1);
    const [a, b] = [points[i - 1], points[i]];
    return { x: a[0] + (b[0] - a[0]) * part, y: a[1] + (b[1] - a[1]) * part };
  }
}

function sayTime(us) {
  if (us >= 1e6) return `${digits(us / 1e6)} s`;
  if (us >= 1e3) return `${digits(us / 1e3)} ms`;
  if (us >= 1) return `${digits(us)} µs`;
  return us <= 0 ? "0 s" : `${digits(us * 1e3)} ns`;
}

function sayBytes(bytes) {
  for (const [size, unit] of [[2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"]])
    if (bytes >= size) return `${digits(bytes / size)} ${unit}`;
  return `${bytes} B`;
}

function digits(value) {
  return value >= 100 ? value.toFixed(0) : value.toPrecision(3).replace(/\.?0+$/, "");
}
