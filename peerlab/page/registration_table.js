// The registration table beside the NIC: which memory is registered at a moment, and what that costs.
import { Rows } from "./rows.js";
import { sayTime } from "./words.js";

const TABLE = { left: 414, right: 646, top: 20, pitch: 18, rows: 4, inset: 7, between: 18 };
const BESIDE_TITLE = 24; // units: a title that has less beside it is cut short
const HIT = "hit";
const PLAIN_ROW = { fill: "box", ink: "ink", inkOf: "muted", style: "normal", done: 1, cost: "" };
const ALL_HITS = { state: { ...PLAIN_ROW, inkOf: "direct-ink", style: "bold" } }; // in the place of rows that all say so
const SAID_OF_ALL = [["regions looked up", "all hits"], ["regions", "all hits"]];

/**
 * @typedef {object} StandingTable A registration table in which nothing happens
 * @property {boolean} live
 * @property {string} title
 * @property {string[][]} lines
 */
/**
 * @typedef {object} LiveTable A registration table that changes in time
 * @property {boolean} live
 * @property {string} title
 * @property {PageRows} rows
 * @property {string[]} kinds
 * @property {number} chunks
 * @property {string} device
 * @property {number} devices
 * @property {string} total
 */
export class RegistrationTable {
  constructor(figures) {
    this.figures = figures;
  }

  apply(table) {
    this.table = table;
    if (!table.live) return;
    this.registered = new Rows(table.rows, {
      floats: ["start", "end"],
      ints: ["device", "kind", "side", "position", "nbytes", "step"],
      begin: "start",
      end: "end",
    });
  }

  // Adds what the table shows at a moment; `hot`: registering is what the run waits for; wide(text, size, style) says how much
  // of the scene words take; `style` is that of words that are no names.
  add(words, quads, time, pace, { hot, wide, style }) {
    const { table } = this, { left, right, top, pitch, rows, inset } = TABLE, height = rows * pitch;
    if (hot) quads.push([left - 5, top - 19, right + 5, top + height + 16, "none", "hot"]);
    if (!table.live && (this.figures.sparse || !table.title)) return; // its rows are words
    const [title] = table.title.split(", "), whole = wide(table.title, 12, "bold") <= right - left - BESIDE_TITLE;
    words.push([left, 11, whole ? table.title : title, 12, "bold", "ink", "left"]);
    if (!table.live) {
      table.lines.forEach(([name, note], i) => {
        const y = top + i * pitch;
        quads.push([left, y, right, y + pitch - 2, "box", "faint"]);
        words.push([left + inset, y + 8, name, 11, "normal", "ink", "left"]);
        words.push([right - inset, y + 8, note, 11, "normal", "muted", "right"]);
      });
      return;
    }
    const found = this.regions(time, rows).map((region) => ({ region, state: this.stateOf(region, time, pace) }));
    const seen = found.length && found.every(({ state }) => state.word === HIT) ? [ALL_HITS] : found;
    seen.forEach(({ region, state }, i) => {
      const y = top + i * pitch, [name, note] = region ? this.wordsOf(region, state, wide) : fitting(SAID_OF_ALL, state, wide);
      quads.push([left, y, right, y + pitch - 2, state.fill, "faint"]);
      if (state.done < 1) quads.push([left, y, left + (right - left) * state.done, y + pitch - 2, "register-wash", "none"]);
      words.push([left + inset, y + 8, name, 11, style, state.ink, "left"]);
      words.push([right - inset, y + 8, note, 11, state.style === "bold" ? "bold" : style, state.inkOf, "right"]);
    });
    if (!table.total) return; // all were hits
    const total = table.total.split(", ");
    while (total.length > 1 && wide(total.join(", "), 11, "normal") > right - left) total.pop(); // first whose it is
    words.push([left, top + rows * pitch + 6, total.join(", "), 11, "normal", "muted", "left"]);
  }

  // The regions last asked for, in a stable order.
  regions(time, most) {
    const { registered, table } = this, seen = new Map();
    for (const [i, shift, j, s] of registered.recent(time, 40)) {
      const own = registered.position[i];
      const position = own < 0 ? -1 : (own + j * s.steps) % table.chunks; // a send buffer is one row, whichever part of it
      const key = `${registered.device[i]},${position}`;
      if (!seen.has(key)) seen.set(key, { device: registered.device[i], position, row: i, shift });
      if (seen.size === most) break;
    }
    return [...seen.values()].sort((a, b) => a.device - b.device || a.position - b.position);
  }

  // Name and state of a region; where both have no room in a row, without what it cost, then with a shorter name, and then without whose it is.
  wordsOf({ device, position }, { word, cost, style }, wide) {
    const { table } = this, name = position < 0 ? "send buffer" : `chunk ${position}`;
    const whose = table.devices > 1 ? `${table.device} ${device}, ` : "", full = whose + name;
    return fitting([[full, word + cost], [full, word], [whose + name.replace(" buffer", ""), word], [name, word]], { style }, wide);
  }

  stateOf({ row, shift }, time, pace) {
    const { registered, table } = this, kind = table.kinds[registered.kind[row]];
    const start = registered.start[row] + shift, end = registered.end[row] + shift, fresh = time - end < pace * 0.35;
    const cost = ` in ${sayTime(end - start)}`;
    if (kind === HIT) return { ...ALL_HITS.state, word: HIT, fill: fresh ? "direct-wash" : "box" };
    if (kind === "miss" || kind === "uncached") {
      if (time < end) return { ...PLAIN_ROW, word: "registering", cost: cost.replace(" in", ","), inkOf: "register-ink", style: "bold", done: (time - start) / (end - start) };
      return { ...PLAIN_ROW, word: "registered", cost };
    }
    const word = kind === "evict" ? "evicted" : "released";
    return { ...PLAIN_ROW, word, cost, ink: "muted", inkOf: kind === "evict" ? "hot-ink" : "muted", fill: "panel" };
  }
}

// Of some names with their notes the first that has room in a row, or the last.
function fitting(pairs, { style }, wide) {
  const room = TABLE.right - TABLE.left - 2 * TABLE.inset - TABLE.between;
  return pairs.find(([left, right]) => wide(left, 11, "normal") + wide(right, 11, style) <= room) ?? pairs.at(-1);
}
