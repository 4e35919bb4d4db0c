// Heights of lines; places in steps of the axis.
// The height of a line at a place between two of its points.
export function between(line, k) {
  const i = Math.min(line.length - 2, Math.floor(k));
  return line[i] + (line[i + 1] - line[i]) * (k - i);
}

// Round moments from 0 to the end: as many as have room, and at most about `most`.
export function ticks(end, room, most = 5) {
  const rough = end / Math.min(most, Math.max(1, room)), power = 10 ** Math.floor(Math.log10(rough)), step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= rough);
  return Array.from({ length: Math.floor(end / step) + 1 }, (_, i) => i * step);
}
