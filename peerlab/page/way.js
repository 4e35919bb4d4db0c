// A broken line that a slice goes along.
export class Way {
  constructor(points) {
    this.points = points;
    this.lengths = [0];
    for (let i = 1; i < points.length; i++) {
      const [a, b] = [points[i - 1], points[i]];
      this.lengths.push(this.lengths[i - 1] + Math.abs(a[0] - b[0]) + Math.abs(a[1] - b[1]));
    }
  }

  at(fraction) {
    const { points, lengths } = this, along = fraction * lengths[lengths.length - 1];
    let i = 1;
    while (i < points.length - 1 && lengths[i] < along) i++;
    if (i >= points.length) return { x: points[0][0], y: points[0][1] };
    const part = (along - lengths[i - 1]) / (lengths[i] - lengths[i - 1] || 1);
    const [a, b] = [points[i - 1], points[i]];
    return { x: a[0] + (b[0] - a[0]) * part, y: a[1] + (b[1] - a[1]) * part };
  }
}

// Which part of its way a slice has gone: as evenly as it may, but never past a stop before its time (`gone` in peerlab/view/geometry.py).
export function partGone(time, times, stops) {
  const last = times.length - 1, place = (k) => (k === last ? 1 : stops[k - 1]);
  for (let k = 0, at = 0; k < last; ) {
    let next = last, slowest = Infinity;
    for (let j = k + 1; j <= last; j++) {
      if (place(j) === null) continue;
      const pace = times[j] > times[k] ? (place(j) - at) / (times[j] - times[k]) : Infinity;
      if (pace <= slowest) [next, slowest] = [j, pace];
    }
    if (time < times[next]) return at + slowest * (time - times[k]);
    [k, at] = [next, place(next)];
  }
  return 1;
}
