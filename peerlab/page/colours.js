// Colours as "#rrggbb", mixed.

// A colour, `share` of it and the rest of another: as it looks on that, but opaque.
export function mixed(colour, other, share) {
  const rest = partsOf(other);
  return `#${partsOf(colour).map((part, i) => Math.round(share * part + (1 - share) * rest[i]).toString(16).padStart(2, "0")).join("")}`;
}

function partsOf(colour) {
  return [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
}
