// The curves: every path simulated along an axis, this scenario marked, what was before as a ghost. Behind each line
// its band, as soon as Python has it: from where to where the line may lie if what is assumed lies at its ends.
class Curves {
  constructor(figures, host) {
    this.figures = figures;
    this.host = host;
  }

  apply(curves, mark, ghost, scale) {
    Object.assign(this, { curves, mark, ghost, scale });
    this.paint();
  }

  paint() {
    const { curves, mark, ghost, scale, figures } = this;
    if (!curves?.lines || !mark) return;
    const limit = this.scaled(curves.limit), heights = curves.lines.flatMap((line) => [...this.scaled(line.y), ...this.scaled(line.high)]);
    const highest = Math.max(mark.y * scale.factor, ...heights.filter(isFinite), ...limit.filter(isFinite));
    const values = curves.values, wide = curves.axis === "nodes" ? [1.7, 1300] : [values[0] / 2, values[values.length - 1] * 2.2];
    figures.model("curves_x").setv({ start: wide[0], end: wide[1] });
    figures.model("curves_y").setv({ start: 0, end: highest * 1.18 || 1 });
    const shown = curves.axis === "nodes" ? values : values.filter((_, i) => i % 2 === 0 || i === values.length - 1);
    figures.model("curves_ticks").ticks = shown;
    figures.model("curves_values").major_label_overrides = new Map(shown.map((v) => [v, curves.names[values.indexOf(v)]]));
    this.drawBands();
    this.drawLines(limit);
    this.drawMarks();
    this.drawNames(limit, highest * 1.18 || 1);
  }

  // In the unit shown; a point that is not there is NaN, which nobody draws.
  scaled(values) {
    return values.map((y) => (y === null ? NaN : y * this.scale.factor));
  }

  drawBands() {
    const { curves, mark, figures } = this, drawn = { xs: [], ys: [], fill: [], alpha: [] };
    for (const line of curves.lines) {
      const low = this.scaled(line.low), high = this.scaled(line.high), there = [...low.keys()].filter((i) => isFinite(low[i]));
      if (there.length < 2) continue;
      drawn.xs.push([...there, ...[...there].reverse()].map((i) => line.x[i]));
      drawn.ys.push([...there.map((i) => high[i]), ...there.reverse().map((i) => low[i])]);
      drawn.fill.push(line.role);
      drawn.alpha.push((line.name === mark.line ? 0.3 : 0.15) * (figures.theme === "dark" ? 1.3 : 1));
    }
    figures.fill("curves_bands", drawn, ["fill"]);
    const legend = this.host.querySelector(".pl-bands");
    legend.textContent = legend.title = [curves.bands, curves.missing].filter(Boolean).join("; ");
    legend.classList.toggle("pl-drawn", drawn.xs.length > 0);
  }

  drawLines(limit) {
    const { curves, mark, figures } = this, drawn = { xs: [], ys: [], line: [], dash: [], width: [], alpha: [] };
    const points = { x: [], y: [], fill: [], label: [], note: [] };
    const add = (xs, ys, line, dash, width, alpha) => {
      const row = { xs, ys, line, dash, width, alpha };
      for (const name in drawn) drawn[name].push(row[name]);
    };
    add(curves.values, limit, "muted", [4, 4], 1.2, 1);
    for (const line of curves.lines) {
      const ys = this.scaled(line.y), here = line.name === mark.line;
      add(line.x, ys, line.role, [], here ? 3.2 : 2, 1);
      ys.forEach((y, i) => {
        const row = { x: line.x[i], y, fill: line.role, label: line.label, note: line.note[i] };
        for (const name in points) points[name].push(row[name]);
      });
    }
    figures.fill("curves_lines", drawn, ["line"]);
    figures.fill("curves_points", points, ["fill"]);
  }

  drawMarks() {
    const { curves, mark, ghost, scale, figures } = this, drawn = { x: [], y: [], fill: [], line: [], size: [] };
    const add = (x, y, fill, line, size) => {
      const row = { x, y, fill, line, size };
      for (const name in drawn) drawn[name].push(row[name]);
    };
    if (ghost) add(ghost[curves.axis], ghost.y * scale.factor, "none", "muted", 13);
    add(mark[curves.axis], mark.y * scale.factor, mark.role, "ink", 14);
    figures.fill("curves_marks", drawn, ["fill", "line"]);
  }

  // Names stand at the line, above it or below, where they do not meet another name.
  drawNames(limit, top) {
    const { curves, figures } = this, drawn = { x: [], y: [], text: [], ink: [], paper: [], align: [], dy: [] }, taken = [];
    const height = Math.max(1, figures.view("curves").frame.bbox.height), wanted = [];
    const last = curves.values.length - 1;
    for (const line of curves.lines)
      if (line.y.some((y) => y !== null)) wanted.push({ text: line.label, ink: line.ink, ys: this.scaled(line.y) });
    if (limit.some(isFinite)) wanted.push({ text: "wire limit", ink: "muted", ys: limit });
    for (const name of wanted) {
      const best = this.spot(name, taken, height / top, last);
      if (!best) continue;
      taken.push(best);
      const row = { x: curves.values[best.i], y: name.ys[best.i], text: name.text, ink: name.ink, paper: "paper", align: best.align, dy: best.dy };
      for (const column in drawn) drawn[column].push(row[column]);
    }
    figures.fill("curves_words", drawn, ["ink", "paper"]);
  }

  spot({ text, ys }, taken, perUnit, last) {
    const lines = [...this.curves.lines.map((line) => this.scaled(line.y)), this.scaled(this.curves.limit)];
    const half = (text.length * 3.9 * last) / Math.max(1, this.figures.view("curves").frame.bbox.width); // in steps of the axis
    let best = null;
    for (let i = 0; i < ys.length; i++)
      for (const dy of [-7, -4, 15, 19]) {
        if (!isFinite(ys[i])) continue;
        const align = i >= last - 1 ? "right" : i <= 1 ? "left" : "center";
        const y = ys[i] * perUnit - dy + 6, from = i - (align === "right" ? 2 * half : align === "center" ? half : 0);
        const box = { i, dy, align, from, to: from + 2 * half, low: y - 6, high: y + 6 };
        if (box.low < 0 || box.high > perUnit * this.figures.model("curves_y").end) continue;
        const clash = taken.some((t) => t.from < box.to && box.from < t.to && t.low < box.high && box.low < t.high);
        if (clash) continue;
        let room = 40;
        for (const line of lines)
          for (let k = Math.max(0, box.from); k <= Math.min(line.length - 1, box.to); k += 0.125) {
            const height = between(line, k) * perUnit;
            if (isFinite(height)) room = Math.min(room, height > y ? height - box.high : box.low - height);
          }
        if (!best || room > best.room) best = { ...box, room };
      }
    return best;
  }
}

// The height of a line at a place between two of its points.
function between(line, k) {
  const i = Math.min(line.length - 2, Math.floor(k));
  return line[i] + (line[i + 1] - line[i]) * (k - i);
}
