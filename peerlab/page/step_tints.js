// The colours of what moves on the road of a step: a path has one hue on the whole page, what it does there has tints of that.
const PALE = 45; // percent of the hue, the rest is the ground

// Role to colour of each entry of a road's key, for a path of a role: from the darkest on, its own colour the first of two and the middle of three.
export function tintsOf(role, colours) {
  const own = `var(--pl-${role})`, tints = [`var(--pl-${role}-ink)`, own, `color-mix(in srgb, ${own} ${PALE}%, var(--pl-panel))`];
  return Object.fromEntries(colours.map(([stage], i) => [stage, tints[Math.min(2, i + (colours.length < 3))]]));
}
