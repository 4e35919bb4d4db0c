// Spans shorter than so many pixels are merged with what is next to them.
const BIN = 2;

// The timeline: spans that can be told apart are drawn one by one, the others merged, never dropped.
class Timeline {
  constructor(figures, host, { onSeek }) {
    this.figures = figures;
    this.host = host;
    this.range = figures.model("timeline_x");
    this.cursor = host.querySelector(".pl-cursor");
    this.note = host.querySelector(".pl-merged");
    this.range.change.connect(() => this.schedule());
    this.host.querySelector(".pl-figure").addEventListener("dblclick", (event) => {
      const frame = this.frame(), box = this.host.querySelector(".pl-figure").getBoundingClientRect();
      const part = (event.clientX - box.left - frame.left) / frame.width;
      if (part >= 0 && part <= 1) onSeek((this.range.start + part * (this.range.end - this.range.start)) * this.unit);
    });
  }

  apply(data, before) {
    this.data = data.timeline;
    this.spans = new Rows(this.data.spans, {
      floats: ["queued", "start", "end"],
      ints: ["lane", "track", "stage", "device", "step", "slice", "nbytes"],
      begin: "start",
      end: "end",
    });
    this.path = null;
    this.tracks = Math.max(...this.data.lanes.map((lane) => lane.tracks)); // of a lane
    const whole = Math.max(this.data.end_us, before ?? 0) || 1;
    this.unit = whole > 2000 ? 1000 : 1; // microseconds per unit of the axis
    const far = (1.01 * whole) / this.unit;
    this.range.bounds = [0, far]; // first: start and end are held within the bounds
    this.range.setv({ start: 0, end: far, reset_start: 0, reset_end: far });
    this.figures.model("timeline_time").axis_label = null;
    const { lanes } = this.data, labels = new Map(lanes.map((lane, i) => [i, lane.label]));
    this.figures.model("timeline_ticks").ticks = lanes.map((_, i) => i);
    this.figures.model("timeline_lanes").major_label_overrides = labels;
    this.figures.model("timeline_y").setv({ start: lanes.length - 0.5, end: -0.5 });
    this.host.querySelector(".pl-title").textContent = this.data.title;
    this.host.querySelector(".pl-unit").textContent = this.unit === 1 ? "µs" : "ms";
    this.paint();
  }

  paint() {
    const lanes = this.data.lanes, y = lanes.map((_, i) => i);
    const fill = lanes.map((lane) => (lane.hot ? "hot-wash" : "panel"));
    this.figures.fill("timeline_grounds", { y, fill }, ["fill"]);
    this.draw();
  }

  schedule() {
    if (this.waiting) return;
    this.waiting = requestAnimationFrame(() => {
      this.waiting = 0;
      if (this.data) this.draw();
    });
  }

  close() {
    cancelAnimationFrame(this.waiting);
  }

  frame() {
    const box = this.figures.view("timeline").frame.bbox;
    return { left: box.left, width: Math.max(1, box.width), top: box.top, height: box.height };
  }

  // From when to when the axis shows, and the time of a pixel, in microseconds.
  shown() {
    const start = this.range.start * this.unit, end = this.range.end * this.unit;
    return { start, end, pixel: (end - start) / this.frame().width };
  }

  draw() {
    const { start, end, pixel } = this.shown(), drawn = this.blank(), merged = [], length = BIN * pixel;
    const bins = Math.ceil((end - start) / length) + 1;
    this.spans.between(start, end, (i, shift, j, segment) => {
      if (this.spans.end[i] - this.spans.start[i] >= length) this.add(drawn, i, shift, j, segment, pixel);
      else this.merge(merged, i, shift, start, length, bins);
    });
    const most = this.addMerged(drawn, merged, start, pixel);
    for (const side of ["left", "right"]) drawn[side] = drawn[side].map((time) => time / this.unit);
    this.figures.fill("timeline_spans", drawn, ["fill"]);
    this.note.replaceChildren(...(most > 1 ? [`up to ${most} spans a mark, as high as busy`, make("span", "pl-press", ": zoom in")] : []));
    this.note.title = most > 1 ? "Spans too short to tell apart are one mark: it fills as much of its lane's height as they keep the resource busy" : "";
    this.count = drawn.y.length;
    this.drawPath();
  }

  blank() {
    return { y: [], left: [], right: [], height: [], fill: [], alpha: [], stage: [], what: [], when: [], wait: [] };
  }

  place(i) {
    const tracks = this.data.lanes[this.spans.lane[i]].tracks, height = 0.74 / tracks;
    return { y: this.spans.lane[i] - 0.37 + height * (this.spans.track[i] + 0.5), height };
  }

  add(drawn, i, shift, j, segment, pixel) {
    const s = this.spans, { y, height } = this.place(i), stage = s.stage[i], start = s.start[i] + shift, end = s.end[i] + shift;
    const step = s.step[i] + j * segment.steps;
    drawn.y.push(y);
    drawn.height.push(height);
    drawn.left.push(start);
    drawn.right.push(end - Math.min(0.6 * pixel, 0.06 * (end - start))); // a seam, which takes no more of a short span than of a long one
    drawn.fill.push(this.data.roles[stage]);
    drawn.alpha.push((s.slice[i] + step) % 2 ? 0.72 : 1);
    drawn.stage.push(this.data.stages[stage]);
    const piece = s.slice[i] < 0 ? "whole transfer" : `slice ${s.slice[i]}`;
    drawn.what.push(`${this.data.device} ${s.device[i]}, step ${step + 1}, ${piece}${s.nbytes[i] > 0 ? `, ${sayBytes(s.nbytes[i])}` : ""}`);
    drawn.when.push(`${sayTime(start)} + ${sayTime(end - start)}`);
    const wait = s.start[i] - s.queued[i];
    drawn.wait.push(wait > 0.001 ? `waited ${sayTime(wait)}` : "did not wait");
  }

