// The bar beside a range: once as fast, the range, what was simulated, and the times of both paths below their marks. What would be if
// another assumption held, *How sure* shows.
import { make } from "./dom.js";
import { widthOf } from "./places.js";
import { sayTimes } from "./words.js";

const ROOM = { below: 1.2, above: 1.35, end: 1.04 }; // times around 1 and what was simulated, for the range, which follows, and around its ends
const BAR_LETTERS = 12; // px of the names' letters
export const SAME = 0.005; // ratios that are nearer to 1 read as 1.00
const SIGN = { knob: 12, line: 7 }; // px before a name: the sign of its mark, where that is not above its own name

// `past`: the reader is on the faster path, so that what was simulated is where he is.
// `point`: words above the bar, in the middle of what they say.
export function ratioBar({ value, low, high, without, times: [staged, direct] }, past, point) {
  const from = Math.min(Math.min(1, value) / ROOM.below, (low ?? value) / ROOM.end), to = Math.max(ROOM.above * Math.max(1, value), ROOM.end * (high ?? value));
  const at = (ratio) => (100 * (ratio - from)) / (to - from), bar = make("div", "pl-ratio-bar"), both = Math.abs(value - 1) < SAME;
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
  put(`pl-bar-here ${past ? (value < 1 - SAME ? "pl-bar-slower" : "pl-bar-past") : ""}`, past ? value : 1, past ? `${simulated}: you are here` : "1×: you are here");
  if (!both) put("pl-bar-mark", past ? 1 : value, past ? "through host: 1×" : simulated);
  point.style.setProperty("--at", `${at(value).toFixed(1)}%`);
  point.style.setProperty("--wide", `${Math.ceil(widthOf(point.textContent, BAR_LETTERS))}px`);
  bar.append(names({ value, at, staged, direct, both, past, without }));
  bar.setAttribute("role", "img");
  bar.setAttribute("aria-label", `${sayTimes(value)} simulated, on a scale from ${sayTimes(from)} to ${sayTimes(to)}; ${past ? "you are there" : "you are at 1×"}`);
  return bar;
}

// The times of both paths in one name: the unit once, and a time that both have once.
function timesOfBoth(staged, direct, past, here) {
  if (staged === direct) return `both ${direct}`;
  const [[amount, unit], last] = [staged, direct].map((time) => time.split(" ")), [host, other] = !here ? ["host", "direct"] : past ? ["host", "you"] : ["you", "then"];
  return `${host} ${unit === last[1] ? amount : staged}, ${other} ${direct}`;
}

// The names of both marks in the order of these, each with its time and below the middle of its mark, or as near to that as both and the bar's ends let it; where they lie on each other, one name.
// Where a mark is not above its own name, both have a sign: page.css says where.
function names({ value, at, staged, direct, both, past, without }) {
  const row = make("div", "pl-bar-names"), slower = value < 1 - SAME, once = " 1×,", here = !without, framed = document.documentElement.hasAttribute("data-framed");
  const name = (own, words, knob) => {
    const span = make("span", own && here ? "pl-bar-you" : "");
    span.append(...words);
    const kinds = knob ? ["pl-bar-sign-here", ...(past ? [slower ? "pl-bar-sign-slower" : "pl-bar-sign-past"] : [])] : [], sign = framed ? null : make("i", ["pl-bar-sign", ...kinds].join(" "));
    return { span, sign, wide: Math.ceil(widthOf(span.textContent, BAR_LETTERS, own && here)), less: 0, before: framed ? 0 : knob ? SIGN.knob : SIGN.line };
  };
  // on a slide the player has the time
  const marks = [];
  if (both) marks.push({ ...name(true, [framed ? "both 1×" : timesOfBoth(staged, direct, past, here)], true), place: at(value) }, { place: 100, wide: 0, less: 0, before: 0 });
  else {
    const host = past || !here ? "host" : "you", other = !here ? "direct" : past ? "you" : "then";
    marks.push({ ...name(!past, framed ? [`${host} 1×`] : [host, make("span", "pl-bar-once", once), ` ${staged}`], !past), place: at(1), less: framed ? 0 : widthOf(once, BAR_LETTERS, !past && here) });
    marks.push({ ...name(past, [framed ? `simulated ${sayTimes(value)}` : `${other} ${direct}`], past), place: at(value) });
    if (slower) marks.reverse();
  }
  marks.forEach(({ span, sign, place, wide, less, before }, i) => {
    row.append(...[sign, span].filter(Boolean));
    row.style.setProperty(`--at-${i}`, `${place.toFixed(1)}%`);
    row.style.setProperty(`--long-${i}`, `${wide}px`);
    row.style.setProperty(`--short-${i}`, `${Math.ceil(wide - less)}px`);
    row.style.setProperty(`--before-${i}`, before);
  });
  return row;
}
