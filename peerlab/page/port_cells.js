// The cells of a scene of ports: which of them wait at a port, or lie in an account, at a moment.
import { unpacked } from "./packed.js";

const FLOATS = ["queued", "start", "end"];
const INTEGERS = ["link", "via", "flow", "wire", "again"];

export class PortCells {
  constructor({ count, arrays }, links) {
    for (const name of FLOATS) this[name] = new Float32Array(unpacked(arrays[name]));
    for (const name of INTEGERS) this[name] = new Int32Array(unpacked(arrays[name]));
    // the cells of a port stand together, in the order in which they leave
    this.first = Array.from({ length: links + 1 }, () => count);
    for (let i = count - 1; i >= 0; i--) this.first[this.link[i]] = i;
    for (let link = links - 1; link >= 0; link--) this.first[link] = Math.min(this.first[link], this.first[link + 1]);
  }

  // The first cell of a port that has not left it by `time`.
  next(link, time) {
    let low = this.first[link], high = this.first[link + 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.end[middle] > time) high = middle;
      else low = middle + 1;
    }
    return low;
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
}

function highest(changes) {
  changes.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  let height = 0, most = 0;
  for (const [, change] of changes) most = Math.max(most, (height += change));
  return most;
}
