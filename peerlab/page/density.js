// Spans too short to tell apart, in bins of a few pixels. What is drawn of them has as much ink as there is time served.
export const BIN = 2; // spans shorter than so many pixels are merged with what is next to them
const FAINTEST = 0.3; // what would be lower than a pixel is paler instead, but seen
const SHORTEST = 0.5; // of its track: a mark narrower than a pixel is lower instead, as a pale line that thin is not seen
const LOWEST = 3; // pixels: an area that would be lower is no hairline
const CALM = 3; // bins over which what stands on each other is levelled, so that a lane is an area and no comb
const MEAN = 0.03; // of what is shown: over so much a row that is not the bottleneck is levelled, so that its outline is smooth in a wide window, too
export const LOW_SHARE = 4; // pixels: in such a row a share that would be lower is drawn as high, and its tip says so

export class Density {
  // Bins of `length` microseconds from `origin` on; `least` is the height of a pixel in lanes, `rows` says
  // in which row from the top each lane stands.
  // `stacked` are the lanes whose tracks are too low to be told apart: all of their spans stand on each other. `quiet` are those that are not the bottleneck.
  constructor(spans, lanes, { rows, origin, length, bins, least, stacked, quiet }) {
    Object.assign(this, { spans, lanes, rows, origin, length, bins, least, stacked, quiet });
    this.mean = 2 * Math.max(3, Math.round((MEAN * bins) / 2)); // bins, as many on both sides
    this.width = Math.max(...lanes.map((lane) => lane.tracks));
    this.perByte = lanes.map(({ rate }) => (rate ? 1 / rate : 0)); // microseconds
    this.perLength = 1 / length;
    this.tracks = new Array(lanes.length * this.width).fill(null);
    this.areas = lanes.map(() => []); // of stacked lanes: a track for each stage
    this.levelled = lanes.map((_, lane) => (quiet.has(lane) ? 1 : CALM)); // over so many bins at once
  }

  // Adds a span to the bin of its track that it begins in: how many there are, how long they last and how much of that is work,
  // and how much lies beyond the bin.
  add(i, shift) {
    const s = this.spans, lane = s.lane[i], start = s.start[i] + shift - this.origin, served = s.end[i] - s.start[i], at = (start * this.perLength) | 0;
    if (this.stacked.has(lane)) return this.spread(i, start, served);
    if (start < 0 || at >= this.bins) return;
    const track = (this.tracks[lane * this.width + s.track[i]] ??= this.blank(i)), beyond = start + served - (at + 1) * this.length;
    if (!track.count[at]++) {
      track.first[at] = i;
      track.begin[at] = start;
    }
    track.busy[at] += served;
    track.work[at] += this.work(i);
    if (beyond > 0) track.beyond[at] += beyond;
  }

  // How long a span is its resource's own work.
  work(i) {
    const s = this.spans, perByte = this.perByte[s.lane[i]];
    return perByte ? s.nbytes[i] * perByte : s.done[i] - s.start[i];
  }

  // Adds to every bin that a span touches its share of it, in the bottleneck's lane levelled with the bins beside it: one track for a stage.
  spread(i, start, served) {
    const s = this.spans, lane = s.lane[i], end = start + served, group = this.levelled[lane], wide = group * this.length;
    const work = this.work(i), track = this.area(lane, i), first = Math.max(0, Math.floor(start / wide));
    if (group === 1 && end <= (first + 1) * wide) return start < 0 || first >= this.bins ? undefined : put(track, first, i, served, work);
    const share = work / (served || 1);
    for (let n = first; n * wide < end && n * group < this.bins; n++) {
      const inside = (Math.min(end, (n + 1) * wide) - Math.max(start, n * wide)) / group;
      for (let at = n * group; at < Math.min(this.bins, (n + 1) * group); at++) put(track, at, i, inside, inside * share);
    }
  }

  // The track of a span's stage in a lane where all stand on each other.
  area(lane, i) {
    const stage = this.spans.stage[i], tracks = this.areas[lane];
    for (const track of tracks) if (this.spans.stage[track.row] === stage) return track;
    tracks.push(this.blank(i));
    return tracks.at(-1);
  }

