// The bar beside a range: once as fast, the range, what was simulated, and the times of both paths below their marks. What would be if
// another assumption held, *How sure* shows.
import { make } from "./dom.js";
import { widthOf } from "./places.js";
import { sayTimes } from "./words.js";

const ROOM = 1.25; // around 1 and what was simulated: for the range, which follows
const LETTERS = 12; // px of the names' letters
const SLOWER = 0.995; // less reads as slower
const SIGN = { knob: 12, line: 7 }; // px before a name: the sign of its mark, which may be further than its name is wide

// `past`: the reader is on the faster path, so that what was simulated is where he is.
// `point`: words above the bar, in the middle of what they say.
export function ratioBar({ value, low, high, without, times: [staged, direct] }, past, point) {
  const all = [1, value, low ?? value, high ?? value], from = Math.min(Math.min(1, value) / ROOM, ...all), to = Math.max(2, ROOM * value, ...all);
  const at = (ratio) => (100 * (ratio - from)) / (to - from), bar = make("div", "pl-ratio-bar");
  const put = (className, ratio, title = "") => {
    const mark = bar.appendChild(make("i", className));
    mark.style.left = `${at(ratio).toFixed(2)}%`;
    mark.title = title;
    return mark;
  };
  if (low !== null) {
    const range = put("pl-bar-range", low), slower = Math.max(0, Math.min(1, (1 - low) / (high - low || 1))); // its part below 1
    range.style.right = `calc(100% - ${at(high).toFixed(2)}%)`;
    range.style.setProperty("--slower", `${(100 * slower).toFixed(2)}%`);
  }
  // The circle first: the line lies on it, so that both are seen where they meet.
  const simulated = `${sayTimes(value)} ${without ? `without ${without}` : "as simulated"}`;
  put(`pl-bar-here ${past ? (value < SLOWER ? "pl-bar-slower" : "pl-bar-past") : ""}`, past ? value : 1, past ? `${simulated}: you are here` : "1×: you are here");
  put("pl-bar-mark", past ? 1 : value, past ? "through host: 1×" : simulated);
  const middle = value < SLOWER && low !== null ? (low + high) / 2 : value; // there it is the range that is said
  point.style.setProperty("--at", `${at(middle).toFixed(1)}%`);
  point.style.setProperty("--wide", `${Math.ceil(widthOf(point.textContent, LETTERS))}px`);
  bar.append(names({ value, at, staged, direct, past, without }));
  bar.setAttribute("role", "img");
  bar.setAttribute("aria-label", `${sayTimes(value)} simulated, on a scale from ${sayTimes(from)} to ${sayTimes(to)}; ${past ? "you are there" : "you are at 1×"}`);
  return bar;
}

// The names of both marks in the order of these, each with its time and below the middle of its mark, or as near to that as both and the bar's ends let it.
function names({ value, at, staged, direct, past, without }) {
  const row = make("div", "pl-bar-names"), slower = value < SLOWER, once = " 1×,";
  const here = !without, host = make("span", past || !here ? "" : "pl-bar-you", past || !here ? "host" : "you"), other = make("span", past && here ? "pl-bar-you" : "");
  const framed = document.documentElement.hasAttribute("data-framed"), [knob, line] = past ? [other, host] : [host, other];
  if (!framed) knob.classList.add("pl-bar-sign", "pl-bar-sign-here", ...(past ? [slower ? "pl-bar-sign-slower" : "pl-bar-sign-past"] : [])), line.classList.add("pl-bar-sign");
  if (framed) {
    // on a slide the player has the time
    host.append(" 1×");
    other.append(`simulated ${sayTimes(value)}`);
  } else {
    host.append(make("span", "pl-bar-once", once), ` ${staged}`);
    other.append(`${!here ? "direct" : past ? "you" : "then"} ${direct}`);
  }
  const wide = (name) => Math.ceil(widthOf(name.textContent, LETTERS, name.classList.contains("pl-bar-you"))) + (framed ? 0 : name === knob ? SIGN.knob : SIGN.line);
  const both = [{ name: host, place: at(1), wide: wide(host), without: widthOf(once, LETTERS, !past && here) }, { name: other, place: at(value), wide: wide(other), without: 0 }];
  if (slower) both.reverse();
  both.forEach(({ name, place, wide, without }, i) => {
    row.append(name);
    row.style.setProperty(`--at-${i}`, `${place.toFixed(1)}%`);
    row.style.setProperty(`--long-${i}`, `${wide}px`);
    row.style.setProperty(`--short-${i}`, `${Math.ceil(wide - without)}px`);
  });
  return row;
}
