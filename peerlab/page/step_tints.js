// The colours of what moves on the road of a step: a path has one hue on the whole page, what it does there has tints of that.
const SHARES = ["100%", "77%", "57%"]; // of the hue, the rest is the ground: so the first stands out most in both themes, and each is 1.5 to 1 from the next

// Role to colour of each entry of a road's key, for a path of a role: from the strongest on, the strongest and the weakest of two; alone it has the path's own.
export function tintsOf(role, colours) {
  if (colours.length === 1) return { [colours[0][0]]: `var(--pl-${role})` };
  const apart = colours.length === 2 ? 2 : 1;
  return Object.fromEntries(colours.map(([stage], i) => [stage, `color-mix(in srgb, var(--pl-${role}-ink) ${SHARES[Math.min(2, i * apart)]}, var(--pl-panel))`]));
}