  // Levels the tracks of a lane: each bin gets the mean of those around it. Where nothing happens for longer than that a stretch ends; at its ends
  // the mean is of what is mirrored there, so that a stretch has as much work as before and none before or after it.
  level(tracks) {
    const { bins, mean } = this, half = mean / 2, sums = new Float32Array(bins), around = new Float32Array(bins + mean);
    for (const { work } of tracks) for (let at = 0; at < bins; at++) sums[at] += work[at];
    for (let from = 0, to; from < bins; from = to + 1) {
      to = from;
      if (!sums[from]) continue;
      for (let at = from; at < bins && at - to <= mean; at++) if (sums[at]) to = at;
      for (const { work, busy } of tracks) {
        const long = to + 1 - from;
        around.set(work.subarray(from, to + 1), half);
        for (let k = 0; k < half; k++) {
          around[k] = work[from + mirrored(k - half, long)];
          around[half + long + k] = work[from + mirrored(long + k, long)];
        }
        for (let at = from, k = 0; at <= to; at++, k++) {
          let all = (around[k] + around[k + mean]) / 2;
          for (let n = 1; n < mean; n++) all += around[k + n];
          work[at] = busy[at] = all / mean;
        }
      }
    }
  }

  blank(row) {
    const [busy, work, beyond, begin] = [0, 1, 2, 3].map(() => new Float32Array(this.bins));
    return { row, busy, work, beyond, begin, count: new Int32Array(this.bins), first: new Int32Array(this.bins) };
  }

  stage(track, at) {
    return this.spans.stage[track.count[at] ? track.first[at] : track.row];
  }

  // Calls draw(mark) for every mark. Where spans stand alone, or some of a lane are drawn one by one (`drawn` has it), marks
  // lie in their tracks; in a crowded lane they stand on each other, as high as its resources are busy.
  each(drawn, draw) {
    this.lanes.forEach((_, lane) => {
      const stacked = this.stacked.has(lane), calm = stacked && this.quiet.has(lane), tracks = stacked ? this.areas[lane] : this.tracks.slice(lane * this.width, (lane + 1) * this.width).filter(Boolean);
      if (calm) this.level(tracks);
      if (stacked || (!drawn.has(lane) && this.crowded(tracks))) this.marks(tracks, (at, next) => this.stack(lane, tracks, at, next, draw), (track, at) => this.share(track, at), calm ? { steps: Math.round(0.74 / this.least), slack: 0.9 } : undefined);
      else for (const track of tracks) this.marks([track], (at, next) => this.lie(track, at, next, draw), (one, at) => this.worked(one, at) / this.length);
    });
  }

  crowded(tracks) {
    let spans = 0, filled = 0;
    for (const { count } of tracks)
      for (const many of count) {
        spans += many;
        filled += many > 0;
      }
    return filled > (this.bins * tracks.length) / 2 || (filled > 0 && spans >= 2 * filled);
  }

  // Calls put(at, next) for all runs of bins, from `at` to before `next`, that look the same: of one stage, and as busy as
  // share(track, at) says, in so many steps; it looks the same as before up to `slack` of a step.
  marks(tracks, put, share, { steps, slack } = { steps: 8, slack: 0 }) {
    const looks = tracks.map((track) => {
      const look = new Int16Array(this.bins);
      for (let at = 0, step = 0; at < this.bins; at++) {
        if (!isThere(track, at)) continue;
        const busy = steps * Math.min(1, share(track, at));
        if (!(Math.abs(busy - step) < slack)) step = Math.max(1, Math.round(busy));
        look[at] = (steps + 1) * this.stage(track, at) + step;
      }
      return look;
    });
    for (let at = 0, next; at < this.bins; at = next) {
      next = at + 1;
      if (!looks.some((look) => look[at])) continue;
      while (next < this.bins && looks.every((look) => look[next] === look[at])) next++;
      put(at, next);
    }
  }

