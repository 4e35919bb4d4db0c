// The bar beside a range: once as fast, the range, what was simulated. Above the track stands the time at once as fast, below it what was simulated,
// each at its own mark. What would be if another assumption held, *How sure* shows.
import { make } from "./dom.js";
import { widthOf } from "./places.js";
import { sayTimes } from "./words.js";

const ROOM = { below: 1.6, both: 1.28, above: 1.35, end: 1.04 }; // times around 1 and what was simulated, for their names, or that of both, and around the range's ends
const LETTERS = 12; // px of the names
const SAME = 0.005; // ratios that are nearer to 1 read as 1.00
const USUAL = { once: 20, simulated: 60 }; // %: where the marks are about, while they are computed

// `past`: the reader is on the faster path, so that what was simulated is where he is.
export function ratioBar({ value, low, high, without, times: [staged, direct] }, past) {
  const both = Math.abs(value - 1) < SAME;
  const from = Math.min(Math.min(1, value) / (both ? ROOM.both : ROOM.below), (low ?? value) / ROOM.end), to = Math.max(ROOM.above * Math.max(1, value), ROOM.end * (high ?? value));
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
  put(`pl-bar-here ${past ? (isSlower(value) ? "pl-bar-slower" : "pl-bar-past") : ""}`, past ? value : 1, past ? `${simulated}: you are here` : "1×: you are here");
  if (!both) put(`pl-bar-mark ${past ? "" : "pl-bar-below"}`, past ? 1 : value, past ? "through host: 1×" : simulated);
  bar.append(...names({ value, at, staged, direct, both, past, without, simulated }));
  bar.setAttribute("role", "img");
  bar.setAttribute("aria-label", `${simulated}, on a scale from ${sayTimes(from)} to ${sayTimes(to)}; ${past ? "you are there" : "you are at 1×"}`);
  return bar;
}

// The bar while the other path's time is computed: the time of this one, about where it will stand.
export function awaitedBar(time, past) {
  const bar = make("div", "pl-ratio-bar");
  bar.append(name(`you ${time}`, { own: true, below: past, at: past ? USUAL.simulated : USUAL.once }));
  return bar;
}

// Whether a ratio reads as less than once as fast.
export function isSlower(ratio) {
  return ratio < 1 - SAME;
}

// A name's middle is at its mark, or as near to that as the bar's ends let it.
function name(words, { own, below, at, title = "" }) {
  const span = make("span", ["pl-bar-name", ...(below ? ["pl-bar-below"] : []), ...(own ? ["pl-bar-you"] : [])].join(" "), words);
  span.style.setProperty("--at", `${at.toFixed(1)}%`);
  span.style.setProperty("--wide", `${Math.ceil(widthOf(words, LETTERS, own))}px`);
  span.title = title;
  return span;
}

// The times of both paths in one name: the unit once, and a time that both have once.
function timesOfBoth(staged, direct, past, here) {
  if (staged === direct) return `both ${direct}`;
  const [[amount, unit], last] = [staged, direct].map((time) => time.split(" ")), [host, other] = !here ? ["host", "direct"] : past ? ["host", "you"] : ["you", "then"];
  return `${host} ${unit === last[1] ? amount : staged}, ${other} ${direct}`;
}

// The names of both marks; where these lie on each other, one name. On a slide the player has the time.
function names({ value, at, staged, direct, both, past, without, simulated }) {
  const framed = document.documentElement.hasAttribute("data-framed"), here = !without, below = { own: here && (both || past), below: true, at: at(value), title: simulated };
  if (both) return [name(framed ? "both 1×" : timesOfBoth(staged, direct, past, here), below)];
  const own = here && !past, other = without ? `without ${without}` : past ? "you" : "then";
  return [
    name(`${own ? "you" : "host"} ${framed ? "1×" : staged}`, { own, below: false, at: at(1) }),
    name(framed ? `simulated ${sayTimes(value)}` : `${other} ${direct}, ${sayTimes(value)}`, below),
  ];
}