  // Adds a span to the bin of its track that it begins in: how many there are, how long they serve, how much beyond the bin.
  merge(merged, i, shift, origin, length, bins) {
    const s = this.spans, key = s.lane[i] * this.tracks + s.track[i], start = s.start[i] + shift - origin, at = Math.floor(start / length);
    if (at < 0 || at >= bins) return;
    const found = (merged[key] ??= this.blankTrack(i, bins)), served = s.end[i] - s.start[i], beyond = start + served - (at + 1) * length;
    if (!found.count[at]++) found.first[at] = i, found.begin[at] = start;
    found.busy[at] += served;
    if (beyond > 0) found.beyond[at] += beyond;
  }

  blankTrack(row, bins) {
    const [busy, beyond, begin] = [0, 1, 2].map(() => new Float32Array(bins));
    return { row, busy, beyond, begin, count: new Int32Array(bins), first: new Int32Array(bins) };
  }

  // One span alone is drawn where it is. How high a mark of several is tells how busy its time was, so that ink is time
  // served; neighbours that look the same become one.
  addMerged(drawn, merged, origin, pixel) {
    const length = BIN * pixel, least = this.data.lanes.length / this.frame().height; // a pixel's height, in lanes
    let most = 0;
    for (const { row, busy, beyond, begin, count, first } of merged.filter(Boolean)) {
      const passed = (at) => (count[at] && count[at + 1] ? beyond[at] : 0), time = (at) => busy[at] - passed(at) + passed(at - 1);
      const shade = (at) => (count[at] ? Math.max(1, Math.round(8 * Math.min(1, time(at) / length))) : 0);
      const stage = (at) => this.spans.stage[first[at]];
      for (let at = 0, next; at < count.length; at = next) {
        next = at + 1;
        if (!count[at]) continue;
        let spans = count[at], served = time(at);
        for (; next < count.length && stage(next) === stage(at) && shade(next) === shade(at); next++) {
          spans += count[next];
          served += time(next);
        }
        most = Math.max(most, spans);
        const from = origin + (spans > 1 ? at * length : begin[at]), to = origin + next * length;
        if (spans > 1) this.addMark(drawn, row, from, to, served / (to - from), least);
        else this.addMark(drawn, row, from, from + Math.max(served, pixel), 1, least, Math.max(0.3, Math.min(1, served / pixel)));
        drawn.fill.push(this.data.roles[stage(at)]);
        drawn.stage.push(this.data.stages[stage(at)]);
        drawn.what.push(spans > 1 ? `${spans} spans, too short to tell apart here` : "one span");
        drawn.when.push(`from ${sayTime(from)}, busy for ${sayTime(served)}${spans > 1 ? ` of ${sayTime(to - from)}` : ""}`);
        drawn.wait.push("zoom in: Shift and wheel");
      }
    }
    return most;
  }

  // A mark stands on the ground of its track, and fills as much of it as it is busy; what would be lower than `least` is paler.
  addMark(drawn, row, from, to, busy, least, alpha = 1) {
    const { y, height } = this.place(row), full = height * Math.min(1, busy), high = Math.min(height, Math.max(full, least));
    drawn.y.push(y + (height - high) / 2);
    drawn.height.push(high);
    drawn.left.push(from);
    drawn.right.push(to);
    drawn.alpha.push(alpha * Math.max(0.3, full / high));
  }

  showPath(path) {
    this.path = path;
    this.drawPath();
  }

  drawPath() {
    const drawn = { y: [], left: [], right: [] }, { start, end, pixel } = this.shown();
    let last = null;
    for (let i = 0; this.path && i < this.path.lane.length; i++) {
      const lane = this.path.lane[i];
      if (lane < 0 || this.path.end[i] < start || this.path.start[i] > end) continue;
      if (last && last.lane === lane && this.path.start[i] - last.end < 2 * pixel) drawn.right[drawn.right.length - 1] = last.end = this.path.end[i];
      else {
        last = { lane, end: this.path.end[i] };
        drawn.y.push(lane);
        drawn.left.push(this.path.start[i]);
        drawn.right.push(this.path.end[i]);
      }
    }
    for (const side of ["left", "right"]) drawn[side] = drawn[side].map((time) => time / this.unit);
    this.figures.fill("timeline_critical", drawn);
  }

  moveCursor(time) {
    const { left, width, top, height } = this.frame(), { start, end } = this.shown(), part = (time - start) / (end - start);
    this.cursor.style.display = part >= 0 && part <= 1 ? "block" : "none";
    this.cursor.style.transform = `translateX(${left + part * width}px)`;
    this.cursor.style.top = `${top}px`;
    this.cursor.style.height = `${height}px`;
  }
}