  // How long a track works in a bin, of a shared resource at its full rate: time in which it has a slice and waits is none.
  worked(track, at) {
    const { busy, work } = track, lasts = this.lasts(track, at);
    return busy[at] ? (work[at] / busy[at]) * lasts : lasts;
  }

  // How long a track has slices in a bin; what goes beyond it counts in the next one, unless nothing begins there.
  lasts({ busy, beyond, count }, at) {
    const kept = count[at] && count[at + 1] ? busy[at] - beyond[at] : busy[at];
    return at && count[at] && count[at - 1] ? kept + beyond[at - 1] : kept;
  }

  // What a track adds to the busy share of its lane in a bin.
  share(track, at) {
    const lane = this.spans.lane[track.row], { capacity } = this.lanes[lane];
    return this.worked(track, at) / this.length / capacity;
  }

  // A mark in its track, as high as that is busy; one span alone is drawn where it is.
  lie(track, at, next, draw) {
    const mark = this.mark(track, at, next), lane = this.spans.lane[track.row], height = 0.74 / this.lanes[lane].tracks;
    const ground = this.rows[lane] - 0.37 + height * (this.spans.track[track.row] + 1), pixel = this.length / BIN;
    const full = this.perByte[lane] ? 0.74 : height; // the tracks of a shared resource have its rate together
    const busy = Math.min(height, (full * mark.served) / (mark.to - mark.from)), seen = Math.min(height, LOW_SHARE * this.least);
    if (mark.spans > 1) return this.quiet.has(lane) && busy < seen ? this.fill({ ...mark, raised: true }, ground, seen, draw, 1) : this.fill(mark, ground, busy, draw);
    const from = this.origin + track.begin[at], high = height * Math.max(SHORTEST, Math.min(1, mark.served / pixel));
    draw({ ...mark, from, to: from + Math.max(mark.served, pixel), y: ground - height / 2, height: high, alpha: 1 });
  }

  // The marks of a crowded lane's tracks, one on another.
  stack(lane, tracks, at, next, draw) {
    const parts = tracks.filter((track) => isThere(track, at)).reverse();
    const marks = parts.map((track) => this.mark(track, at, next)), heights = marks.map(({ served, from, to }) => (0.74 * served) / (to - from) / this.lanes[lane].capacity);
    const area = this.stacked.has(lane), least = (this.quiet.has(lane) ? LOW_SHARE : area ? LOWEST : 1) * this.least, total = heights.reduce((a, b) => a + b, 0), scale = Math.min(1, 0.74 / total) * Math.max(1, least / total);
    let ground = this.rows[lane] + 0.37;
    marks.forEach((mark, k) => {
      Object.assign(mark, { raised: total < least, over: this.quiet.has(lane) && area ? this.mean * this.length : 0 });
      this.fill(mark, ground, heights[k] * scale, draw, area ? 1 : Math.max(FAINTEST, Math.min(1, total / least)));
      ground -= heights[k] * scale;
    });
  }

  fill(mark, ground, height, draw, alpha = 0) {
    const high = alpha ? height : Math.max(height, this.least);
    draw({ ...mark, y: ground - high / 2, height: high, alpha: alpha || Math.max(FAINTEST, height / high) });
  }

  mark(track, at, next) {
    let spans = 0, served = 0;
    for (let bin = at; bin < next; bin++) {
      spans += track.count[bin];
      served += this.worked(track, bin);
    }
    return { stage: this.stage(track, at), spans, served, from: this.origin + at * this.length, to: this.origin + next * this.length };
  }
}

// Adds so much of a span to a bin.
function put(track, at, i, busy, work) {
  if (!track.count[at]++) track.first[at] = i;
  track.busy[at] += busy;
  track.work[at] += work;
}

// Whether a track has something in a bin: a span, or a part of those beside it.
function isThere({ count, busy }, at) {
  return count[at] > 0 || busy[at] > 0;
}

// Where a place before or behind a stretch is mirrored in it.
function mirrored(at, long) {
  const round = ((at % (2 * long)) + 2 * long) % (2 * long);
  return round < long ? round : 2 * long - 1 - round;
}
