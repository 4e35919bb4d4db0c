// The columns of a scene of ports: which cells wait at a port or lie in an account at a moment, which credits are out, how fast a sender may send.
import { upTo } from "./key_rows.js";
import { unpacked } from "./packed.js";

export const AGAIN = 1; // what a cell is: sent before
export const MARKED = 2; // marked by a queue
export const DISCARDED = 4; // refused by its receiver

// Packed columns as arrays by their names; those of `whole` are whole numbers.
function columns({ arrays }, whole) {
  return Object.fromEntries(Object.entries(arrays).map(([name, text]) => [name, whole.includes(name) ? new Int32Array(unpacked(text)) : new Float32Array(unpacked(text))]));
}

// Where the rows of each key begin, of rows that stand key by key.
function begins(keys, count) {
  const first = new Array(count + 1).fill(keys.length);
  for (let i = keys.length - 1; i >= 0; i--) first[keys[i]] = i;
  for (let key = count - 1; key >= 0; key--) first[key] = Math.min(first[key], first[key + 1]);
  return first;
}

export class PortCells {
  constructor(fabric, links, flows) {
    Object.assign(this, columns(fabric.cells, ["link", "via", "flow", "wire", "kind"]));
    this.credits = columns(fabric.credits, ["link", "wire"]);
    this.rates = columns(fabric.rates, ["flow"]);
    // the cells of a port stand together, in the order in which they leave
    this.first = begins(this.link, links);
    this.firstCredit = begins(this.credits.link, links);
    this.firstRate = begins(this.rates.flow, flows);
    this.sentBytes = sums(this.wire);
    this.backBytes = sums(this.credits.wire);
    this.largest = this.wire.reduce((most, wire) => Math.max(most, wire), 1);
  }

  // The first cell of a port that has not left it by `time`.
  next(link, time) {
    return this.first[link] + upTo(this.end, this.first[link], this.first[link + 1], time);
  }

  // Calls visit(cell) for each cell at a port, first the one that leaves first.
  at(link, time, visit) {
    const last = this.first[link + 1];
    let late = 0; // lanes take turns, so a cell of another lane may have come before one that is not there yet
    for (let i = this.next(link, time); i < last && late < 64; i++)
      if (this.queued[i] <= time) visit(i);
      else late++;
  }

  // The cell that a port sends at a moment, or -1.
  sending(link, time) {
    const i = this.next(link, time);
    return i < this.first[link + 1] && this.start[i] <= time ? i : -1;
  }

  // Bytes of a link whose credits are not back.
  unanswered(link, time) {
    const from = this.first[link], back = this.firstCredit[link];
    const sent = from + upTo(this.start, from, this.first[link + 1], time), came = back + upTo(this.credits.arrives, back, this.firstCredit[link + 1], time);
    return this.sentBytes[sent] - this.sentBytes[from] - this.backBytes[came] + this.backBytes[back];
  }

  // Calls visit(part) for each credit of a link that is on its way at a moment: which part of its way is behind it.
  flying(link, time, visit) {
    const { sent, arrives } = this.credits, first = this.firstCredit[link], last = this.firstCredit[link + 1];
    for (let i = first + upTo(arrives, first, last, time); i < last && sent[i] <= time; i++) visit((time - sent[i]) / (arrives[i] - sent[i]));
  }

  // Whether senders have rates of their own.
  get hasRates() {
    return this.rates.at.length > 0;
  }

  // Rate and target of a flow, as shares of a host's rate.
  rate(flow, time) {
    const from = this.firstRate[flow], i = from + upTo(this.rates.at, from, this.firstRate[flow + 1], time) - 1;
    return i < from ? [1, 1] : [this.rates.rate[i], this.rates.target[i]];
  }

  // Most bytes that were at each port, and that came by each link and were at the ports behind it.
  peaks() {
    const links = this.first.length - 1, ports = Array.from({ length: links }, () => []), accounts = ports.map(() => []);
    for (let i = 0; i < this.link.length; i++) {
      const changes = [[this.queued[i], this.wire[i]], [this.end[i], -this.wire[i]]];
      ports[this.link[i]].push(...changes);
      if (this.via[i] >= 0) accounts[this.via[i]].push(...changes);
    }
    return { ports: ports.map(highest), accounts: accounts.map(highest) };
  }

  // The mean height of a port's queue in each of `count` columns up to a time, of the flows that `isOwn` names and of the others.
  means(link, until, count, isOwn) {
    const wide = until / count, kinds = [0, 1].map(() => ({ parts: new Float64Array(count + 1), slope: new Float64Array(count + 2) }));
    for (let i = this.first[link]; i < this.first[link + 1]; i++) {
      const from = this.queued[i], to = Math.min(until, this.end[i]), { parts, slope } = kinds[isOwn(this.flow[i]) ? 0 : 1];
      if (from >= to) continue;
      const first = Math.floor(from / wide), last = Math.floor(to / wide);
      if (first === last) parts[first] += this.wire[i] * (to - from);
      else {
        parts[first] += this.wire[i] * ((first + 1) * wide - from);
        parts[last] += this.wire[i] * (to - last * wide);
        slope[first + 1] += this.wire[i];
        slope[last] -= this.wire[i];
      }
    }
    return kinds.map(({ parts, slope }) => {
      let whole = 0;
      return Array.from({ length: count }, (_, k) => (whole += slope[k]) + parts[k] / wide);
    });
  }
}

// Sums of the first so many values.
function sums(values) {
  const totals = new Float64Array(values.length + 1);
  for (let i = 0; i < values.length; i++) totals[i + 1] = totals[i] + values[i];
  return totals;
}

function highest(changes) {
  changes.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  let height = 0, most = 0;
  for (const [, change] of changes) most = Math.max(most, (height += change));
  return most;
}
