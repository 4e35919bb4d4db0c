// The bar beside a range: where the reader is, the range, and what was simulated. What would be if another assumption held, *How sure* shows.
import { make } from "./dom.js";
import { sayTimes } from "./words.js";

const ROOM = 1.25; // around 1 and what was simulated: for the range, which follows
const APART = 40; // percent of the bar from 1 to a mark that both have words
const ONE_MARK = 4; // percent: nearer marks lie on each other, and the reader's is enough

// `past`: the reader is on the faster path, so that what was simulated is where he is.
export function ratioBar({ value, low, high }, past) {
  const all = [1, value, low ?? value, high ?? value], from = Math.min(Math.min(1, value) / ROOM, ...all), to = Math.max(2, ROOM * value, ...all);
  const at = (ratio) => (100 * (ratio - from)) / (to - from), bar = make("div", "pl-bar");
  const put = (className, ratio, title = "") => {
    const mark = bar.appendChild(make("i", className));
    mark.style.left = `${at(ratio).toFixed(2)}%`;
    mark.title = title;
    return mark;
  };
  // Words below the bar: two stand at its ends, one alone below its mark.
  const name = (text, className, place) => {
    const word = bar.appendChild(make("i", `pl-bar-name ${className}`, text));
    Object.assign(word.style, { left: `${place}%`, transform: `translateX(-${place}%)` });
  };
  if (low !== null) {
    const range = put("pl-bar-range", low), slower = Math.max(0, Math.min(1, (1 - low) / (high - low || 1))); // its part below 1
    range.style.right = `calc(100% - ${at(high).toFixed(2)}%)`;
    range.style.setProperty("--slower", `${(100 * slower).toFixed(2)}%`);
  }
  const seen = Math.abs(at(value) - at(1)) > ONE_MARK;
  if (past || seen) put(past ? "pl-bar-here pl-bar-past" : "pl-bar-mark", value, `${sayTimes(value)}, simulated`);
  if (!past || seen) put(past ? "pl-bar-mark" : "pl-bar-here", 1, past ? "through host" : "you are here");
  const two = at(value) - at(1) >= APART;
  if (two) name(past ? "host 1×" : "you 1×", past ? "" : "pl-bar-you", 0);
  name(`${past ? "you" : "simulated"} ${sayTimes(value)}`, past ? "pl-bar-you" : "", two ? 100 : at(value).toFixed(0));
  bar.setAttribute("role", "img");
  bar.setAttribute("aria-label", `${sayTimes(value)} simulated, on a scale from ${sayTimes(from)} to ${sayTimes(to)}; ${past ? "you are there" : "you are at 1×"}`);
  return bar;
}
