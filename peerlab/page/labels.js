// Heights of lines; places in steps of the axis.
// The height of a line at a place between two of its points.
export function between(line, k) {
  const i = Math.min(line.length - 2, Math.floor(k));
  return line[i] + (line[i + 1] - line[i]) * (k - i);
}
