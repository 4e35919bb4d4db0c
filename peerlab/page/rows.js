// Rows of numbers, of which some repeat: see peerlab/picture/frames.py. Times are microseconds.
/**
 * @typedef {object} PageRows Rows as the page gets them
 * @property {Object<string, Column>} arrays
 * @property {number[][]} segments
 * @property {number} count
 */
export class Rows {
  constructor(page, { floats, ints, begin, end }) {
    this.count = page.count;
    for (const name of floats) this[name] = decode(page.arrays[name], Float32Array);
    for (const name of ints) this[name] = decode(page.arrays[name], Int32Array);
    this.begin = this[begin];
    this.end = this[end];
    this.segments = page.segments.map(([first, last, times, period, steps]) => {
      // rows are sorted by begin, not by end: `longest` bounds how far back a row may begin that still touches a time
      let latest = -Infinity, longest = 0;
      for (let i = first; i < last; i++) {
        latest = Math.max(latest, this.end[i]);
        longest = Math.max(longest, this.end[i] - this.begin[i]);
      }
      return { first, last, times, period, steps, earliest: this.begin[first], latest, longest };
    });
  }

  // Calls visit(row, shift, occurrence, segment) for every row that touches the time from `from` to `to`.
  between(from, to, visit) {
    for (const s of this.segments) {
      // the occurrences of the segment that may touch the time; a row of one may end after the next has begun
      const repeats = s.times > 1;
      const lowest = repeats ? Math.max(0, Math.ceil((from - s.latest) / s.period)) : 0;
      const highest = repeats ? Math.min(s.times - 1, Math.floor((to - s.earliest) / s.period)) : 0;
      for (let j = lowest; j <= highest; j++) {
        const shift = j * s.period;
        let i = this.firstFrom(s, from - shift - s.longest);
        for (; i < s.last && this.begin[i] + shift <= to; i++)
          if (this.end[i] + shift >= from) visit(i, shift, j, s);
      }
    }
  }

  // The first row of a segment that begins at `time` or later.
  firstFrom(segment, time) {
    return this.first(segment, (begin) => begin >= time);
  }

  // The first row of a segment that begins later than `time`.
  firstAfter(segment, time) {
    return this.first(segment, (begin) => begin > time);
  }

  first(segment, late) {
    let low = segment.first, high = segment.last; // bisection: `late` is false up to the row looked for, then true
    while (low < high) {
      const middle = (low + high) >> 1;
      if (late(this.begin[middle])) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  // The last `most` rows that have begun by `time`, latest first, as [row, shift, occurrence, segment].
  recent(time, most) {
    const found = [];
    for (const s of this.segments) {
      // from the latest occurrence that has begun backwards, until there are enough
      let j = s.times > 1 ? Math.min(s.times - 1, Math.floor((time - s.earliest) / s.period)) : 0;
      for (let kept = 0; j >= 0 && kept < most; j--) {
        const shift = j * s.period;
        for (let i = this.firstAfter(s, time - shift) - 1; i >= s.first && kept < most; i--, kept++) found.push([i, shift, j, s]);
      }
    }
    return found.sort((a, b) => this.begin[b[0]] + b[1] - this.begin[a[0]] - a[1]).slice(0, most);
  }

  // How many rows there are with all repetitions.
  get total() {
    return this.segments.reduce((sum, s) => sum + (s.last - s.first) * s.times, 0);
  }
}

function decode(view, Kind) {
  // a typed array comes from an album; a DataView from the kernel may begin at any byte, so its bytes are copied
  if (ArrayBuffer.isView(view) && !(view instanceof DataView)) return view;
  const bytes = view instanceof DataView ? view.buffer.slice(view.byteOffset, view.byteOffset + view.byteLength) : view;
  return new Kind(bytes);
}
