// Spans too short to tell apart, in bins of a few pixels. What is drawn of them has as much ink as there is time served.
export const BIN = 2; // spans shorter than so many pixels are merged with what is next to them
const FAINTEST = 0.3; // what would be lower than a pixel is paler instead, but seen
const SHORTEST = 0.5; // of its track: a mark narrower than a pixel is lower instead, as a pale line that thin is not seen
const LOWEST = 3; // pixels: an area that would be lower is no hairline
const CALM = 3; // bins over which what stands on each other is levelled, so that a lane is an area and no comb

export class Density {
  // Bins of `length` microseconds from `origin` on; `least` is the height of a pixel in lanes, `rows` says
  // in which row from the top each lane stands.
  // `stacked` are the lanes whose tracks are too low to be told apart: all of their spans stand on each other.
  constructor(spans, lanes, { rows, origin, length, bins, least, stacked }) {
    Object.assign(this, { spans, lanes, rows, origin, length, bins, least, stacked });
    this.width = Math.max(...lanes.map((lane) => lane.tracks));
    this.perByte = lanes.map(({ rate }) => (rate ? 1 / rate : 0)); // microseconds
    this.perLength = 1 / length;
    this.tracks = new Array(lanes.length * this.width).fill(null);
    this.areas = lanes.map(() => []); // of stacked lanes: a track for each stage
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

  // Adds to every bin that a span touches its share of it, levelled with the bins beside it: one track for a stage.
  spread(i, start, served) {
    const s = this.spans, lane = s.lane[i], end = start + served, wide = CALM * this.length;
    const work = this.work(i) / (served || 1), track = this.areas[lane].find(({ row }) => s.stage[row] === s.stage[i]) ?? this.blank(i);
    if (!this.areas[lane].includes(track)) this.areas[lane].push(track);
    for (let group = Math.max(0, Math.floor(start / wide)); group * wide < end && group * CALM < this.bins; group++) {
      const inside = (Math.min(end, (group + 1) * wide) - Math.max(start, group * wide)) / CALM;
      for (let at = group * CALM; at < Math.min(this.bins, (group + 1) * CALM); at++) {
        if (!track.count[at]++) track.first[at] = i;
        track.busy[at] += inside;
        track.work[at] += inside * work;
      }
    }
  }

  blank(row) {
    const [busy, work, beyond, begin] = [0, 1, 2, 3].map(() => new Float32Array(this.bins));
    return { row, busy, work, beyond, begin, count: new Int32Array(this.bins), first: new Int32Array(this.bins) };
  }

  stage(track, at) {
    return track.count[at] ? this.spans.stage[track.first[at]] : -1;
  }

  // Calls draw(mark) for every mark. Where spans stand alone, or some of a lane are drawn one by one (`drawn` has it), marks
  // lie in their tracks; in a crowded lane they stand on each other, as high as its resources are busy.
  each(drawn, draw) {
    this.lanes.forEach((_, lane) => {
      const stacked = this.stacked.has(lane), tracks = stacked ? this.areas[lane] : this.tracks.slice(lane * this.width, (lane + 1) * this.width).filter(Boolean);
      if (stacked || (!drawn.has(lane) && this.crowded(tracks))) this.marks(tracks, (at, next) => this.stack(lane, tracks, at, next, draw), (track, at) => this.share(track, at));
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
  // share(track, at) says, in eighths.
  marks(tracks, put, share) {
    const looks = tracks.map((track) => {
      const look = new Int16Array(this.bins);
      for (let at = 0; at < this.bins; at++) if (track.count[at]) look[at] = 9 * this.stage(track, at) + Math.max(1, Math.round(8 * Math.min(1, share(track, at))));
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
    return track.busy[at] ? (track.work[at] / track.busy[at]) * this.lasts(track, at) : this.lasts(track, at);
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
    if (mark.spans > 1) return this.fill(mark, ground, Math.min(height, (full * mark.served) / (mark.to - mark.from)), draw);
    const from = this.origin + track.begin[at], high = height * Math.max(SHORTEST, Math.min(1, mark.served / pixel));
    draw({ ...mark, from, to: from + Math.max(mark.served, pixel), y: ground - height / 2, height: high, alpha: 1 });
  }

  // The marks of a crowded lane's tracks, one on another.
  stack(lane, tracks, at, next, draw) {
    const parts = tracks.filter(({ count }) => count[at]).reverse();
    const heights = parts.map((track) => (0.74 * sum(at, next, (bin) => this.share(track, bin))) / (next - at));
    const area = this.stacked.has(lane), least = (area ? LOWEST : 1) * this.least, total = heights.reduce((a, b) => a + b, 0), scale = Math.min(1, 0.74 / total) * Math.max(1, least / total);
    let ground = this.rows[lane] + 0.37;
    parts.forEach((track, k) => {
      this.fill(this.mark(track, at, next), ground, heights[k] * scale, draw, area ? 1 : Math.max(FAINTEST, Math.min(1, total / least)));
      ground -= heights[k] * scale;
    });
  }

  fill(mark, ground, height, draw, alpha = 0) {
    const high = alpha ? height : Math.max(height, this.least);
    draw({ ...mark, y: ground - high / 2, height: high, alpha: alpha || Math.max(FAINTEST, height / high) });
  }

  mark(track, at, next) {
    const spans = sum(at, next, (bin) => track.count[bin]), served = sum(at, next, (bin) => this.worked(track, bin));
    return { stage: this.stage(track, at), spans, served, from: this.origin + at * this.length, to: this.origin + next * this.length };
  }
}

function sum(from, to, of) {
  let all = 0;
  for (let i = from; i < to; i++) all += of(i);
  return all;
}
