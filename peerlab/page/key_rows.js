// Which of many rows in time is under way.

// How many of the rows from `low` to `high` have a value of at most `most`; values grow.
export function upTo(values, low, high, most) {
  const first = low;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] <= most) low = middle + 1;
    else high = middle;
  }
  return low - first;
}

// Rows [key, ..., from, ...] by key and in time, as of a link, a host or a job: which of them began last. `from` says where a row has its begin.
export class KeyRows {
  constructor(rows, keys, from = 1) {
    this.of = Array.from({ length: keys }, () => []);
    for (const row of rows) this.of[row[0]]?.push(row);
    for (const rows of this.of) rows.sort((a, b) => a[from] - b[from]);
    this.starts = this.of.map((rows) => rows.map((row) => row[from]));
  }

  // The row of a key that began last and for which `lasts(row)` holds, among the last few.
  last(key, time, lasts) {
    const rows = this.of[key];
    let i = upTo(this.starts[key], 0, rows.length, time);
    for (let tries = 0; i > 0 && tries < 4; tries++) if (lasts(rows[--i])) return rows[i];
    return null;
  }
}
