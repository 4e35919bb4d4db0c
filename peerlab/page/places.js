// Where words may stand in a picture: boxes {left, top, right, bottom} that are clear of lines and of each other.
const pen = document.createElement("canvas").getContext("2d");
let pageFont = ""; // the page's font, asked for once: each time the browser would work out all styles that have changed since

// How wide words are in the page's letters of this size.
export function widthOf(words, size, bold = false) {
  pageFont ||= getComputedStyle(document.body).fontFamily;
  pen.font = `${bold ? 650 : 400} ${size}px ${pageFont}`;
  return pen.measureText(words).width;
}

// The first of several places whose box is within the picture, on no line and on no other box; without one the last. A line is {points, thick}.
export function freePlace(places, { width, height }, lines, boxes) {
  const inside = ({ left, top, right, bottom }) => left >= 0 && top >= 0 && right <= width && bottom <= height;
  const clear = (box) => inside(box) && !boxes.some((other) => meet(box, other)) && !lines.some((line) => touches(box, line));
  return places.find(({ box }) => clear(box)) ?? places.at(-1);
}

// Whether two boxes lie on each other.
export function meet(a, b) {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}

// Whether a broken line touches a box.
function touches({ left, top, right, bottom }, { points, thick }) {
  const wide = { left: left - thick / 2, right: right + thick / 2, top: top - thick / 2, bottom: bottom + thick / 2 };
  return points.some((point, i) => i > 0 && crosses(wide, points[i - 1], point));
}

// Whether a part of a line from one point to another lies in a box (after Liang and Barsky).
function crosses({ left, top, right, bottom }, [x, y], [x2, y2]) {
  let from = 0, to = 1;
  for (const [along, room] of [[x - x2, x - left], [x2 - x, right - x], [y - y2, y - top], [y2 - y, bottom - y]])
    if (along === 0 && room < 0) return false;
    else if (along < 0) from = Math.max(from, room / along);
    else if (along > 0) to = Math.min(to, room / along);
  return from <= to;
}
