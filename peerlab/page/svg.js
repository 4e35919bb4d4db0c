// Shapes of a drawing in SVG.
export function svgShape(tag, attributes, host) {
  const shape = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) shape.setAttribute(name, value);
  host?.append(shape);
  return shape;
}

// Words of a drawing.
export function svgText(words, attributes, host) {
  const shape = svgShape("text", attributes, host);
  shape.textContent = words;
  return shape;
}
