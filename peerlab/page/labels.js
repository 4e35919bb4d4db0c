// Where a name may stand beside its line; heights of lines in pixels, places in steps of the axis.
// How many other lines are between a name and its own.
export function passed({ i, at, low, high }, lines, perUnit) {
  const y = (low + high) / 2, own = at * perUnit;
  // another line lies between, if name and own line are on different sides of it
  return lines.filter((line) => (between(line, i) * perUnit - own) * (between(line, i) * perUnit - y) < 0).length;
}

// How far a name stays from every line, in pixels; below zero where it covers one.
export function roomAt(box, lines, perUnit) {
  let room = 40; // more than MOST_ROOM: farther lines need not be told apart
  for (const line of lines)
    for (let k = Math.max(0, box.from); k <= Math.min(line.length - 1, box.to); k += 0.125) {
      const height = between(line, k) * perUnit;
      if (isFinite(height)) room = Math.min(room, height > (box.low + box.high) / 2 ? height - box.high : box.low - height);
    }
  return room;
}

// The height of a line at a place between two of its points.
export function between(line, k) {
  const i = Math.min(line.length - 2, Math.floor(k));
  return line[i] + (line[i + 1] - line[i]) * (k - i);
}
