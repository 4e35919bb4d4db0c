// Figures as bars in a table.
import { make } from "./dom.js";

// A bar and beside it its figure.
export function measure(bar, figure) {
  const both = make("div", "np-measure");
  both.append(bar, make("span", "", figure));
  return both;
}

// A figure as a bar, and on it a mark: the same alone. Both are shares of its room; none: -1.
export function barOf(bar, tick = -1) {
  const room = make("span", "np-bar"), part = room.appendChild(make("i", ""));
  part.style.width = `${Math.min(100, 100 * bar)}%`;
  part.classList.toggle("np-broken", bar > 1); // it goes on beyond its room
  if (tick >= 0) room.appendChild(make("s", "")).style.left = `${100 * tick}%`;
  return room;
}
