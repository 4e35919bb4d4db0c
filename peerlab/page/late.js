// How late each node is at a moment, against the run without noise and slow parts, and the ring round the dots that shows it.
import { upTo } from "./key_rows.js";

const LATE_SHADES = 20; // darker by so many steps: a ring that does not change is not painted again
const PALEST = 0.12; // how dark the first of them is
const PIECE = { beside: 7, broad: 4, seam: 0.16, corners: 4 }; // units from the dots to the ring, its breadth, the part of a piece that is left free, and its broken line

/**
 * @typedef {object} Late How late the nodes of a run are
 * @property {string} of
 * @property {number[]} nodes
 * @property {number[][]} planned
 * @property {number[][]} arrived
 * @property {number} most_us
 * @property {string} words
 */
export class Lateness {
  // What the model has of it, if that belongs to this scenario.
  static of(page) {
    const late = page.model.get("late");
    return late?.of && late.of === page.data?.meta.code ? new Lateness(late) : null;
  }

  constructor(late) {
    Object.assign(this, late);
  }

  // How late the node of each dot is, microseconds: what it was in its last step, or how long its next one is overdue.
  at(time) {
    return this.arrived.map((arrived, dot) => {
      const planned = this.planned[dot], done = upTo(arrived, 0, arrived.length, time);
      const late = done ? arrived[done - 1] - planned[done - 1] : 0, overdue = done < planned.length ? time - planned[done] : 0;
      return Math.max(0, late, overdue);
    });
  }

  // The pieces of the ring, where the dots stand `across` and `down` from their middle.
  ring(lags, { x, y, across, down }, scale, line) {
    const rows = { xs: [], ys: [], line: [], width: [], alpha: [] }, dots = lags.length, half = ((1 - PIECE.seam) * Math.PI) / dots;
    const [wide, high] = [across * (1 + PIECE.beside / down), down + PIECE.beside];
    lags.forEach((late, dot) => {
      const share = Math.round((LATE_SHADES * late) / this.most_us) / LATE_SHADES;
      if (!share) return;
      const angles = Array.from({ length: PIECE.corners + 1 }, (_, k) => (2 * Math.PI * dot) / dots - Math.PI / 2 + half * ((2 * k) / PIECE.corners - 1));
      rows.xs.push(angles.map((angle) => x + wide * Math.cos(angle)));
      rows.ys.push(angles.map((angle) => y + high * Math.sin(angle)));
      rows.line.push(line);
      rows.width.push(PIECE.broad * scale);
      rows.alpha.push(Math.min(1, PALEST + (1 - PALEST) * share));
    });
    return rows;
  }
}
