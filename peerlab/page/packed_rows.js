// Narrow spans that follow each other at once in a lane: each paler or darker than the next, a row of them would be a bar code.
const AT_ONCE = 0.15; // of a span's length: it begins so near to the end of the span before, or nearer

export class PackedRows {
  // `single` draws a span, `area` a row of narrow ones as one mark; `narrow` is a time, microseconds.
  constructor(spans, { single, area, narrow }) {
    Object.assign(this, { spans, single, area, narrow });
    this.rows = new Map(); // of each lane, until its next span is known
    this.most = 0; // spans in one area
  }

  add(i, shift, j, segment) {
    const { lane, stage, start, done, end } = this.spans, span = { i, start: start[i] + shift, done: done[i] + shift, given: [i, shift, j, segment] }, before = this.rows.get(lane[i])?.at(-1);
    if (before && !(stage[before.i] === stage[i] && Math.abs(span.start - before.done) <= AT_ONCE * (span.done - span.start))) this.close(lane[i]);
    if (end[i] - start[i] < this.narrow) return this.keep(lane[i], span);
    this.close(lane[i]);
    this.single(...span.given);
  }

  keep(lane, span) {
    if (!this.rows.has(lane)) this.rows.set(lane, []);
    this.rows.get(lane).push(span);
  }

  close(lane) {
    const row = this.rows.get(lane) ?? [];
    this.rows.delete(lane);
    if (row.length < 2 || row.at(-1).done - row[0].start < this.narrow) return row.forEach(({ given }) => this.single(...given));
    this.most = Math.max(this.most, row.length);
    this.area(row);
  }

  end() {
    for (const lane of [...this.rows.keys()]) this.close(lane);
  }
}
