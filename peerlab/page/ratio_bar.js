// The bar beside a range: once as fast, the range, what was simulated, and the times of both paths below their marks. What would be if
// another assumption held, *How sure* shows.
import { make } from "./dom.js";
import { sayTimes } from "./words.js";

const ROOM = 1.25; // around 1 and what was simulated: for the range, which follows
const APART = 40; // percent of the bar between marks whose names stand at its ends; nearer ones have them side by side
const SLOWER = 0.995; // less reads as slower

// `past`: the reader is on the faster path, so that what was simulated is where he is.
export function ratioBar({ value, low, high, times: [staged, direct] }, past) {
  const all = [1, value, low ?? value, high ?? value], from = Math.min(Math.min(1, value) / ROOM, ...all), to = Math.max(2, ROOM * value, ...all);
  const at = (ratio) => (100 * (ratio - from)) / (to - from), bar = make("div", "pl-bar");
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
  // The line first: the circle lies on it, and it is longer, so that both are seen where they meet.
  put("pl-bar-mark", past ? 1 : value, past ? "through host: 1×" : `${sayTimes(value)} as simulated`);
  put(`pl-bar-here ${past ? (value < SLOWER ? "pl-bar-slower" : "pl-bar-past") : ""}`, past ? value : 1, past ? `${sayTimes(value)} as simulated: you are here` : "1×: you are here");
  bar.append(names({ value, at, staged, direct, past }));
  bar.setAttribute("role", "img");
  bar.setAttribute("aria-label", `${sayTimes(value)} simulated, on a scale from ${sayTimes(from)} to ${sayTimes(to)}; ${past ? "you are there" : "you are at 1×"}`);
  return bar;
}

// The names of both marks in the order of these, each with its time: where the marks are apart at these, or at the ends of a bar that is short.
function names({ value, at, staged, direct, past }) {
  const row = make("div", "pl-bar-names"), middle = (at(1) + at(value)) / 2;
  const host = make("span", past ? "" : "pl-bar-you", past ? "host" : "you"), other = make("span", past ? "pl-bar-you" : "", `${past ? "you" : "then"} ${direct}`);
  host.append(make("span", "pl-bar-once", " 1×,"), ` ${staged}`);
  row.append(...(value < SLOWER ? [other, host] : [host, other]));
  host.style.setProperty("--at", `${at(1).toFixed(0)}%`);
  other.style.setProperty("--at", `${at(value).toFixed(0)}%`);
  if (Math.abs(at(value) - at(1)) >= APART) row.classList.add("pl-bar-apart");
  else Object.assign(row.style, { left: `${middle.toFixed(0)}%`, right: "auto", transform: `translateX(-${middle.toFixed(0)}%)` });
  return row;
}
