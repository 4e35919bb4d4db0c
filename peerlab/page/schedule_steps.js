// Which steps of the schedule are under way. Slices of several steps are on their way at once, so there are two: the first step that is
// not over, and the latest of which a slice has begun. Neither ever goes back while time goes on.
export class ScheduleSteps {
  // Of the rows that `counts`; each belongs to a step of the first occurrence of its segment.
  constructor(rows, counts) {
    const begins = [], ends = [];
    for (const { first, last, times, period, steps } of rows.segments) {
      const spans = new Map();
      for (let i = first; i < last; i++) {
        if (!counts(i)) continue;
        const [begin, end] = spans.get(rows.step[i]) ?? [Infinity, -Infinity];
        spans.set(rows.step[i], [Math.min(begin, rows.begin[i]), Math.max(end, rows.end[i])]);
      }
      for (const [step, [begin, end]] of spans)
        for (let j = 0; j < times; j++) {
          const at = step + j * steps;
          begins[at] = Math.min(begins[at] ?? Infinity, begin + j * period);
          ends[at] = Math.max(ends[at] ?? -Infinity, end + j * period);
        }
    }
    // A step is over when those before it are, too, and has begun when one behind it has.
    this.ends = Array.from(ends, (end) => end ?? -Infinity);
    for (let k = 1; k < this.ends.length; k++) this.ends[k] = Math.max(this.ends[k], this.ends[k - 1]);
    this.begins = Array.from(begins, (begin) => begin ?? Infinity);
    for (let k = this.begins.length - 2; k >= 0; k--) this.begins[k] = Math.min(this.begins[k], this.begins[k + 1]);
  }

  // The latest step of which a slice has begun.
  latest(time) {
    return Math.max(0, after(this.begins, time) - 1);
  }

  // The first step that is not over; between two steps the one that was last.
  first(time) {
    return Math.min(after(this.ends, time), this.latest(time));
  }
}

// How many of some moments in order are at `time` or before it.
function after(moments, time) {
  let low = 0, high = moments.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (moments[middle] > time) high = middle;
    else low = middle + 1;
  }
  return low;
}
