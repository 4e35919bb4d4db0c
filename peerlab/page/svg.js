// Shapes of a drawing in SVG.
export function svgShape(tag, attributes, host) {
  const one = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) one.setAttribute(name, value);
  host?.append(one);
  return one;
}
