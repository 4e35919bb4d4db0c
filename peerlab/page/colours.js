// Colours as "#rrggbb": mixed, and how well one is seen on another.

// A colour, `share` of it and the rest of another: as it looks on that, but opaque.
export function mixed(colour, other, share) {
  const rest = partsOf(other);
  return `#${partsOf(colour).map((part, i) => Math.round(share * part + (1 - share) * rest[i]).toString(16).padStart(2, "0")).join("")}`;
}

// How many times as light as one colour another is, as WCAG 2.1 has it.
export function contrast(...colours) {
  const [low, high] = colours.map((colour) => partsOf(colour).map(linear).reduce((sum, part, i) => sum + [0.2126, 0.7152, 0.0722][i] * part, 0.05)).sort((a, b) => a - b);
  return high / low;
}

function linear(part) {
  return part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4;
}

function partsOf(colour) {
  return [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
}
