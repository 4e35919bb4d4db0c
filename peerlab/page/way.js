// A broken line that a slice goes along.
export const HAIR = 1e-6; // units of the picture that are nothing: an end at a corner goes no hair beyond it

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

  // The part between two fractions, as a broken line.
  stretch(from, to) {
    const { points, lengths } = this, total = lengths[lengths.length - 1], ends = [from * total, to * total];
    const place = (along) => this.at(along / (total || 1)), corners = points.filter((_, i) => lengths[i] > ends[0] + HAIR && lengths[i] < ends[1] - HAIR);
    return [place(ends[0]), ...corners.map(([x, y]) => ({ x, y })), place(ends[1])].map(({ x, y }) => [x, y]);
  }
}
